"""Lifelong robot learning at a fixed cost per sample: inverse dynamics, objects, and the kernel methods behind them."""

__version__ = "0.1.0"
