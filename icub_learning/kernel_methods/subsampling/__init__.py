"""Methods on Nyström centres: choice of centres, direct solutions, early stopping, FALKON."""
