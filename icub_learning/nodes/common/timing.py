"""Regularity and latency of a stream of messages: windows of durations, and their summary for diagnostics."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus

from icub_learning.settings import setting

LIMIT: dict[str, Any] = {"unit": "s", "low": 0.0, "live": True}
PERCENTILES = (50, 99, 100)


@dataclass(frozen=True)
class TimingLimits:
    """Limits on latency and jitter beyond which diagnostics warn or report an error."""

    latency_warn: float = setting(
        0.005, "99th percentile of the latency from arrival to publication to warn of; 0: never", **LIMIT
    )
    latency_error: float = setting(0.05, "99th percentile of the latency that is an error; 0: never", **LIMIT)
    jitter_warn: float = setting(
        0.0, "99th percentile of the arrivals' deviation from their median period to warn of; 0: never", **LIMIT
    )
    jitter_error: float = setting(0.0, "99th percentile of that deviation that is an error; 0: never", **LIMIT)


class DurationWindow:
    """The last `size` durations in seconds, kept without allocation."""

    def __init__(self, size: int = 2000) -> None:
        self._values = np.zeros(size)
        self._count = 0

    def add(self, seconds: float) -> None:
        """Add one duration [s]."""
        self._values[self._count % len(self._values)] = seconds
        self._count += 1

    def values(self) -> np.ndarray:
        """Return a copy of the durations in the window, in no order."""
        return self._values[: self._count].copy()

    def summary(self) -> str:
        """Return median, 99th percentile and maximum of the window in milliseconds, in words."""
        return summary(self.values())


class CycleStatistics:
    """Period, jitter, latency and execution time of a stream whose messages are answered at once.

    Call `published` when a message has been answered, or `arrived` if it is not answered; and `end` when all work for
    it is done.
    """

    def __init__(self) -> None:
        self.period = DurationWindow()  # between arrivals
        self.latency = DurationWindow()  # from arrival to publication
        self.age = DurationWindow()  # from the message's stamp to publication, by the node's clock
        self.execution = DurationWindow()  # of all work for a message, after publication too
        self._arrival = 0.0  # of the last message

    def arrived(self, arrival: float) -> None:
        """Note a message that arrived at `arrival` [s, time.perf_counter()] and is not answered."""
        if self._arrival:
            self.period.add(arrival - self._arrival)
        self._arrival = arrival

    def published(self, arrival: float, age: float) -> None:
        """Note that the message of `arrival` [s, time.perf_counter()] was answered `age` seconds after its stamp."""
        self.arrived(arrival)
        self.latency.add(time.perf_counter() - arrival)
        self.age.add(age)

    def end(self) -> None:
        """Note that all work for the last message is done."""
        self.execution.add(time.perf_counter() - self._arrival)

    def jitter(self) -> np.ndarray:
        """Return the deviation of each period from the median [s]."""
        periods = self.period.values()
        return np.abs(periods - np.median(periods)) if len(periods) else periods

    def pairs(self) -> dict[str, str]:
        """Return the values that diagnostics show."""
        return {
            "period": self.period.summary(),
            "jitter, off the median period": summary(self.jitter()),
            "latency, arrival to publication": self.latency.summary(),
            "latency, stamp to publication": self.age.summary(),
            "execution": self.execution.summary(),
        }

    def verdict(self, limits: dict[str, float]) -> tuple[bytes, str]:
        """Return level and reason, by the values of TimingLimits; "" if no limit is exceeded."""
        found = {"latency": self.latency.values(), "jitter": self.jitter()}
        for level, name in ((DiagnosticStatus.ERROR, "error"), (DiagnosticStatus.WARN, "warn")):
            for what, values in found.items():
                limit = limits[f"{what}_{name}"]
                p99 = float(np.percentile(values, 99)) if len(values) else 0.0
                if limit and p99 > limit:
                    return level, f"{what} p99 {1e3 * p99:.3f} ms is above {what}_{name} = {1e3 * limit:g} ms"
        return DiagnosticStatus.OK, ""


def summary(values: np.ndarray) -> str:
    """Return median, 99th percentile and maximum of durations [s], in milliseconds, in words."""
    if not len(values):
        return "none yet"
    p50, p99, largest = np.percentile(values, PERCENTILES) * 1e3
    return f"p50 {p50:.3f} ms, p99 {p99:.3f} ms, max {largest:.3f} ms"
