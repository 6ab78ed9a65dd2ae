"""What people look at: a page in a browser that shows running nodes or a recording, and calls the nodes' services."""
