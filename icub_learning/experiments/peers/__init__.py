"""Learners of inverse dynamics and observers of contacts that others published, beside those of this package."""
