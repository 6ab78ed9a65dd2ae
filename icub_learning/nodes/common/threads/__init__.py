"""Threads of a node: their cores and priority, and one for work that is not urgent."""
