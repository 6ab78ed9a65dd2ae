"""Tensor kernels: sparse regression with l_p regularization, and the selection of channels by it."""
