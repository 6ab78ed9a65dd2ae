"""The pace of a simulation against the wall clock."""

import pytest

from icub_learning.nodes.pacing import Pacer


def test_regular_ticks_give_one_sample_each() -> None:
    pacer = Pacer(0.005, 1.0, now=10.0)
    assert [pacer.due(10.0 + 0.005 * tick + 1e-4) for tick in range(1, 1001)] == [1] * 1000
    assert pacer.late == 0
    assert pacer.given_up == 0.0
    assert pacer.largest_delay == pytest.approx(1e-4, abs=1e-6)
    assert pacer.reached(10.0 + 5.0) == pytest.approx(1.0)


def test_late_ticks_are_made_up_for_without_drift() -> None:
    pacer = Pacer(0.005, 1.0, now=0.0)
    total, now = 0, 0.0
    for delay in (0.005, 0.012, 0.005, 0.09, 0.0001, 0.005, 0.0049):
        now += delay
        total += pacer.due(now)
    assert total == int(now / 0.005)
    assert pacer.late == 1 + 17  # of the two slow ticks
    assert 0.08 < pacer.largest_delay < 0.09


def test_factor_scales_time() -> None:
    pacer = Pacer(0.005, 4.0, now=0.0)
    assert sum(pacer.due(0.00125 * tick) for tick in range(1, 801)) == 800
    assert pacer.reached(1.0) == pytest.approx(4.0)


def test_long_pause_is_skipped_and_said() -> None:
    pacer = Pacer(0.005, 1.0, now=0.0)
    assert pacer.due(10.0) == 100  # no more than half a second
    assert pacer.given_up == pytest.approx(9.5)
    assert pacer.due(10.001) == 0
    assert pacer.due(10.0051) == 1
    assert pacer.reached(10.01) < 0.1
