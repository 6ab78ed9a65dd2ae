"""Experiments of the paper on tensor kernels, one module each."""
