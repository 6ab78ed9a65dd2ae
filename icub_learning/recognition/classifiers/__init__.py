"""Classifiers that take examples and classes as they come, and the confidence in their labels."""
