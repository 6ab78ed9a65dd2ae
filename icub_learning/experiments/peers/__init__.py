"""Published learners of inverse dynamics and observers of contacts, beside those of this package."""
