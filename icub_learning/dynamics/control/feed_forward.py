"""Efforts that a controller adds to its feedback, from what was learned where that is known well."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.monitor import ChangeMonitor
from icub_learning.dynamics.estimators.prediction import Prediction, Predictor
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.dynamics.motion.motion_filter import UNUSUAL
from icub_learning.dynamics.regressors.robot_model import read_urdf

SHARE = 0.02  # of each new variance in the usual one


@dataclass(frozen=True)
class Effort:
    """Efforts of one motion.

    Attributes:
        values: (n_joints,), within the limits.
        deviation: (n_joints,) standard deviations.
        rigid: whether rigid bodies alone were used, because features know too little there.
        limited: whether a limit was reached.
    """

    values: Array
    deviation: Array
    rigid: bool
    limited: bool


class FeedForward:
    """Makes efforts of predictions: rigid bodies alone where the variance is high, and within the limits.

    Args:
        limits: (n_joints,) largest effort of each joint; infinite without.
    """

    def __init__(self, limits: Array) -> None:
        self.limits = limits
        self._usual: Array | None = None

    def follow(self, variance: Array) -> None:
        """Learn what variance (n_joints,) is usual, from a prediction of the motion that the robot makes."""
        if not np.isfinite(variance).all():
            return
        self._usual = variance.copy() if self._usual is None else self._usual + SHARE * (variance - self._usual)

    def effort(
        self, predictor: Predictor, watch: ChangeMonitor | None, motion: Motion, correction: Array | None = None
    ) -> Effort:
        """Return the effort for a motion, with the load where one is carried.

        Args:
            predictor: what has been learned.
            watch: what knows the load, None without.
            motion: wanted positions, velocities and accelerations, or measured ones with the wanted acceleration.
            correction: (n_joints,) further acceleration [rad/s^2] that a feedback asks for (computed torque). Rigid
                bodies alone answer it: features know accelerations of motions, and those of a feedback are others.

        Raises:
            ShapeError, NotFiniteError: the motion does not fit the joints, or is not finite.
        """
        made = self._predict(predictor, watch, motion)
        rigid = self._is_unusual(made)
        wanted = made.parametric if rigid else made.total
        if correction is not None:
            more = motion._replace(acceleration=motion.acceleration + correction)
            wanted = wanted + self._predict(predictor, watch, more).parametric - made.parametric
        values = np.clip(wanted, -self.limits, self.limits)
        return Effort(values, np.sqrt(made.variance), rigid, bool((values != wanted).any()))

    @staticmethod
    def _predict(predictor: Predictor, watch: ChangeMonitor | None, motion: Motion) -> Prediction:
        made = predictor.predict(motion.position, motion.velocity, motion.acceleration)
        return made if watch is None else watch.compensated(made, motion)[0]

    def _is_unusual(self, made: Prediction) -> bool:
        if not made.parametric.any():
            return False  # nothing else to fall back on
        if self._usual is None:
            return True
        return bool((made.variance > UNUSUAL**2 * self._usual).any())


def effort_limits(urdf: str, joints: Sequence[str]) -> Array:
    """Return the limits (n_joints,) of the efforts in a URDF (path or XML text); infinite where it gives none, or 0.

    Raises:
        ModelError: the URDF cannot be read.
    """
    found = {joint.get("name"): joint.find("limit") for joint in read_urdf(urdf).findall("joint")}
    values = []
    for name in joints:
        limit = found.get(name)
        try:
            value = float(limit.get("effort", "0")) if limit is not None else 0.0
        except ValueError:
            value = 0.0
        values.append(value if value > 0.0 else np.inf)
    return np.array(values)
