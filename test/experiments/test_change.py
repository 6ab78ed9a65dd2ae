"""The experiments on changes: they compare what they describe, and notice a model that knows nothing."""

import numpy as np
import pytest

from icub_learning.experiments.change import consistency, experiment, wear
from icub_learning.experiments.figures import gathered


def judged(part, *found):
    """Return for each expectation whether all seeds meet it."""
    return [good for _, _, expected, good in experiment.PARTS[part][1](gathered(found)) if expected]


def test_a_model_that_knows_nothing_is_not_called_good():
    found = {f"{model}, {load:g} kg": 0.1 for model in ("none", "nominal", "learned") for load in (0.0, 0.5)}
    assert judged("control", {"feed-forward": found}) == [False, False]
    found |= {"learned, 0 kg": 0.01, "learned, 0.5 kg": 0.05}
    assert judged("control", {"feed-forward": found}) == [True, True]
    assert judged("control", {"feed-forward": found | {"nominal, 0 kg": 0.01}}) == [False, True]


def test_excitations_are_noisy_wrenches_of_rigid_bodies_and_friction_grows_by_half(monkeypatch):
    """What weighted least squares leaves of the wrenches is noise of 0.6 N, and in proportion for torques."""
    told, learn = [], consistency.ParametricEstimator.learn
    monkeypatch.setattr(consistency.ParametricEstimator, "learn", lambda *given: told.append(given) or learn(*given))
    monkeypatch.setattr(consistency, "MOST_SAMPLES", 200)
    found = consistency.random_excitations(3, 1)
    rows, y = map(np.concatenate, list(zip(*told, strict=True))[1:])
    scale = np.tile(np.repeat([0.6, 0.0144], 3), len(told))
    rest = (y - rows @ np.linalg.lstsq(rows / scale[:, None], y / scale)[0]) / scale
    assert len(told) > 100 and rest.std() == pytest.approx(1.0, abs=0.1) and found["consistent as published"] == 1
    robot, made = wear.ZOO[wear.WORN], wear.ZOO[wear.WORN].record(2.0, 0)
    more, v, drives = wear.worn_recording(robot, made).effort - made.recording.effort, made.velocity, robot.drives
    friction = np.tanh(v / drives.breakaway) * drives.coulomb + v * drives.viscous
    np.testing.assert_allclose(more * drives.gain, np.linspace(0.0, 0.5, len(v))[:, None] * friction, atol=1e-9)


LOAD = {"mass": 0.5, "seen_after": 0.3, "found_mass": 0.46, "mass_deviation": 0.02, "error_after_grasp": 1.2,
        "error_after_drop": 1.2}  # fmt: skip
# Figures of each part of the experiment that just meet its expectations.
JUST = {
    "loads": {"force error before [N]": 1.0, "of each": 10, "loads told": 9, "pushes told": 10,
              "heavy": LOAD | {"centre_error": 0.015},
              "light": LOAD | {"seen_after": 1.0, "found_mass": 0.4702, "mass_deviation": 0.015},
              "push": {"seen after": 0.05, "gone after": 0.1, "parameters moved by": 1.0}},
    "forces": {"hand": {"5 N": {"told": 1.0, "samples near enough": 0.9}}},
    "quiet": {"false alarms": 0, "ratio": 1.02},
    "friction": {"robot": "ur10", "automatic": {"last minute over first": 1.1},
                 "none forgotten": {"last minute over first": 3.0}},
    "consistency": {"excitations": 5, "consistent as learned": 3, "consistent as published": 5,
                    "share of a core": 0.05},
}  # fmt: skip
JUDGED = {"loads": 15, "forces": 1, "quiet": 2, "friction": 1, "consistency": 2}
NOT_JUDGED = ("none forgotten", "robot", "mass", "excitations", "of each", "told", "consistent as learned",
              "force error before [N]")  # fmt: skip
MORE_IS_BETTER = ("found_mass", "mass_deviation", "loads told", "pushes told", "consistent as published",
                  "samples near enough")  # fmt: skip


def worsened(found):
    """Yield copies of a table of figures, each with one judged figure made a little worse."""
    for name, value in found.items():
        if name not in NOT_JUDGED and isinstance(value, dict):
            yield from (found | {name: worse} for worse in worsened(value))
        elif name not in NOT_JUDGED:
            step = 1e-3 if isinstance(value, float) else 1
            yield found | {name: value - step if name in MORE_IS_BETTER else value + step}


@pytest.mark.parametrize("part", JUST)
def test_what_is_just_within_its_bounds_is_reached_and_nothing_beyond(part):
    assert judged(part, JUST[part]) == [True] * JUDGED[part]
    for worse in worsened(JUST[part]):
        assert not all(judged(part, JUST[part], worse)), worse
