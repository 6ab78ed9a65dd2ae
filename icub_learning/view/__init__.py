"""A page in a browser that shows running nodes or a recording, and calls the nodes' services."""

STATUS = "status.txt"  # file in the output folder of a program, in which it tells the page what it is doing
