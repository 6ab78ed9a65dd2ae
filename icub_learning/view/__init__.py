"""What people look at: a page in a browser that shows running nodes or a recording, and calls the nodes' services."""

STATUS = "status.txt"  # file, in its output folder, in which a program tells the page what it is doing
