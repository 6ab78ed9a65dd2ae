"""Shipped defaults face robots for which nothing was chosen: all of the zoo, and the real recordings at hand."""

import numpy as np
import pytest

from benchmarks.any_robot import LIMITS, MEAN_LIMIT, broken_bounds, judge_recording, judge_zoo, row
from icub_learning.dynamics.settings import Settings
from icub_learning.evaluation.judgement import geometric_mean
from icub_learning.evaluation.metrics import nmse
from icub_learning.evaluation.off_line import identify_off_line
from icub_learning.evaluation.predict_then_learn import compare
from icub_learning.experiments.peers.cases import REAL, real_recording
from icub_learning.simulation.zoo import ZOO

RELATIVE_TO_OFF_LINE: dict[str, float] = {}  # by recording, of those that were judged


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ZOO, *REAL])
def test_robots_of_the_zoo_and_real_recordings(name):
    if name in ZOO:
        figures = row(name, "zoo", judge_zoo(name))
    elif case := real_recording(name):
        figures = row(name, "real", judge_recording(*case))
    else:
        pytest.skip(f"{name} is not among the recordings here")
    RELATIVE_TO_OFF_LINE[name] = figures["SP/off-line"]
    assert not broken_bounds(figures), figures


@pytest.mark.slow
def test_better_than_off_line_identification_over_all():
    if not RELATIVE_TO_OFF_LINE:
        pytest.skip("no recording was judged before, in this process")
    mean = geometric_mean(np.array(list(RELATIVE_TO_OFF_LINE.values())))
    assert mean <= MEAN_LIMIT, RELATIVE_TO_OFF_LINE


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur10_currents_125hz", "icub_wrench_100hz"])
def test_what_was_learned_on_one_trajectory_predicts_another(name):
    """With learning off, SP is no worse than off-line least squares on the same two recordings."""
    first, second = (ZOO[name].record(60.0, seed) for seed in (0, 1))
    settings = Settings(**first.settings)
    learned = compare(first.recording, settings, test=second.recording)["SP"]
    off_line = identify_off_line(first.recording, settings, (0.0, 1.0)).nmse(second.recording, (0.0, 1.0))
    own = nmse(learned.errors, learned.measured)
    assert learned.n_learned == 0
    assert geometric_mean(own / off_line) <= 1.0


def test_a_robot_of_the_zoo_in_15_seconds():
    """The bounds that hold even before the choice among the parts has settled; the others are for 60 s."""
    figures = judge_zoo("ur10_currents_125hz", quick=True).figures()
    assert figures["SP"] < 0.1
    assert all(figures[key] <= LIMITS[key] for key in ("worst SP/min(P,NP)", "SP/off-line", "smoothness"))
