"""Evaluation of learners on recordings, and the choice of their settings."""
