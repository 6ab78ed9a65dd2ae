"""Linear regression and classification by recursive least squares, sample by sample."""

from collections.abc import Hashable

from icub_learning.arrays import real
from icub_learning.streaming.named_least_squares import (
    Classifier,
    MultiTargetRegressor,
    NamedLeastSquares,
    Regressor,
    Sample,
)

TARGET = "target"


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
        """Learn that the features `x` came with `y`. Raises SampleError for what is no finite number."""
        self._model.learn(x, {TARGET: y})

    def predict_one(self, x: Sample) -> float:
        """Return the prediction, 0 before the first sample. Raises SampleError."""
        return self._model.predict(x).get(TARGET, 0.0)

    def leverage_one(self, x: Sample) -> float:
        """Return the predictive variance for `x` over that of the noise: small where much was learned."""
        return self._model.leverage(x)

    @property
    def weights(self) -> dict[Hashable, float]:
        """The weight of each feature, without the intercept."""
        weights = self._model.weights[1:, 0]
        return {name: float(weights[index]) for name, index in self._model.inputs.items()}


class RLSMultiTargetRegressor(_LinearRegression, MultiTargetRegressor):
    """Linear regression of several targets that share one factor: more targets cost hardly more.

    A target that comes later than others counts as 0 in the samples before. Arguments and errors as of RLSRegressor.
    """

    def learn_one(self, x: Sample, y: Sample) -> None:
        """Learn that the features `x` came with the targets `y`. Raises SampleError."""
        self._model.learn(x, y)

    def predict_one(self, x: Sample) -> dict[Hashable, float]:
        """Return the prediction of each target that has been learned. Raises SampleError."""
        return self._model.predict(x)


class RLSClassifier(Classifier):
    """Regularized least squares on targets 0 and 1, with scores recoded by how rare a class is (thesis 7.5).

    The same as `icub_learning.recognition.IncrementalClassifier`, for dictionaries: the score of class t is
    (x W)_t (k / gamma_t)^recoding with gamma_t samples of the class among k. A class with three samples is not
    drowned by one with a thousand.

    `recoding` is from 0 (plain least squares) to 1 (full); other arguments and errors as of RLSRegressor.
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
        return True  # asked by river

    def learn_one(self, x: Sample, y: Hashable) -> None:
        """Learn that the features `x` are of class `y`. Raises SampleError for a feature that is no finite number."""
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
        """Return the share of each class in all positive scores: their order is right, they are not calibrated."""
        positive = {name: max(score, 0.0) for name, score in self.scores_one(x).items()}
        total = sum(positive.values())
        return {name: share / total if total else 1.0 / len(positive) for name, share in positive.items()}
