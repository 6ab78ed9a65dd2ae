"""Judging learners on recordings."""
