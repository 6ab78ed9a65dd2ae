"""Classification by recursive least squares, sample by sample, with classes that come at any time."""

from collections.abc import Hashable

from icub_learning.arrays import real
from icub_learning.streaming.bases import Classifier
from icub_learning.streaming.named_least_squares import NamedLeastSquares, Sample


class RLSClassifier(Classifier):
    """Regularized least squares on targets 0 and 1, with scores recoded by how rare a class is (thesis 7.5).

    The same as `icub_learning.recognition.IncrementalClassifier`, for dictionaries: the score of class t is
    (x W)_t (k / gamma_t)^recoding with gamma_t samples of the class among k. A class with three samples is not drowned
    by one with a thousand.

    Args:
        recoding: from 0 (plain least squares) to 1 (full).
        regularization, intercept, max_features: see RLSRegressor.

    Raises:
        ParameterError: an argument is outside its range.
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
