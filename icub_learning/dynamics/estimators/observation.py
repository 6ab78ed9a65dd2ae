"""One sample as the estimators learn it, checked."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from icub_learning.arrays import Array, vector
from icub_learning.dynamics.estimators.prediction import MotionInputs, Prediction, motion_vectors
from icub_learning.dynamics.regressors.regressor import Regressor

USUAL_PERIOD = 0.01  # [s] between samples that come without stamps
LONGEST_PERIOD = 1.0  # [s] a longer pause counts as this long: what was learned before it still holds


def seconds_between(last: int | None, stamp: int | None) -> float:
    """Return the time [s] from one sample to the next, by their stamps [ns]; USUAL_PERIOD where one has none."""
    if last is None or stamp is None:
        return USUAL_PERIOD
    return min(max((stamp - last) * 1e-9, 1e-6), LONGEST_PERIOD)


@dataclass(frozen=True, slots=True)
class Observation:
    """One measurement, and the motion and the prediction that belong to it.

    Attributes:
        motion: position, velocity and acceleration at the instant of the measurement, each (n_joints,).
        known: the same as they were known when the measurement had to be predicted. Parameters of rigid bodies have
            true values, which are estimated best from `motion`; features learn from this, because the best answer to
            inputs with errors is not that to inputs without.
        measured: (n_outputs,), without the tare.
        stamp: time of the measurement [ns]; None where it is not known.
        published: what was predicted for the measurement; None where it is not known.
    """

    motion: tuple[Array, Array, Array]
    known: tuple[Array, Array, Array]
    measured: Array
    stamp: int | None = None
    published: Prediction | None = None

    @classmethod
    def checked(
        cls,
        regressor: Regressor,
        motion: MotionInputs,
        y: ArrayLike,
        known: MotionInputs | None = None,
        stamp: int | None = None,
        published: Prediction | None = None,
    ) -> "Observation":
        """Check the arguments of an estimator's `update`. Raises ShapeError, NotFiniteError."""
        measured = vector("y", y, regressor.n_outputs)
        exact = motion_vectors(regressor.n_joints, *motion)
        return cls(
            exact,
            exact if known is None else motion_vectors(regressor.n_joints, *known),
            measured,
            stamp,
            published,
        )
