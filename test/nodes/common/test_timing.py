"""Statistics of a stream against plain NumPy, and the verdict that its limits give."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from icub_learning.nodes.common import timing
from icub_learning.nodes.common.timing import CycleStatistics, DurationWindow, in_words, verdict

NEVER = {"latency_warn": 0.0, "latency_error": 0.0, "jitter_warn": 0.0, "jitter_error": 0.0}


def test_a_window_holds_the_newest():
    window = DurationWindow(10)
    assert window.summary() == "none yet"
    for k in range(25):
        window.add(k * 1e-3)
    assert sorted(window.values()) == pytest.approx(np.arange(15, 25) * 1e-3)
    assert window.summary() == "p50 19.500 ms, p99 23.910 ms, max 24.000 ms"


@pytest.fixture
def statistics(monkeypatch):
    """100 arrivals every 10 ms, one of them 4 ms late; all but one published after 1 ms, done after 3 ms."""
    now = [100.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: now[0])
    statistics = CycleStatistics()
    for k in range(100):
        arrival = 100 + 0.01 * k + (0.004 if k == 50 else 0.0)
        now[0] = arrival + 0.001
        if k == 70:
            statistics.arrived(arrival)
            continue
        statistics.published(arrival, 0.0025)
        now[0] = arrival + 0.003
        statistics.end()
    return statistics


def test_periods_latencies_and_execution_are_those_of_the_clock(statistics, monkeypatch):
    periods = np.full(99, 0.01)
    periods[49], periods[50] = 0.014, 0.006
    assert statistics.period.values() == pytest.approx(periods)
    assert statistics.jitter() == pytest.approx(np.abs(periods - 0.01)) and len(statistics.latency.values()) == 99
    assert statistics.latency.values() == pytest.approx(0.001) and statistics.age.values() == pytest.approx(0.0025)
    assert statistics.execution.values() == pytest.approx(0.003)
    assert in_words(statistics.times()["execution"]) == "p50 3.000 ms, p99 3.000 ms, max 3.000 ms"
    said = "each message takes 3.0 ms of the 10.0 ms to the next: answers come ever later"
    for enough, full, found in ((99, 0.29, (DiagnosticStatus.ERROR, said)), (100, 0.29, None), (99, 0.31, None)):
        monkeypatch.setattr(timing, "ENOUGH", enough)
        monkeypatch.setattr(timing, "FULL", full)
        assert statistics.overload() == found


@pytest.mark.parametrize("limits, level, words", [
    ({}, DiagnosticStatus.OK, ""), ({"latency_warn": 0.0009}, DiagnosticStatus.WARN, "latency_warn = 0.9 ms"),
    ({"latency_warn": 0.0011}, DiagnosticStatus.OK, ""),
    ({"latency_warn": 0.0009, "latency_error": 0.0009}, DiagnosticStatus.ERROR, "latency_error"),
    ({"jitter_warn": 0.003}, DiagnosticStatus.WARN, "jitter p99 4.000 ms"),
    ({"jitter_error": 0.005}, DiagnosticStatus.OK, ""),
])  # fmt: skip
def test_the_99th_percentile_is_judged_by_the_limits(statistics, limits, level, words):
    found = verdict(statistics.times(), NEVER | limits)
    assert found[0] == level and words in found[1]
    times = {timing.PERIOD: (5e-3,) * 3, timing.LATENCY: (1e-3, 2e-3, 9e-3), timing.JITTER: (0.0, 2.4e-3, 9e-3)}
    late = times | {timing.JITTER: (0.0, 2.6e-3, 9e-3)}
    assert verdict(times, NEVER | {"latency_warn": 3e-3}, True)[1] == verdict(late, NEVER)[1] == ""
    assert "jitter p99 2.6 ms of a period of 5.0 ms" in verdict(late, NEVER, True)[1]


def test_before_the_first_message_all_is_well():
    found = verdict(CycleStatistics().times(), {**NEVER, "latency_error": 1e-9, "jitter_error": 1e-9}, True)
    assert found == (DiagnosticStatus.OK, "")
