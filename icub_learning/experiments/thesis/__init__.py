"""Experiments of R. Camoriano's thesis, one module each."""
