"""Inverse dynamics after a change of task (thesis, chapter 8)."""
