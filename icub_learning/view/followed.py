"""How a program that leads nodes says on the page what it is doing: a file in a folder of its own."""

STATUS = "status.txt"
