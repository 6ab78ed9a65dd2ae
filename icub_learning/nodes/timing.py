"""How long things took lately: a window of durations and what diagnostics say of it."""

import numpy as np


class DurationWindow:
    """The last `size` durations in seconds, kept without allocation."""

    def __init__(self, size: int = 2000) -> None:
        self._values = np.zeros(size)
        self._count = 0

    def add(self, seconds: float) -> None:
        """Take one duration in."""
        self._values[self._count % len(self._values)] = seconds
        self._count += 1

    def summary(self) -> str:
        """Median, 99th percentile and largest of the window in milliseconds, in words."""
        if not self._count:
            return "none yet"
        p50, p99, largest = np.percentile(self._values[: self._count], (50, 99, 100)) * 1e3
        return f"p50 {p50:.3f} ms, p99 {p99:.3f} ms, max {largest:.3f} ms"
