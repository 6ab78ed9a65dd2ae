"""The pace of a simulation against the wall clock."""

import pytest

from icub_learning.nodes.icub_simulation.pacing import Pacer


def test_regular_ticks_give_one_sample_each() -> None:
    pacer = Pacer(0.005, 1.0, now=10.0)
    assert [pacer.due(10.0 + 0.005 * tick + 1e-4) for tick in range(1, 1001)] == [1] * 1000 and pacer.late == 0
    assert pacer.given_up == 0.0 and pacer.largest_delay == pytest.approx(1e-4, abs=1e-6)
    assert pacer.reached(10.0 + 5.0) == pytest.approx(1.0)


def test_late_samples_are_made_up_for_a_few_at_a_time() -> None:
    pacer = Pacer(0.005, 1.0, now=0.0)
    assert pacer.due(0.0051) == 1
    given = [pacer.due(0.1001 + 0.005 * tick) for tick in range(30)]  # after a pause of 19 periods, ticks as usual
    assert given == [2] * 18 + [1] * 12
    assert 1 + sum(given) == int((0.1001 + 0.005 * 29) / 0.005)  # no sample is missing
    assert pacer.late == 2 * 18 - 1  # all that were made up for, except the newest
    assert pacer.largest_delay == pytest.approx(0.1001 - 2 * 0.005) and pacer.given_up == 0.0


def test_factor_scales_time() -> None:
    pacer = Pacer(0.005, 4.0, now=0.0)
    assert sum(pacer.due(0.00125 * tick) for tick in range(1, 801)) == 800 and pacer.reached(1.0) == pytest.approx(4.0)


def test_long_pause_is_skipped_and_said() -> None:
    pacer = Pacer(0.005, 1.0, now=0.0)
    made_up = [pacer.due(10.0001 + 0.00005 * tick) for tick in range(60)]
    assert sum(made_up) == 100  # samples of half a second, and no more
    assert max(made_up) == 2 and pacer.given_up == pytest.approx(9.5)
    assert pacer.due(10.00499) == 0 and pacer.due(10.0052) == 1 and pacer.reached(10.01) < 0.1
