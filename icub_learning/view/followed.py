"""The file, in its output folder, in which a program tells the page what it is doing."""

STATUS = "status.txt"
