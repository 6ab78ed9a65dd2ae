"""What the sources name as open, tried: each with its gain or its failure."""
