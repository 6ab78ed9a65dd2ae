"""Keeps a simulation in step with the wall clock: counts the samples that are due, and measures the pace."""

import math


class Pacer:
    """Counts the samples that are due at an instant, without drift: late ones are made up for, a few at a time.

    Subscribers queue only a few samples: a burst of all late samples would overflow the queues of nodes that keep up.
    `period` is in simulated seconds, `factor` simulated seconds per second, `now` the wall time at the start [s].
    """

    MAX_BURST = 2  # samples at once: late ones are made up for at twice the pace
    MAX_BACKLOG = 0.5  # [s] of wall time that is made up for; the rest of a longer pause is skipped

    def __init__(self, period: float, factor: float, now: float) -> None:
        self._period = period / factor  # [s] of wall time per sample
        self._simulated_period, self._start = period, now
        self._done = 0
        self.late = 0  # number of samples that were more than one period late
        self.given_up = 0.0  # simulated time that was skipped because more than MAX_BACKLOG was due [s]
        self.largest_delay = 0.0  # longest delay of a sample [s]
        self._report_time, self._report_total = now, 0
        self._total = 0

    def due(self, now: float) -> int:
        """Return how many samples are due at `now` [s]; the caller must then make them."""
        elapsed = now - self._start - self._done * self._period
        if (count := math.floor(elapsed / self._period + 1e-6)) <= 0:
            return 0
        self.largest_delay = max(self.largest_delay, elapsed - self._period)
        most = max(1, math.floor(self.MAX_BACKLOG / self._period))
        if count > most:
            self.given_up += (count - most) * self._simulated_period
            self._start = now - most * self._period
            self._done, count = 0, most
        burst = min(count, self.MAX_BURST)
        self.late += min(burst, count - 1)
        self._done += burst
        self._total += burst
        return burst

    def reached(self, now: float) -> float:
        """Return the simulated seconds per second since the last call."""
        samples, seconds = self._total - self._report_total, now - self._report_time
        self._report_time, self._report_total = now, self._total
        return samples * self._simulated_period / seconds if seconds > 0 else 0.0
