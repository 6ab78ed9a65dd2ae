"""Rigid bodies and learners on random features as experts, and their on-line aggregate."""
