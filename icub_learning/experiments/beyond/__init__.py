"""Trials of what the sources leave open, each with its gain or its failure."""
