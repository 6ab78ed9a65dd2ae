"""Naming objects after few views, saying what is unknown, and a class that arrives after the others."""
