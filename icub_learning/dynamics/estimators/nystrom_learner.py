"""Recursive least squares on Nyström features whose centres are samples of the robot's own motion."""

from typing import Any

import numpy as np

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.dynamics.estimators.random_feature_learner import RandomFeatureLearner
from icub_learning.dynamics.estimators.warm_up import WarmUp
from icub_learning.errors import ParameterError, StateError
from icub_learning.features import NystromFeatures
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.models import nested, part, reading_state, scalar
from icub_learning.recursive import RecursiveLeastSquares

SPANNED = 1e-10  # squared distance to the span of the centres at which a sample brings nothing new


class NystromLearner(RandomFeatureLearner):
    """As RandomFeatureLearner, but its features are the kernel's own at centres where the robot has been.

    The first `n_warm_up` samples set the scale of the inputs; of them at most `n_centers` become centres, one after the
    other the one that the centres so far span worst. What the robot did not do during the warm-up, the features cannot
    tell apart: take a long one, of some thousands of samples.

    Args:
        minimum_scale, n_outputs, length_scale, regularization, forgetting, n_warm_up: see RandomFeatureLearner.
        n_centers: most centres.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        minimum_scale: Array,
        n_outputs: int,
        *,
        n_centers: int,
        length_scale: float,
        regularization: float,
        forgetting: float,
        n_warm_up: int,
    ) -> None:
        super().__init__(
            minimum_scale,
            n_outputs,
            n_random_features=2,  # of the place-holder that nothing asks before the centres are known
            length_scale=length_scale,
            regularization=regularization,
            forgetting=forgetting,
            n_warm_up=n_warm_up,
            seed=0,
        )
        self._n_centers = integer("n_centers", n_centers, 1)
        self._length_scale, self._regularization = float(length_scale), float(regularization)
        self._seen = np.zeros((self._warm_up.n_samples, self.n_inputs))
        self._nystrom: NystromFeatures | None = None  # until the warm-up is over

    @property
    def ready(self) -> bool:
        """Whether scale and centres are set, so that it learns and predicts."""
        return self._nystrom is not None

    @property
    def _features(self) -> NystromFeatures:
        assert self._nystrom is not None  # nothing asks before it is ready
        return self._nystrom

    def update(self, x: Array, y: Array) -> None:
        """Learn one sample: x (n_inputs,), y (n_outputs,)."""
        if self.ready:
            super().update(x, y)
            return
        place = self._warm_up.n_seen
        self._warm_up.add(x)
        self._seen[place] = x
        if self._warm_up.done:
            samples = np.array([self._warm_up(one) for one in self._seen])
            self._begin(samples[choose_centers(samples, self._n_centers, self._length_scale)])
            self._seen = np.zeros((0, self.n_inputs))

    def merge(self, other: RandomFeatureLearner) -> None:
        """Pool what another learner saw with the same centres. Raises ParameterError if they differ."""
        if not isinstance(other, NystromLearner) or not self.ready or not other.ready:
            raise ParameterError("other", type(other).__name__, "a NystromLearner, both with their centres")
        if not np.array_equal(self._features.centers, other._features.centers):
            raise ParameterError("centers", "different", "the same in both models: start both from one saved model")
        self._warm_up.check_same(other._warm_up)
        self._rls.merge(other._rls)
        self._certainty = None

    def set_scale(self, mean: Any, scale: Any) -> None:
        """Not for this learner: its warm-up gives the centres too. Raises ParameterError."""
        raise ParameterError("scale", "given", "that of the warm-up, which gives the centres too")

    def state(self) -> dict[str, Array]:
        """All that was learned, as a dict of arrays."""
        return {
            "kind": np.asarray("nystrom"),
            "n_centers": np.asarray(self._n_centers),
            "length_scale": np.asarray(self._length_scale),
            "regularization": np.asarray(self._regularization),
            "centers": self._features.centers.copy() if self.ready else np.zeros((0, self.n_inputs)),
            "seen": self._seen.copy(),
            **self._warm_up.state(),
            **nested("rls", self._rls.state()),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "NystromLearner":
        """Rebuild from `state`. Raises StateError."""
        with reading_state("a Nyström learner"):
            rls = RecursiveLeastSquares.from_state(part(state, "rls"))
            warm_up = WarmUp.from_state(state)
            learner = cls(
                warm_up.minimum_scale,
                rls.n_outputs,
                n_centers=int(scalar(state, "n_centers")),
                length_scale=real("length_scale", scalar(state, "length_scale"), 0.0, low_open=True),
                regularization=real("regularization", scalar(state, "regularization"), 0.0, low_open=True),
                forgetting=rls.forgetting,
                n_warm_up=warm_up.n_samples,
            )
            centers, seen = finite("centers", state["centers"]), finite("seen", state["seen"])
            expected = (0 if warm_up.done else warm_up.n_samples, warm_up.n_inputs)
            if centers.ndim != 2 or centers.shape[1] != warm_up.n_inputs or seen.shape != expected:
                raise StateError(f"centers {centers.shape} and samples {seen.shape} do not fit", name="centers")
            learner._warm_up, learner._seen = warm_up, seen.copy()
            if warm_up.done:
                learner._begin(centers)
                if learner._rls.n_features != rls.n_features:
                    raise StateError(f"{rls.n_features} weights do not fit the centers", name="centers")
            learner._rls = rls
        return learner

    def _begin(self, centers: Array) -> None:
        self._nystrom = NystromFeatures(centers, self._length_scale)
        old = self._rls
        self._rls = RecursiveLeastSquares(
            self._features.n_features, self.n_outputs, self._regularization, old.forgetting
        )


def choose_centers(samples: Array, most: int, length_scale: float) -> np.ndarray:
    """Indices of at most `most` rows, each the one that those before span worst (pivoted Cholesky), in rising order."""
    kernel = Kernel("gaussian", length_scale)
    left = np.ones(len(samples))  # squared distance to the span
    columns = np.zeros((len(samples), min(most, len(samples))))
    chosen: list[int] = []
    for k in range(columns.shape[1]):
        pivot = int(left.argmax())
        if left[pivot] <= SPANNED:
            break
        values = kernel(samples, samples[pivot : pivot + 1])[:, 0]
        columns[:, k] = (values - columns[:, :k] @ columns[pivot, :k]) / np.sqrt(left[pivot])
        left -= columns[:, k] ** 2
        left[pivot] = 0.0
        chosen.append(pivot)
    return np.sort(chosen)
