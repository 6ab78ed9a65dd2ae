"""The protocol of thesis 8.4.3 on the simulated arm: learn circles in one plane, then continue in another."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from icub_learning.arrays import Array, integer
from icub_learning.dynamics import assembly
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import ParameterError
from icub_learning.evaluation.metrics import mean_rmse, windowed_mean_rmse
from icub_learning.evaluation.predict_then_learn import ESTIMATORS, evaluate
from icub_learning.experiments.options import progress
from icub_learning.experiments.thesis.change_of_task.thesis_method import ThesisMethod
from icub_learning.recording.recording import Recording
from icub_learning.reporting.wrench_errors import GROUPS, WINDOW
from icub_learning.simulation import SimulationSettings, simulate
from icub_learning.simulation.arm.effects import Encoders

PLANES = ("circle_xy", "circle_xz")  # first plane, learned from zero; second plane, learned after it
VELOCITY_DELAY = Encoders.DELAY  # delay of the simulated encoders' velocities [s], which learners are given
RATE = 200  # rate of the joint states [Hz], from which derivatives are estimated
SAMPLE_RATE = 10  # rate of the wrenches [Hz]; each is one sample to learn
STATES_PER_SAMPLE = RATE // SAMPLE_RATE
N_PARTS = 10  # parts of the second plane; each starts from what was learned in the first
THESIS = "SP of the thesis"  # short name of the thesis' semiparametric method, see ThesisMethod
STEADY = 2 / 3  # share of the samples before the steady state

AnyLearner = assembly.AnyEstimator | ThesisMethod


def record(plane: str, n_samples: int, seed: int = 0) -> Recording:
    """Simulate a plane: states at RATE, a wrench amid each sample's states. Raises ParameterError, SimulationError."""
    seconds = integer("n_samples", n_samples, 1) / SAMPLE_RATE
    recording = simulate([(plane, seconds)], RATE, SimulationSettings(seed=seed))
    assert recording.wrench is not None and recording.wrench_arrivals is not None  # a simulation has both
    # Wrenches lie amid their states, so that derivatives have states on both sides, also at both ends of a part.
    measured = slice(STATES_PER_SAMPLE // 2, None, STATES_PER_SAMPLE)
    return replace(recording, **_rows(recording, ("wrench_stamps", "wrench_arrivals", "wrench"), measured))


def cut(recording: Recording, n_parts: int = N_PARTS) -> list[Recording]:
    """Cut a recording made by `record` into equal parts. Raises ParameterError: n_parts does not divide the samples."""
    assert recording.velocity is not None and recording.wrench is not None  # `record` made it
    n_samples = len(recording.wrench_stamps)
    if n_samples % integer("n_parts", n_parts, 1):
        raise ParameterError("samples", n_samples, f"a multiple of {n_parts}")
    parts = []
    for first, last in pairwise(range(0, n_samples + 1, n_samples // n_parts)):
        states, wrenches = slice(first * STATES_PER_SAMPLE, last * STATES_PER_SAMPLE), slice(first, last)
        own = _rows(recording, ("joint_stamps", "position", "velocity"), states)
        own |= _rows(recording, ("wrench_stamps", "wrench"), wrenches)
        parts.append(Recording(recording.joint_names, wrench_frame=recording.wrench_frame, **own))
    return parts


def _rows(recording: Recording, names: tuple[str, ...], rows: slice) -> dict[str, Any]:
    return {name: getattr(recording, name)[rows] for name in names}


@dataclass(frozen=True)
class Outcome:
    """The errors of one estimator; RMSE of "force" and "torque" are means over the three axes, as in thesis 8.4.3."""

    first: Array  # errors (n_samples, 6) in the first plane, learned from zero [N, N m]
    # errors (n_parts, n, 6) in the second plane [N, N m]; each part started from what was learned in the first
    parts: Array

    def curves(self, group: str) -> Array:
        """Return the RMSE of "force" or "torque" over the last WINDOW samples, (n_parts, n), as in fig. 8.4."""
        return np.stack([windowed_mean_rmse(errors[:, GROUPS[group]], WINDOW) for errors in self.parts])

    def rmse(self, group: str) -> dict[str, float]:
        """Return the RMSE of "force" or "torque" in the steady state of the first plane, over WINDOW samples after the
        change of plane, and in the steady state of a part; the last two are means over the parts."""
        axes = GROUPS[group]

        def of_parts(samples: slice) -> float:
            return float(np.mean([mean_rmse(errors[samples, axes]) for errors in self.parts]))

        return {
            "first plane, steady": float(mean_rmse(self.first[round(STEADY * len(self.first)) :, axes])),
            "first 30": of_parts(slice(WINDOW)), "steady": of_parts(slice(round(STEADY * self.parts.shape[1]), None)),
        }  # fmt: skip


def learn_and_transfer(
    planes: Mapping[str, Recording], settings: Settings,
    make: Callable[[Settings, assembly.AnyRegressor], AnyLearner] = assembly.make_estimator,
) -> Outcome:  # fmt: skip
    """Learn the first plane from zero; from there predict, then learn, the samples of each part of the second plane.
    `planes` has a recording made by `record` for each plane; joint states and wrenches go through the node's stream."""
    regressor = assembly.make_regressor(settings)

    def errors(learner: AnyLearner, recording: Recording) -> Array:
        return evaluate(assembly.make_stream(settings, regressor, learner), recording.events()).errors

    learner = make(settings, regressor)
    first, second = (planes[plane] for plane in PLANES)
    of_first = errors(learner, first)
    of_parts = [errors(deepcopy(learner, {id(regressor): regressor}), part) for part in cut(second)]
    return Outcome(of_first, np.stack(of_parts))


def compare(planes: Mapping[str, Recording], settings: Settings) -> dict[str, Outcome]:
    """Run P, NP, SP and the thesis' SP on the same planes; return outcomes by the names of ESTIMATORS, and THESIS."""
    outcomes = {
        short: learn_and_transfer(planes, replace(settings, estimator=estimator))
        for short, estimator in progress(ESTIMATORS.items(), "estimators")
    }
    as_published = replace(settings, sensor_offset=False, watch="never")  # the sensor has no offset here
    thesis = learn_and_transfer(planes, as_published, lambda _, bodies: ThesisMethod(bodies, seed=settings.seed))
    return outcomes | {THESIS: thesis}
