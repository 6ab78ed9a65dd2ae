"""Linear regression by recursive least squares, sample by sample, with one target or several."""

from collections.abc import Hashable

from icub_learning.streaming.bases import MultiTargetRegressor, Regressor
from icub_learning.streaming.named_least_squares import NamedLeastSquares, Sample

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
    There is no learning rate to be chosen; a sample costs O(d^2) with d features.

    Args:
        regularization: lambda > 0 of sum (y - w x)^2 + lambda |w|^2, for the intercept too.
        forgetting: in (0, 1]; factor on the weight of all past samples at each new one.
        intercept: whether a constant is learned too.
        max_features: largest number of features.

    Raises:
        ParameterError: an argument is outside its range.
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

    A target that comes later than others counts as 0 in the samples before.

    Args:
        regularization, forgetting, intercept, max_features: see RLSRegressor.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def learn_one(self, x: Sample, y: Sample) -> None:
        """Learn that the features `x` came with the targets `y`. Raises SampleError."""
        self._model.learn(x, y)

    def predict_one(self, x: Sample) -> dict[Hashable, float]:
        """Return the prediction of each target that has been learned. Raises SampleError."""
        return self._model.predict(x)
