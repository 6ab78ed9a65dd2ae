"""A sensor's offset that was set at once: taken off measurements before they are learned, put back on predictions."""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite, vector
from icub_learning.dynamics.estimators.prediction import Prediction, Predictor
from icub_learning.dynamics.regressors.regressor import Regressor, offset_indices
from icub_learning.errors import StateError
from icub_learning.models import check_version, reading_state

ENTRY, FORMAT = "tare", "format"  # of a saved state; earlier releases have neither
PredictorT = TypeVar("PredictorT", bound=Predictor)


class Tare:
    """The offset (n_outputs,) of all measurements and predictions of an estimator; zero at first.

    Everything learned stays consistent, whatever it is made of: the estimator inside sees measurements of a sensor
    whose offset has not changed.
    """

    def __init__(self, n_outputs: int, value: Array | None = None) -> None:
        self.value = np.zeros(n_outputs) if value is None else value

    def add(self, change: ArrayLike) -> None:
        """Add to the offset. Raises ShapeError, NotFiniteError: unchanged then."""
        self.value = self.value + vector("change", change, len(self.value))

    def removed(self, y: ArrayLike) -> Array:
        """Return a measurement as the estimator inside is to learn it. Raises ShapeError, NotFiniteError."""
        return vector("y", y, len(self.value)) - self.value

    def shifted(self, made: Prediction, rigid: bool) -> Prediction:
        """Return the prediction of the measurement from one of what is learned inside.

        The offset is added to the parametric part if there are rigid bodies, else to the residual.
        """
        return _shifted(made, self.value, rigid) if self.value.any() else made

    def predictor(self, inner: PredictorT, regressor: Regressor | None = None) -> "PredictorT | TaredPredictor":
        """Return a predictor of the measurements from one of what is learned inside; a regressor for rigid bodies."""
        return TaredPredictor(inner, self.value, regressor) if self.value.any() else inner

    def state(self) -> dict[str, Array]:
        """Return the offset as entries of a saved state."""
        return {ENTRY: self.value.copy(), FORMAT: np.asarray(2)}

    @classmethod
    def from_state(cls, state: dict[str, Any], n_outputs: int) -> "Tare":
        """Rebuild from the state of an estimator; zero for one of an earlier release. Raises StateError."""
        if not {ENTRY, FORMAT} & state.keys():  # of an earlier release
            return cls(n_outputs)
        with reading_state("an estimator"):
            check_version(state, 2, FORMAT)
            value = finite(ENTRY, state[ENTRY])
        if value.shape != (n_outputs,):
            raise StateError(f"saved tare has shape {value.shape}, expected ({n_outputs},)", name=ENTRY)
        return cls(n_outputs, value)


@dataclass(frozen=True)
class TaredPredictor:
    """A predictor whose outputs are offset.

    Attributes:
        inner: the predictor of what is learned.
        tare: (n_outputs,).
        regressor: regressor of the robot; its offset columns show the tare in `parameters`. None without rigid bodies.
    """

    inner: Predictor
    tare: Array
    regressor: Regressor | None

    @property
    def parameters(self) -> Array | None:
        """(n_parameters,) with the tare in the offsets of the sensor; None without rigid bodies."""
        if self.regressor is None:
            return None
        shifted: Array = self.inner.parameters.copy()  # type: ignore[attr-defined]
        shifted[list(offset_indices(self.regressor))] += self.tare[: len(offset_indices(self.regressor))]
        return shifted

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        return _shifted(self.inner.predict(q, v, a), self.tare, self.regressor is not None)


def _shifted(made: Prediction, tare: Array, rigid: bool) -> Prediction:
    parametric = made.parametric + tare if rigid else made.parametric
    residual = made.residual if rigid else made.residual + tare
    result = Prediction(made.total + tare, parametric, residual, lambda: made.variance, made.noise, tare)
    result.handed_over = made.handed_over
    return result
