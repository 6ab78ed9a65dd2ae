"""Regularity and latency of a stream of messages: windows of durations, and their summary for diagnostics."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus

from icub_learning.settings import setting

LIMIT: dict[str, Any] = {"unit": "s", "low": 0.0, "live": True}  # of all four limits: 0 switches a limit off
PERCENTILES = (50, 99, 100)  # percentiles of durations that are reported [%]
ENOUGH = 200  # messages after which overload is judged: what start-up takes no longer counts
FULL = 0.9  # share of the time spent on messages beyond which they come to wait for each other
MOST_HELD_UP = 0.5  # jitter, in periods, beyond which times of arrival tell neither velocities nor accelerations
# names in diagnostics
PERIOD, LATENCY, JITTER = "period", "latency, arrival to publication", "jitter, off the median period"


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
        self._values, self._count = np.zeros(size), 0

    def add(self, seconds: float) -> None:
        self._values[self._count % len(self._values)] = seconds
        self._count += 1

    def values(self) -> np.ndarray:
        """Return a copy of the durations in the window, in no order."""
        return self._values[: self._count].copy()

    def summary(self) -> str:
        """Return median, 99th percentile and maximum of the window in milliseconds, in words."""
        return in_words(percentiles(self.values()))


class CycleStatistics:
    """Period, jitter, latency and execution time of a stream whose messages are answered at once, or not at all."""

    def __init__(self) -> None:
        self.period = DurationWindow()  # time between two arrivals
        self.latency = DurationWindow()  # time from arrival to publication
        self.age = DurationWindow()  # time from the message's stamp to publication, by the node's clock
        self.execution = DurationWindow()  # time of all work for a message, including that after publication
        self._arrival = 0.0  # arrival of the last message [s, time.perf_counter()]; 0 before the first

    def arrived(self, arrival: float) -> None:
        """Note a message that arrived at `arrival` [s, time.perf_counter()] and is not answered."""
        if self._arrival:
            self.period.add(arrival - self._arrival)
        self._arrival = arrival

    def published(self, arrival: float, age: float | None) -> None:
        """Note that the message of `arrival` [s, time.perf_counter()] was answered `age` seconds after its stamp, None
        where the node's clock does not run yet."""
        self.arrived(arrival)
        self.latency.add(time.perf_counter() - arrival)
        if age is not None:
            self.age.add(age)

    def end(self) -> None:
        self.execution.add(time.perf_counter() - self._arrival)

    def overload(self) -> tuple[bytes, str] | None:
        """Return an error for diagnostics if work leaves no time between messages, whose queue latency leaves out."""
        periods, times = self.period.values(), self.execution.values()
        if len(times) < ENOUGH or times.mean() < FULL * periods.mean():
            return None
        taken = f"{1e3 * times.mean():.1f} ms of the {1e3 * periods.mean():.1f} ms to the next"
        return DiagnosticStatus.ERROR, f"each message takes {taken}: answers come ever later"

    def jitter(self) -> np.ndarray:
        periods = self.period.values()
        return np.abs(periods - percentiles(periods)[0]) if len(periods) else periods

    def times(self) -> dict[str, tuple[float, ...]]:
        """Return the percentiles of each window as they are now, by their names in diagnostics."""
        windows = {PERIOD: self.period.values(), JITTER: self.jitter(), LATENCY: self.latency.values()}
        windows |= {"latency, stamp to publication": self.age.values(), "execution": self.execution.values()}
        return {name: percentiles(durations) for name, durations in windows.items()}


def verdict(
    times: dict[str, tuple[float, ...]], limits: dict[str, float], by_arrival: bool = False
) -> tuple[bytes, str]:
    """Return level and reason for CycleStatistics.times, by the values of TimingLimits and, where messages are stamped
    `by_arrival`, by MOST_HELD_UP; "" if no limit is exceeded."""
    for level, name in ((DiagnosticStatus.ERROR, "error"), (DiagnosticStatus.WARN, "warn")):
        for what, found in (("latency", times[LATENCY]), ("jitter", times[JITTER])):
            limit = limits[f"{what}_{name}"]
            if found and limit and found[1] > limit:
                return level, f"{what} p99 {1e3 * found[1]:.3f} ms is above {what}_{name} = {1e3 * limit:g} ms"
    if by_arrival and times[JITTER] and (jitter := times[JITTER][1]) > MOST_HELD_UP * (period := times[PERIOD][0]):
        text = f"jitter p99 {1e3 * jitter:.1f} ms of a period of {1e3 * period:.1f} ms spoils stamps by arrival"
        return DiagnosticStatus.WARN, f"{text}: stamp_source: header, if the driver's stamps are good"
    return DiagnosticStatus.OK, ""


def percentiles(values: np.ndarray) -> tuple[float, ...]:
    """Return median, 99th percentile and maximum of durations (n,); () without any."""
    if not len(values):
        return ()
    ordered = np.sort(values)  # np.percentile takes five times as long, while joint states wait
    places = [0.01 * share * (len(ordered) - 1) for share in PERCENTILES]
    return tuple(np.interp(places, np.arange(len(ordered)), ordered).tolist())


def in_words(times: tuple[float, ...]) -> str:
    """Return median, 99th percentile and maximum [s] in milliseconds, in words; "none yet" for ()."""
    if not times:
        return "none yet"
    p50, p99, largest = (1e3 * one for one in times)
    return f"p50 {p50:.3f} ms, p99 {p99:.3f} ms, max {largest:.3f} ms"
