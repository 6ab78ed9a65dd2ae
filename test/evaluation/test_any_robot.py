"""The default settings on robots for which nothing was tuned: the whole zoo, and the real recordings at hand."""

import pytest

from benchmarks import any_robot
from icub_learning.dynamics.settings import Settings
from icub_learning.evaluation.judgement import geometric_mean, judge
from icub_learning.evaluation.off_line import identify_off_line
from icub_learning.evaluation.predict_then_learn import compare
from icub_learning.simulation.zoo import ZOO


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_robots_of_the_zoo_and_real_recordings():
    rows = any_robot.run(quick=False).rows
    assert {figures["recording"]: broken for figures in rows if (broken := any_robot.broken_bounds(figures))} == {}
    assert geometric_mean([figures["SP/off-line"] for figures in rows]) <= any_robot.MEAN_LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur10_currents_125hz", "icub_wrench_100hz"])
def test_what_was_learned_on_one_trajectory_predicts_another(name):
    """With learning off, SP is no worse than off-line least squares on the same two recordings."""
    first, second = (ZOO[name].record(60.0, seed) for seed in (0, 1))
    settings = Settings(**first.settings)
    learned = compare(first.recording, settings, test=second.recording)
    off_line = identify_off_line(first.recording, settings, (0.0, 1.0))
    judged = judge(learned, off_line.nmse(second.recording, (0.0, 1.0)), 0.0, 1 / off_line.bandwidth_hz)
    assert learned["SP"].n_learned == 0 and judged.figures()["SP/off-line"] <= 1.0


def test_a_robot_of_the_zoo_in_15_seconds():
    """Check the bounds that hold before the choice among the parts has settled; the other bounds need 60 s."""
    figures = any_robot.row("", "", *any_robot.judge_zoo("ur10_currents_125hz", quick=True))
    assert figures["SP"] < 0.1
    assert all(figures[key] <= any_robot.LIMITS[key] for key in ("worst SP/min(P,NP)", "SP/off-line", "smoothness"))
