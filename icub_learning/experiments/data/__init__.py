"""Data sets of the experiments: where they are found, how they are fetched and read."""
