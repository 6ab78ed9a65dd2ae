"""Benchmarks of cost and accuracy, beside the alternatives that a user could choose: `python -m benchmarks`."""
