"""Experiments of the paper on POLK, one module each."""
