"""The node that finds objects in images and is taught new ones."""
