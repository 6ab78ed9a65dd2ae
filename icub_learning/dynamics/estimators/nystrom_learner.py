"""Recursive least squares on Nyström features whose centres are samples of the robot's own motion."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.dynamics.estimators.random_feature_learner import RandomFeatureLearner
from icub_learning.dynamics.estimators.warm_up import WarmUp
from icub_learning.errors import ParameterError, StateError
from icub_learning.features import NystromFeatures
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.models import nested, part, reading_state, scalar
from icub_learning.recursive import RecursiveLeastSquares

SPANNED = 1e-10  # squared distance to the span of the centres, in feature space, below which a sample adds nothing


class NystromLearner(RandomFeatureLearner):
    """A RandomFeatureLearner whose features are Nyström features of the Gaussian kernel.

    The first `n_warm_up` samples set the scale of the inputs; at most `n_centers` of them become centres, chosen by
    pivoted Cholesky. The features cannot tell motions apart that are far from all centres: warm up with some thousands
    of samples that cover the robot's motion.

    Args:
        minimum_scale, n_outputs, length_scale, regularization, forgetting, n_warm_up: see RandomFeatureLearner.
        n_centers: largest number of centres.

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
            n_random_features=2,  # of a placeholder, unused
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
        assert self._nystrom is not None  # used only once `ready`
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
            self._begin(samples[pivoted_cholesky(samples, self._n_centers, self._length_scale)])
            self._seen = np.zeros((0, self.n_inputs))

    def merge(self, other: RandomFeatureLearner, common: RandomFeatureLearner | None = None) -> None:
        """Pool the data of another learner with the same centres, those of `common` once.

        Raises:
            ParameterError: centres or scales differ; nothing changes then.
        """
        for one in (other,) if common is None else (other, common):
            if not isinstance(one, NystromLearner) or not self.ready or not one.ready:
                raise ParameterError("other", type(one).__name__, "a NystromLearner, all with their centres")
            if not np.array_equal(self._features.centers, one._features.centers):
                raise ParameterError("centers", "different", "the same in all models: start them from one saved model")
            self._warm_up.check_same(one._warm_up)
        self._rls.merge(other._rls, None if common is None else common._rls)
        self._certainty = None

    def set_scale(self, mean: Any, scale: Any) -> None:
        """Raise ParameterError: the warm-up must also give the centres."""
        raise ParameterError("scale", "given", "that of the warm-up, which gives the centres too")

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `from_state`."""
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
        self._certainty = None  # that of the old one has another number of features


def pivoted_cholesky(samples: Array, most: int, length_scale: float) -> NDArray[np.intp]:
    """Return the pivots of a Cholesky factorization of the kernel matrix: at most `most` row indices, rising.

    Each pivot is the sample farthest, in feature space, from the span of those before it.
    """
    kernel = Kernel("gaussian", length_scale)
    distance = np.ones(len(samples))  # squared, to the span
    columns = np.zeros((len(samples), min(most, len(samples))))
    chosen: list[int] = []
    for k in range(columns.shape[1]):
        pivot = int(distance.argmax())
        if distance[pivot] <= SPANNED:
            break
        values = kernel(samples, samples[pivot : pivot + 1])[:, 0]
        columns[:, k] = (values - columns[:, :k] @ columns[pivot, :k]) / np.sqrt(distance[pivot])
        distance -= columns[:, k] ** 2
        distance[pivot] = 0.0
        chosen.append(pivot)
    return np.sort(chosen)
