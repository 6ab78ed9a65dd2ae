"""Decoding of images, and their features from a convolutional network."""
