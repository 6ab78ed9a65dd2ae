"""Judging and choosing learners on recordings: predict, then learn; compare; tune."""
