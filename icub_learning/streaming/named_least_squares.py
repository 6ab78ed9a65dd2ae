"""Recursive least squares whose inputs and outputs have names, and become more when new names come."""

from collections.abc import Hashable, Mapping
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from icub_learning.arrays import Array, integer
from icub_learning.errors import ParameterError, SampleError
from icub_learning.recursive import RecursiveLeastSquares
from icub_learning.recursive.growth import grown

try:  # the base classes of river's estimators, where it is installed
    from river.base import Classifier, MultiTargetRegressor, Regressor
except ModuleNotFoundError:
    Classifier = MultiTargetRegressor = Regressor = object

__all__ = ["Classifier", "KeptByState", "MultiTargetRegressor", "NamedLeastSquares", "Regressor", "Sample", "numbers"]

Sample = Mapping[Hashable, Any]


class KeptByState:
    """Pickles and copies the state of `_learner`: arrays in place of compiled memory."""

    _learner: RecursiveLeastSquares

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_learner": self._learner.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _learner=RecursiveLeastSquares.from_state(state["_learner"]))


class NamedLeastSquares(KeptByState):
    """Least squares on dictionaries: a name that is missing in a sample is 0 there; arguments as of RLSRegressor.

    A new name adds an input, or an output, as if it had been 0 in all samples before. That is exact, and costs O(d^2)
    once; a sample without new names costs O(d^2 + d T), as in RecursiveLeastSquares. Raises ParameterError.
    """

    def __init__(self, regularization: float, forgetting: float, intercept: bool, max_features: int) -> None:
        self._max_features = integer("max_features", max_features, 1)
        self._regularization = float(regularization)
        # An input of its own holds the place of the intercept; without one it stays 0.
        self._constant = 1.0 if intercept else 0.0
        self._learner = RecursiveLeastSquares(1, 1, self._regularization, forgetting)
        self.inputs: dict[Hashable, int] = {}
        self.outputs: dict[Hashable, int] = {}

    @property
    def weights(self) -> Array:
        """The weights (1 + inputs, outputs); the first row is the intercept's."""
        return self._learner.weights

    def learn(self, x: Sample, y: Sample) -> None:
        """Learn one sample, or nothing. Raises SampleError for what is no finite number, ParameterError: too many names."""
        values, targets = numbers("x", x), numbers("y", y)
        inputs = _with_new(self.inputs, values)
        if len(inputs) > self._max_features:
            raise ParameterError("features", len(inputs), f"at most max_features = {self._max_features}")
        outputs = _with_new(self.outputs, targets)
        if len(inputs) > len(self.inputs) or len(outputs) > max(len(self.outputs), 1):
            size = 1 + len(inputs), max(len(outputs), 1)
            self._learner = grown(self._learner, *size, self._regularization)
        self.inputs, self.outputs = inputs, outputs
        target = np.zeros(max(len(outputs), 1))
        for name, value in targets.items():
            target[outputs[name]] = value
        self._learner.update(self._row(values), target)

    def predict(self, x: Sample) -> dict[Hashable, float]:
        """Return the prediction of each output; names that were never learned count nothing. Raises SampleError."""
        predicted = self._learner.predict(self._row(numbers("x", x)))
        return {name: float(predicted[index]) for name, index in self.outputs.items()}

    def leverage(self, x: Sample) -> float:
        """Return the predictive variance over that of the noise; see RecursiveLeastSquares.leverage."""
        return float(self._learner.leverage(self._row(numbers("x", x))))

    def _row(self, values: Mapping[Hashable, float]) -> Array:
        row = np.zeros(self._learner.n_features)
        row[0] = self._constant
        for name, value in values.items():
            if (index := self.inputs.get(name)) is not None:
                row[1 + index] = value
        return row


def numbers(what: str, sample: Sample) -> dict[Hashable, float]:
    """Return a sample with floats for values. Raises SampleError for a value that is no finite number."""
    found = {}
    for name, value in sample.items():
        if not isinstance(value, (Real, np.bool_)) or not isfinite(float(value)):
            advice = "numbers are needed; river's OneHotEncoder makes them of words, StatImputer of what is missing"
            raise SampleError("not_a_number", f"{what}[{name!r}] is {value!r}: {advice}", name=what, value=value)
        found[name] = float(value)
    return found


def _with_new(known: dict[Hashable, int], names: Mapping[Hashable, float]) -> dict[Hashable, int]:
    """Return the places of known names and, behind them, of new ones in the order of their spelling."""
    new = sorted((name for name in names if name not in known), key=repr)
    return {**known, **{name: len(known) + place for place, name in enumerate(new)}} if new else known
