"""A class that arrives after the others (thesis, chapter 7)."""
