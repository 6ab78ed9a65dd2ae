"""Recursive learners on random features of several length scales, each with several regularizations."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from icub_learning.arrays import Array, finite
from icub_learning.dynamics.estimators import _experts
from icub_learning.dynamics.estimators.random_feature_learner import (
    CERTAINTY_SAMPLES,
    CERTAINTY_SHARE,
    LATEST_CERTAINTY,
)
from icub_learning.errors import ParameterError, StateError
from icub_learning.features import MultiscaleFourierFeatures
from icub_learning.models import nested, part, scalar
from icub_learning.recursive import Certainty, RecursiveLeastSquares
from icub_learning.recursive.storage import aligned_zeros, padded_size

# Length scales of the kernels in multiples of INPUT_SCALES, and regularizations. Both lie a factor of three (ten and
# more) apart: a convex combination fills what is between them.
LENGTH_SCALES = (0.7, 2.0, 6.0)
REGULARIZATIONS = (0.003, 3.0)
# What counts as one unit of position, velocity and acceleration: rad, rad/s, rad/s^2 (m, ... for prismatic joints).
# Physical units instead of the spread of the first samples: a joint that hardly moves stays small among the inputs,
# learning starts with the first sample, and robots that learn apart can always pool what they learned.
INPUT_SCALES = (1.0, 1.0, 5.0)
LEVERAGE_SCALE = 1  # which of the length scales certainty is judged by


class ExpertPool:
    """Learns the same targets with each pair of LENGTH_SCALES and REGULARIZATIONS.

    Args:
        n_joints: positions, velocities and accelerations of so many joints are the inputs.
        n_targets: number of functions learned.
        n_random_features: number of features of all length scales together.
        forgetting: in (0, 1]; weight of a sample after each further one.
        seed: seed of the random features.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(self, n_joints: int, n_targets: int, n_random_features: int, forgetting: float, seed: int) -> None:
        self.n_targets = n_targets
        width = 2 * max(1, n_random_features // (2 * len(LENGTH_SCALES)))
        self.features = MultiscaleFourierFeatures(np.repeat(INPUT_SCALES, n_joints), width, LENGTH_SCALES, seed)
        self._learners = [
            [RecursiveLeastSquares(width, n_targets, value, forgetting) for value in REGULARIZATIONS]
            for _ in LENGTH_SCALES
        ]
        self._memory = aligned_zeros(*self.shape[:3], padded_size(width))  # of all weights
        self._gather()
        self._certainty: Certainty | None = None
        self._next_certainty = 0  # samples

    @property
    def n_samples(self) -> int:
        """How many samples were learned."""
        return self._learners[0][0].n_samples

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of `weights`: length scales, regularizations, targets, features."""
        return len(LENGTH_SCALES), len(REGULARIZATIONS), self.n_targets, self.features.n_features

    def learn(self, rows: Array, targets: Array) -> None:
        """Learn one sample from its rows (n_length_scales, n_features) and targets (n_targets,)."""
        for row, learners in zip(rows, self._learners, strict=True):
            for learner in learners:
                learner.update(row, targets)

    def forget(self, factor: float) -> None:
        """Let each further sample reduce the weight of earlier ones by `factor`. Raises ParameterError."""
        for learners in self._learners:
            for learner in learners:
                if learner.forgetting != factor:
                    learner.forgetting = factor

    def weights(self) -> Array:
        """Weights of all learners, of `shape`; a copy."""
        weights: Array = self._memory[..., : self.features.n_features].copy()
        return weights

    def combined(self, shares: Array) -> Array:
        """Combine the learners.

        Args:
            shares: (length scales, regularizations, kinds, n_outputs), by what to multiply the weights of each learner
                for each target; the targets are n_outputs of the first kind, then as many of each further one.

        Returns:
            (n_outputs, features of all length scales), weights of the combinations in the order of `features.waves`.
        """
        n_scales, n_regularizations, n_kinds, n = shares.shape
        half, learners = self.features.n_features // 2, n_regularizations * n_kinds
        result = np.empty((n, 2 * n_scales * half))
        _experts.combine(result, shares, self._memory, n_scales, learners, n, half, self._memory.shape[-1])
        return result

    def _gather(self) -> None:
        for memory, learners in zip(self._memory, self._learners, strict=True):
            for weights, learner in zip(memory, learners, strict=True):
                learner.move_weights(weights)

    def live_certainties(self) -> tuple[RecursiveLeastSquares, ...]:
        """What gives the leverage under each regularization, as of now."""
        return tuple(self._learners[LEVERAGE_SCALE])

    def certainty(self) -> Certainty:
        """Return what gives the leverage under the smallest regularization, up to a few samples old.

        It is a snapshot, see RandomFeatureLearner.
        """
        n = self.n_samples
        if self._certainty is None or n >= self._next_certainty:
            self._certainty = self._learners[LEVERAGE_SCALE][0].certainty()
            self._next_certainty = n + min(max(CERTAINTY_SAMPLES, round(CERTAINTY_SHARE * n)), LATEST_CERTAINTY)
        return self._certainty

    def check_poolable(self, other: "ExpertPool") -> None:
        """Raise ParameterError unless the other pool has the same features and targets."""
        if self.n_targets != other.n_targets or not np.array_equal(
            self.features.frequencies, other.features.frequencies
        ):
            raise ParameterError("frequencies", "different", "the same in both models")

    def merge(self, other: "ExpertPool", common: "ExpertPool | None" = None) -> None:
        """Pool what another pool with the same features saw, what is in `common` once. Raises ParameterError."""
        for s, (mine, theirs) in enumerate(zip(self._learners, other._learners, strict=True)):
            for r, (learner, its) in enumerate(zip(mine, theirs, strict=True)):
                learner.merge(its, None if common is None else common._learners[s][r])
        self._certainty = None

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays."""
        state = {"seed": np.asarray(self.features.seed), "frequencies": self.features.frequencies.copy()}
        for s, learners in enumerate(self._learners):
            for r, learner in enumerate(learners):
                state |= nested(f"learner_{s}_{r}", learner.state())
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_joints: int, n_targets: int) -> "ExpertPool":
        """Rebuild from `state`. Raises StateError."""
        try:
            first = RecursiveLeastSquares.from_state(part(state, "learner_0_0"))
            n_features = first.n_features * len(LENGTH_SCALES)
            pool = cls(n_joints, n_targets, n_features, first.forgetting, int(scalar(state, "seed")))
            frequencies = finite("frequencies", state["frequencies"])
            if frequencies.shape != pool.features.frequencies.shape:
                raise StateError(f"frequencies {frequencies.shape} do not fit {n_joints} joints", name="frequencies")
            pool.features.frequencies = frequencies.copy()  # a change of generator must not change a model
            for s, learners in enumerate(pool._learners):
                for r, made in enumerate(learners):
                    learner = RecursiveLeastSquares.from_state(part(state, f"learner_{s}_{r}"))
                    if (learner.n_features, learner.n_outputs) != (made.n_features, made.n_outputs):
                        raise StateError(f"saved learner {s}, {r} is of another size", name=f"learner_{s}_{r}")
                    learners[r] = learner
            pool._gather()
        except StateError:
            raise
        except KeyError as error:
            raise StateError(f"state lacks the entry {error}", name=str(error)) from None
        except (TypeError, ValueError) as error:
            raise StateError(f"state does not describe learners on random features: {error}") from None
        return pool
