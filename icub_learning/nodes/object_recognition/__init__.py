"""The node that recognizes objects and is taught new ones."""
