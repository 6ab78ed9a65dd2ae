"""The node that turns images into features."""
