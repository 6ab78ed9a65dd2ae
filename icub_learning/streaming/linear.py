"""Linear regression and classification by recursive least squares on named inputs and outputs."""

from collections.abc import Hashable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from icub_learning.arrays import Array, integer, real
from icub_learning.errors import ParameterError, SampleError
from icub_learning.recursive import RecursiveLeastSquares
from icub_learning.recursive.checks import LARGEST_VALUE

try:  # the base classes of river's estimators, where it is installed
    from river.base import Classifier, MultiTargetRegressor, Regressor
except ModuleNotFoundError:
    Classifier = MultiTargetRegressor = Regressor = object

Sample = Mapping[Hashable, Any]
TARGET = "target"


def grown(
    learner: RecursiveLeastSquares, n_features: int, n_outputs: int, regularization: float = 1.0
) -> RecursiveLeastSquares:
    """Return the learner as if it had always had this many inputs and outputs, new ones zero in all past samples.

    New ones come last, inputs with `regularization` > 0; nothing is computed anew: O(d^2 + d T). The learner stays as
    it was. Raises ParameterError: a number is smaller than that of the learner, or the regularization out of its range.
    """
    for name, size in (("n_features", n_features), ("n_outputs", n_outputs)):
        if integer(name, size, 1) < getattr(learner, name):
            raise ParameterError(name, size, f"at least {getattr(learner, name)}, which the learner has")
    more, outputs = n_features - learner.n_features, n_outputs - learner.n_outputs
    state, unit = learner.state(), np.eye(n_features)
    unit[: learner.n_features, : learner.n_features] = state["unit_factor"]
    state["unit_factor"] = unit
    for name in ("regularization", "pivots", "prior"):
        state[name] = np.r_[state[name], np.full(more, regularization)]
    for name in ("weights", "initial_weights"):
        state[name] = np.pad(state[name], ((0, more), (0, outputs)))
    return RecursiveLeastSquares.from_state(state)


class KeptByState:
    """Pickles and copies the state of `_learner`: arrays in place of compiled memory."""

    _learner: RecursiveLeastSquares

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_learner": self._learner.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _learner=RecursiveLeastSquares.from_state(state["_learner"]))


class NamedLeastSquares(KeptByState):
    """Least squares on dictionaries: a name that is missing in a sample is 0 there; arguments as in RLSRegressor.

    A new name adds an input, or an output, as if it had been 0 in all samples before. That is exact (without
    forgetting), and costs O(d^2) once; a sample without new names costs O(d^2 + d T), as in RecursiveLeastSquares.
    Raises ParameterError.
    """

    def __init__(self, regularization: float, forgetting: float, intercept: bool, max_features: int) -> None:
        self._max_features = integer("max_features", max_features, 1)
        # The first input stands for the intercept; without an intercept it stays 0.
        self._constant = 1.0 if intercept else 0.0
        self._learner = RecursiveLeastSquares(1, 1, regularization, forgetting)
        self._regularization = float(self._learner.regularization[0])
        self.inputs: dict[Hashable, int] = {}
        self.outputs: dict[Hashable, int] = {}

    @property
    def weights(self) -> Array:
        """The weights (1 + inputs, outputs); the first row is the intercept's."""
        return self._learner.weights

    def learn(self, x: Sample, y: Sample) -> None:
        """Learn one sample, or raise SampleError: a value is no finite number; or ParameterError: too many names."""
        values, targets = numbers("x", x), numbers("y", y)
        inputs = _with_new(self.inputs, values)
        if len(inputs) > self._max_features:
            raise ParameterError("features", len(inputs), f"at most max_features = {self._max_features}")
        outputs = _with_new(self.outputs, targets)
        if len(inputs) > len(self.inputs) or len(outputs) > max(len(self.outputs), 1):
            self._learner = grown(self._learner, 1 + len(inputs), max(len(outputs), 1), self._regularization)
        self.inputs, self.outputs = inputs, outputs  # nothing refuses the sample any more
        target = np.zeros(max(len(outputs), 1))
        for name, value in targets.items():
            target[outputs[name]] = value
        self._learner.update(self._row(values), target)

    def predict(self, x: Sample) -> dict[Hashable, float]:
        """Return the prediction of each output; names that were never learned are ignored. Raises SampleError."""
        predicted = self._learner.predict(self._row(numbers("x", x)))
        return {name: float(predicted[index]) for name, index in self.outputs.items()}

    def leverage(self, x: Sample) -> float:
        """Return the predictive variance over the noise variance; see RecursiveLeastSquares.leverage."""
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
        if not isinstance(value, (Real, np.bool_)) or not -LARGEST_VALUE <= _plain(value) <= LARGEST_VALUE:
            advice = "numbers are needed; river's OneHotEncoder makes them of words, StatImputer of what is missing"
            raise SampleError("not_a_number", f"{what}[{name!r}] is {value!r}: {advice}", name=what, value=value)
        found[name] = float(value)
    return found


def _plain(value: Any) -> float | int:
    """Return a whole number as it is, another one as a Python float: a float16 of NumPy overflows in comparisons."""
    return value if isinstance(value, int) else float(value)


