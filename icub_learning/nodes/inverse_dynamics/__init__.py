"""The node that learns inverse dynamics."""
