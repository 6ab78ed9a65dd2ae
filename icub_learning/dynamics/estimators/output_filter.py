"""The low-pass filters between what a body needs and what its sensors report, learned for each output."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.prediction import Prediction, Predictor
from icub_learning.models import part, reading_state
from icub_learning.recursive.aggregation import ConvexAggregation

TIME_CONSTANTS = (0.0, 0.005, 0.01, 0.02, 0.04, 0.08)  # [s] of the filters that are weighed
FILTERS = "output_filters"  # name of their part in a saved state
HALF_LIFE = 3.0  # [s] in which errors lose half of their weight in the choice of filters


class OutputFilterWeights:
    """Weights of first-order low-pass filters for each output, by the recent errors of what they make of predictions.

    Drives and sensors filter what they report: a current, and the torque computed from it, follows a change of friction
    some hundredths of a second late. Velocities and accelerations that are known without delay are noisy besides. Both
    make a filtered prediction the better one, by how much differs from output to output; so several time constants are
    combined by ConvexAggregation, with its bound: not much worse than the best of them, no filter at all included.

    Args:
        n_outputs: m.
    """

    def __init__(self, n_outputs: int) -> None:
        self._choice = ConvexAggregation(len(TIME_CONSTANTS), n_outputs)
        self._begun = False

    @property
    def value(self) -> Array:
        """(n_filters, n_outputs), columns of sum 1; no filter at all before the first error. A copy."""
        if self._begun:
            weights: Array = self._choice.weights.copy()
            return weights
        unfiltered: Array = np.zeros_like(self._choice.weights)
        unfiltered[0] = 1.0
        return unfiltered

    def update(self, published: Prediction | None, measured: Array, elapsed: float) -> None:
        """Learn from the measurement of one prediction that an OutputFilter made; from any other nothing is learned.

        Args:
            published: what was predicted.
            measured: (n_outputs,).
            elapsed: time since the last measurement [s].
        """
        if published is not None and published.filtered is not None:
            self._choice.update((published.filtered - measured)[None], 0.5 ** (elapsed / HALF_LIFE))
            self._begun = True

    def marked(self, made: Prediction) -> Prediction:
        """Return the prediction after noting on it the weights of now, for an OutputFilter."""
        made.filter_weights = self.value
        return made

    def predictor(self, inner: Predictor) -> "FilteringPredictor":
        """Return a predictor whose predictions carry the weights of now, for an OutputFilter."""
        return FilteringPredictor(inner, self.value)

    def state(self) -> dict[str, Any]:
        """Return all that was learned, as a dict of arrays; see `from_state`."""
        return {**self._choice.state(), "begun": np.asarray(self._begun)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], name: str, n_outputs: int) -> "OutputFilterWeights":
        """Rebuild from the part `name` of a state; as new where an earlier release saved none. Raises StateError."""
        made = cls(n_outputs)
        if not any(key.startswith(name + ".") for key in state):
            return made
        own = part(state, name)
        with reading_state("the weights of output filters"):
            choice = ConvexAggregation.from_state(own)
            if choice.weights.shape != made._choice.weights.shape:
                raise ValueError(f"weights {choice.weights.shape} do not fit {made._choice.weights.shape}")
            made._choice, made._begun = choice, bool(own["begun"])
        return made


class FilteringPredictor:
    """A predictor whose predictions tell with what weights they are to be filtered.

    Args:
        inner: makes the predictions.
        weights: (n_filters, n_outputs).
    """

    def __init__(self, inner: Predictor, weights: Array) -> None:
        self.inner, self.weights = inner, weights

    @property
    def parameters(self) -> Any:
        """Those of the inner predictor; None without rigid bodies."""
        return getattr(self.inner, "parameters", None)

    def predict(self, q: Any, v: Any, a: Any) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        made = self.inner.predict(q, v, a)
        made.filter_weights = self.weights
        return made


class OutputFilter:
    """Filters successive predictions of one stream by the weights that they carry.

    The filter is the exact answer of a low-pass of first order to an input that is constant between two stamps, so that
    irregular stamps need no special care. Parts of a prediction are filtered alike, and add up as before.
    """

    def __init__(self) -> None:
        self._weights: Array | None = None  # the newest, (n_filters, n_outputs)
        self._states: Array | None = None  # (n_filters, 2, n_outputs) of total and parametric part
        self._stamp = 0  # ns

    def report(self) -> dict[str, Array]:
        """Return the mean time constant of each output by the newest weights, for people, by what it is."""
        if self._weights is None:
            return {}
        return {"low-pass filters of outputs [ms]": 1e3 * np.array(TIME_CONSTANTS) @ self._weights}

    def reset(self) -> None:
        """Begin anew with the next prediction."""
        self._states = None

    def follow(self, stamp: int, made: Prediction, measured: Array) -> None:
        """Learn nothing: the weights are learned with the estimator, see OutputFilterWeights."""

    def filtered(self, stamp: int, made: Prediction) -> Prediction:
        """Return the prediction for `stamp` [ns] as the filters leave it; one without weights passes unchanged."""
        if made.filter_weights is None:
            return made
        values = np.array((made.total, made.parametric))
        if self._states is None:
            self._states = np.repeat(values[None], len(TIME_CONSTANTS), axis=0)
        else:
            self._states += _gains((stamp - self._stamp) * 1e-9) * (values - self._states)
        self._stamp = stamp
        self._weights = made.filter_weights
        total, parametric = (made.filter_weights[:, None] * self._states).sum(axis=0)
        result = Prediction(total, parametric, total - parametric, lambda: made.variance, made.noise, made.tare)
        result.filtered, result.handed_over = self._states[:, 0].copy(), made.handed_over
        return result


def _gains(elapsed: float) -> Array:
    """Return the share of a step input that each filter follows in a time [s], (n_filters, 1, 1)."""
    shares = [1.0 if constant == 0.0 else -math.expm1(-elapsed / constant) for constant in TIME_CONSTANTS]
    return np.array(shares)[:, None, None]
