"""Methods on the full kernel matrix: Tikhonov regularization, spectral cut-off, early stopping."""
