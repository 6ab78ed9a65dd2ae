"""Recursive least squares on random Fourier features of standardized inputs: the nonparametric half."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite, integer, vector
from icub_learning.errors import ParameterError, StateError
from icub_learning.features import RandomFourierFeatures, Standardizer
from icub_learning.models import nested, part, scalar
from icub_learning.recursive import Certainty, RecursiveLeastSquares

CERTAINTY_SAMPLES = 20  # learned samples after which a snapshot of the covariance is taken anew, at first;
CERTAINTY_SHARE = 0.02  # later after this share of all samples: leverages fall ever more slowly,
LATEST_CERTAINTY = 1000  # but never after more samples than this


@dataclass(frozen=True)
class StandardizedFeatures:
    """Feature rows (n_random_features,) of inputs (n_inputs,) whose mean and scale are given."""

    features: RandomFourierFeatures
    mean: Array
    scale: Array

    def __call__(self, x: Array) -> Array:
        """The row at x (n_inputs,)."""
        return self.features.transform((x - self.mean) / self.scale)


class RandomFeatureLearner:
    """Learns any smooth function of its inputs, sample by sample, at a fixed cost.

    The first `n_warm_up` samples only set mean and scale of the inputs, which then stay as they are: with inputs that
    kept moving under the features, what was learned would slowly come apart. Until then it predicts zero. A scale is
    never below the input's `minimum_scale`, so that a robot which stands still while it warms up is not magnified.

    Args:
        minimum_scale: (n_inputs,), units of the inputs.
        n_outputs: number of functions learned.
        n_random_features: even; length of the feature rows.
        length_scale: sigma of the Gaussian kernel on standardized inputs.
        regularization: lambda > 0; feature rows have unit norm.
        forgetting: in (0, 1]; weight of a sample after each further one.
        n_warm_up: samples that set the scale.
        seed: of the random features.

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
        self.n_warm_up = integer("n_warm_up", n_warm_up, 1)
        self._minimum_scale = minimum_scale
        self._standardizer = Standardizer(self.n_inputs)
        self._features = RandomFourierFeatures(self.n_inputs, n_random_features, length_scale, seed)
        self._rls = RecursiveLeastSquares(n_random_features, n_outputs, regularization, forgetting)
        self.mean, self.scale = np.zeros(self.n_inputs), np.ones(self.n_inputs)
        self._certainty: Certainty | None = None
        self._next_certainty = 0  # samples

    @property
    def ready(self) -> bool:
        """Whether the scale of the inputs is set, so that it learns and predicts."""
        return self._standardizer.n_samples >= self.n_warm_up

    @property
    def row(self) -> StandardizedFeatures | None:
        """What makes a feature row of an input; None while the scale is not set."""
        return StandardizedFeatures(self._features, self.mean, self.scale) if self.ready else None

    @property
    def live_weights(self) -> Array:
        """(n_outputs, n_random_features): a view, which changes with the next update."""
        return self._rls.live_weights

    def leverage(self, z: Array) -> float:
        """Leverage of a feature row (n_random_features,)."""
        return float(self._rls.leverage(z))

    def certainty(self) -> Certainty:
        """Leverages as they are now or were a few samples ago (CERTAINTY_SAMPLES), whatever is learned afterwards."""
        n = self._rls.n_samples
        if self._certainty is None or n >= self._next_certainty:
            self._certainty = self._rls.certainty()
            self._next_certainty = n + min(max(CERTAINTY_SAMPLES, round(CERTAINTY_SHARE * n)), LATEST_CERTAINTY)
        return self._certainty

    def update(self, x: Array, y: Array) -> None:
        """Learn one sample: x (n_inputs,), y (n_outputs,)."""
        row = self.row
        if row is not None:
            self._rls.update(row(x), y)
            return
        self._standardizer.update(x)
        if self.ready:
            self.mean = self._standardizer.mean.copy()
            self.scale = np.maximum(self._standardizer.scale, self._minimum_scale)

    def merge(self, other: "RandomFeatureLearner") -> None:
        """Pool what another learner saw on the same features. Raises ParameterError if they differ."""
        for name in ("frequencies", "mean", "scale"):
            mine, theirs = (getattr(x._features if name == "frequencies" else x, name) for x in (self, other))
            if not np.array_equal(mine, theirs):
                raise ParameterError(
                    name, "different", "the same in both models: start both robots from one saved model or one scale"
                )
        self._rls.merge(other._rls)
        self._certainty = None

    def set_scale(self, mean: ArrayLike, scale: ArrayLike) -> None:
        """Give mean and scale of the inputs (n_inputs,) instead of learning them; learning starts at once."""
        self.mean, self.scale = vector("mean", mean, self.n_inputs), vector("scale", scale, self.n_inputs)
        if (self.scale <= 0).any():
            raise ParameterError("scale", float(self.scale.min()), "above 0")
        self._standardizer.n_samples = max(self._standardizer.n_samples, self.n_warm_up)

    def state(self) -> dict[str, Array]:
        """All that was learned, as a dict of arrays."""
        return {
            "minimum_scale": self._minimum_scale.copy(),
            "mean": self.mean.copy(),
            "scale": self.scale.copy(),
            "length_scale": np.asarray(self._features.length_scale),
            "seed": np.asarray(self._features.seed),
            "frequencies": self._features.frequencies.copy(),
            "n_warm_up": np.asarray(self.n_warm_up),
            **nested("standardizer", self._standardizer.state()),
            **nested("rls", self._rls.state()),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "RandomFeatureLearner":
        """Rebuild from `state`. Raises StateError."""
        try:
            rls = RecursiveLeastSquares.from_state(part(state, "rls"))
            learner = cls(
                finite("minimum_scale", state["minimum_scale"]),
                rls.n_outputs,
                n_random_features=rls.n_features,
                length_scale=float(scalar(state, "length_scale")),
                regularization=1.0,
                forgetting=rls.forgetting,
                n_warm_up=int(scalar(state, "n_warm_up")),
                seed=int(scalar(state, "seed")),
            )
            frequencies = finite("frequencies", state["frequencies"])
            if frequencies.shape != learner._features.frequencies.shape:
                raise StateError(f"frequencies {frequencies.shape} do not fit {learner._features.frequencies.shape}")
            learner._features.frequencies = frequencies  # kept, so that a change of generator cannot change a model
            learner._rls = rls
            learner._standardizer = Standardizer.from_state(part(state, "standardizer"))
            learner.mean = vector("mean", state["mean"], learner.n_inputs)
            learner.scale = vector("scale", state["scale"], learner.n_inputs)
        except KeyError as error:
            raise StateError(f"state lacks the entry {error}", name=str(error)) from None
        except StateError:
            raise
        except (TypeError, ValueError) as error:
            raise StateError(f"state does not describe a random feature learner: {error}") from None
        return learner
