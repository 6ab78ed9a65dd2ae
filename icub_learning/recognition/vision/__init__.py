"""From encoded images to features of a convolutional network."""
