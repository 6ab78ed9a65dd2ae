"""Recursive least squares on random Fourier features of standardized inputs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite
from icub_learning.dynamics.estimators.warm_up import WarmUp
from icub_learning.errors import ParameterError, StateError
from icub_learning.features import NystromFeatures, RandomFourierFeatures
from icub_learning.models import nested, part, reading_state, scalar
from icub_learning.recursive import Certainty, RecursiveLeastSquares

CERTAINTY_SAMPLES = 20  # learned samples between two snapshots of the covariance, at first;
CERTAINTY_SHARE = 0.02  # later this share of all samples, because leverages fall ever more slowly,
LATEST_CERTAINTY = 1000  # but never more samples than this


@dataclass(frozen=True)
class StandardizedFeatures:
    """Feature rows (n_features,) of inputs (n_inputs,) whose mean and scale are given."""

    features: RandomFourierFeatures | NystromFeatures
    mean: Array
    scale: Array

    def __call__(self, x: Array) -> Array:
        """Return the feature row at x (n_inputs,)."""
        return self.features.standardized(x, self.mean, self.scale)


class RandomFeatureLearner:
    """Learns any smooth function of its inputs, sample by sample, at a fixed cost.

    The first `n_warm_up` samples only set mean and scale of the inputs (WarmUp). Until then it predicts zero.

    Args:
        minimum_scale: (n_inputs,), units of the inputs.
        n_outputs: number of functions learned.
        n_random_features: even; length of the feature rows.
        length_scale: sigma of the Gaussian kernel on standardized inputs.
        regularization: lambda > 0; feature rows have unit norm.
        forgetting: in (0, 1]; weight of a sample after each further one.
        n_warm_up: number of first samples that only set the scale.
        seed: seed of the random features.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        minimum_scale: Array,
        n_outputs: int,
        *,
        n_random_features: int,
        length_scale: float,
        regularization: float,
        forgetting: float,
        n_warm_up: int,
        seed: int,
    ) -> None:
        self.n_inputs, self.n_outputs = len(minimum_scale), n_outputs
        self._warm_up = WarmUp(minimum_scale, n_warm_up)
        self._random = RandomFourierFeatures(self.n_inputs, n_random_features, length_scale, seed)
        self._rls = RecursiveLeastSquares(n_random_features, n_outputs, regularization, forgetting)
        self._certainty: Certainty | None = None
        self._next_certainty = 0  # samples

    @property
    def ready(self) -> bool:
        """Whether the scale of the inputs is set, so that it learns and predicts."""
        return self._warm_up.done

    @property
    def row(self) -> StandardizedFeatures | None:
        """The map from an input to its feature row; None while the scale is not set."""
        made = self._warm_up
        return StandardizedFeatures(self._features, made.mean, made.scale) if self.ready else None

    @property
    def _features(self) -> RandomFourierFeatures | NystromFeatures:
        return self._random

    @property
    def live_weights(self) -> Array:
        """(n_outputs, n_random_features): a view, which changes with the next update."""
        return self._rls.live_weights

    def leverage(self, z: Array) -> float:
        """Return the leverage of a feature row (n_random_features,)."""
        return float(self._rls.leverage(z))

    def certainty(self) -> Certainty:
        """Return leverages of now or of a few samples ago (CERTAINTY_SAMPLES), which later updates do not change."""
        n = self._rls.n_samples
        if self._certainty is None or n >= self._next_certainty:
            self._certainty = self._rls.certainty()
            self._next_certainty = n + min(max(CERTAINTY_SAMPLES, round(CERTAINTY_SHARE * n)), LATEST_CERTAINTY)
        return self._certainty

    def update(self, x: Array, y: Array) -> None:
        """Learn one sample: x (n_inputs,), y (n_outputs,)."""
        row = self.row
        if row is None:
            self._warm_up.add(x)
        else:
            self._rls.update(row(x), y)

    def merge(self, other: "RandomFeatureLearner", common: "RandomFeatureLearner | None" = None) -> None:
        """Pool the data of another learner with the same features, those of `common` once.

        Raises:
            ParameterError: features or scales differ; nothing changes then.
        """
        for one in (other,) if common is None else (other, common):
            if not np.array_equal(self._random.frequencies, one._random.frequencies):
                raise ParameterError("frequencies", "different", "the same in both models")
            self._warm_up.check_same(one._warm_up)
        self._rls.merge(other._rls, None if common is None else common._rls)
        self._certainty = None

    def set_scale(self, mean: ArrayLike, scale: ArrayLike) -> None:
        """Set mean and scale of the inputs (n_inputs,), so that no warm-up is needed."""
        self._warm_up.set_scale(mean, scale)

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `from_state`."""
        return {
            "kind": np.asarray("random_features"),
            "length_scale": np.asarray(self._random.length_scale),
            "seed": np.asarray(self._random.seed),
            "frequencies": self._random.frequencies.copy(),
            **self._warm_up.state(),
            **nested("rls", self._rls.state()),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "RandomFeatureLearner":
        """Rebuild from `state`. Raises StateError."""
        with reading_state("a random feature learner"):
            rls = RecursiveLeastSquares.from_state(part(state, "rls"))
            warm_up = WarmUp.from_state(state)
            learner = cls(
                warm_up.minimum_scale,
                rls.n_outputs,
                n_random_features=rls.n_features,
                length_scale=float(scalar(state, "length_scale")),
                regularization=1.0,
                forgetting=rls.forgetting,
                n_warm_up=warm_up.n_samples,
                seed=int(scalar(state, "seed")),
            )
            frequencies = finite("frequencies", state["frequencies"])
            if frequencies.shape != learner._random.frequencies.shape:
                raise StateError(f"frequencies {frequencies.shape} do not fit {learner._random.frequencies.shape}")
            learner._random.frequencies = frequencies  # kept, so that a change of generator cannot change a model
            learner._rls = rls
            learner._warm_up = warm_up
        return learner