def _with_new(known: dict[Hashable, int], names: Mapping[Hashable, float]) -> dict[Hashable, int]:
    """Return the indices of known names and, after them, of new names sorted by their spelling."""
    new = sorted((name for name in names if name not in known), key=repr)
    return {**known, **{name: len(known) + place for place, name in enumerate(new)}} if new else known


class _LinearRegression:
    """The arguments that river reads from the signature, and the learner."""

    def __init__(
        self, regularization: float = 1.0, forgetting: float = 1.0, intercept: bool = True, max_features: int = 1000
    ) -> None:
        self.regularization, self.forgetting = regularization, forgetting
        self.intercept, self.max_features = intercept, max_features
        self._model = NamedLeastSquares(regularization, forgetting, intercept, max_features)


class RLSRegressor(_LinearRegression, Regressor):
    """Linear regression that equals ridge regression on all samples so far, after every sample.

    Recursive regularized least squares on a Cholesky factor, see `icub_learning.recursive.RecursiveLeastSquares`.
    There is no learning rate to be chosen; a sample costs O(d^2) with d features. Raises ParameterError.

    Args:
        regularization: lambda > 0 of sum (y - w x)^2 + lambda |w|^2, for the intercept too.
        forgetting: in (0, 1]; factor on the weight of all past samples at each new one.
        intercept: whether a constant is learned too.
        max_features: largest number of features: memory and time grow with its square.
    """

    def learn_one(self, x: Sample, y: float) -> None:
        """Learn one sample, features `x` and target `y`. Raises SampleError for a value that is no finite number."""
        self._model.learn(x, {TARGET: y})

    def predict_one(self, x: Sample) -> float:
        """Return the prediction, 0 before the first sample. Raises SampleError."""
        return self._model.predict(x).get(TARGET, 0.0)

    def leverage_one(self, x: Sample) -> float:
        """Return the predictive variance for `x` over the noise variance: small where much was learned."""
        return self._model.leverage(x)

    @property
    def weights(self) -> dict[Hashable, float]:
        """The weight of each feature, without the intercept."""
        weights = self._model.weights[1:, 0]
        return {name: float(weights[index]) for name, index in self._model.inputs.items()}


class RLSMultiTargetRegressor(_LinearRegression, MultiTargetRegressor):
    """Linear regression of several targets that share one factor: more targets cost hardly more.

    A target that comes later than others counts as 0 in the samples before, and must be in all samples from then on;
    targets that come at other times need an RLSRegressor each. Arguments and errors as in RLSRegressor.
    """

    def learn_one(self, x: Sample, y: Sample) -> None:
        """Learn one sample, features `x` and targets `y`. Raises SampleError, also where `y` lacks a known target."""
        if missing := [name for name in self._model.outputs if name not in y]:
            text = f"y lacks {missing[0]!r}, but must have all known targets; learn one that may be absent apart"
            raise SampleError("target_missing", text, name="y", value=missing, bound="every known target")
        self._model.learn(x, y)

    def predict_one(self, x: Sample) -> dict[Hashable, float]:
        """Return the prediction of each target that has been learned. Raises SampleError."""
        return self._model.predict(x)


class RLSClassifier(Classifier):
    """Regularized least squares on targets 0 and 1, with scores recoded by how rare a class is (thesis 7.5).

    The same as `icub_learning.recognition.IncrementalClassifier`, for dictionaries: the score of class t is
    (x W)_t (k / gamma_t)^recoding with gamma_t samples of the class among k. A class with three samples is not
    drowned by one with a thousand.

    `recoding` is from 0 (plain least squares) to 1 (full); other arguments and errors as in RLSRegressor.
    """

    def __init__(
        self, recoding: float = 0.7, regularization: float = 1.0, intercept: bool = True, max_features: int = 1000
    ) -> None:
        self.recoding = real("recoding", recoding, 0.0, 1.0)
        self.regularization = regularization
        self.intercept, self.max_features = intercept, max_features
        self._model = NamedLeastSquares(regularization, 1.0, intercept, max_features)
        self._counts: dict[Hashable, int] = {}

    @property
    def _multiclass(self) -> bool:
        return True  # queried by river

    def learn_one(self, x: Sample, y: Hashable) -> None:
        """Learn one sample, features `x` of class `y`. Raises SampleError: a feature is not finite, or y is NaN."""
        if y != y:
            raise SampleError("not_finite", "y is NaN, but must be the label of a class", name="y", value=y)
        self._model.learn(x, {y: 1.0})
        self._counts[y] = self._counts.get(y, 0) + 1

    def scores_one(self, x: Sample) -> dict[Hashable, float]:
        """Return the score of each class; the largest one is predicted. Raises SampleError."""
        total = sum(self._counts.values())
        scores = self._model.predict(x)
        return {name: score * (total / self._counts[name]) ** self.recoding for name, score in scores.items()}

    def predict_one(self, x: Sample) -> Hashable | None:
        """Return the class of the largest score, None before the first sample. Raises SampleError."""
        scores = self.scores_one(x)
        return max(scores, key=lambda name: scores[name]) if scores else None

    def predict_proba_one(self, x: Sample) -> dict[Hashable, float]:
        """Return the share of each class in all positive scores: in the right order, but not calibrated."""
        positive = {name: max(score, 0.0) for name, score in self.scores_one(x).items()}
        total = sum(positive.values())
        return {name: share / total if total else 1.0 / len(positive) for name, share in positive.items()}
