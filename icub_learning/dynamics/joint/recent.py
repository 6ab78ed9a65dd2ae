"""What the last seconds say: a few features alone, and rigid bodies alone."""

from collections.abc import Mapping
from math import exp, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite
from icub_learning.dynamics.estimators.noise.noise_variance import OutputNoise
from icub_learning.dynamics.estimators.prediction import USUAL_PERIOD
from icub_learning.dynamics.joint import _joint
from icub_learning.dynamics.joint.columns import BaseColumns
from icub_learning.dynamics.joint.process import BodyCertainty, of_same_size
from icub_learning.errors import StateError
from icub_learning.models import nested, part
from icub_learning.recursive import RecursiveLeastSquares

# Memories: [s] in which samples lose the weight 1 - 1/e, where they are USUAL_PERIOD apart or less; else as many as with
# that period. Chosen on four real recordings and the change of task, see docs/decisions/2026-11-24-one-model.md and
# 2026-11-26-bodies-of-the-last-seconds.md.
FEATURES_MEMORY, FEATURES_REGULARIZATION = 2.0, 10.0  # [s]; of features
FEATURES_EVERY = 6  # each so manieth frequency is learned: what is learned in seconds is simple
# Memories [s] of rigid bodies, and the regularization of their parameters over that of all that was seen: the body of
# the moment may be far from the expected one, that of the last seconds is near it before there is evidence.
BODIES = ((0.1, 0.1), (5.0, 10.0))


class RecentModels:
    """Learns the last seconds by features alone and, with a shorter and a longer memory, by rigid bodies alone.

    The features are each FEATURES_EVERY-th frequency of all, as a row of unit norm. A body is generalized least squares
    of base parameters: JointProcess as its regularization grows without bound.

    Args:
        columns: the columns of the regressor, and the prior of their coefficients; None for features alone.
        n_outputs: number of outputs.
        output_weights: how much each output counts for the bodies, see OutputNoise.
        n_features: number of all features, cosines first, then sines.

    Attributes:
        places: (n_places,) indices of its features among all.
        scale: by which they are multiplied.
    """

    def __init__(self, columns: BaseColumns | None, n_outputs: int, output_weights: str, n_features: int) -> None:
        half = n_features // 2
        chosen = np.arange(0, half, FEATURES_EVERY)
        self.places: NDArray[np.intp] = np.concatenate([chosen, half + chosen])
        self.scale = sqrt(half / len(chosen))
        self._columns = columns
        self._features = RecursiveLeastSquares(2 * len(chosen), n_outputs, FEATURES_REGULARIZATION)
        known = () if columns is None else BODIES
        self._memories = [memory for memory, _ in known]
        self._bodies = [RecursiveLeastSquares(len(columns.kept), 1, prior) for _, prior in known if columns is not None]
        self._outputs = OutputNoise(output_weights, (len(known), n_outputs))
        self.experts = (("NP", FEATURES_MEMORY), *(("P", memory) for memory in self._memories))

    @property
    def features(self) -> tuple[NDArray[np.intp], Array]:
        """Places of its features, and their weights (n_outputs, n_places) of this moment."""
        return self.places, self._features.live_weights.copy()

    @property
    def gammas(self) -> list[Array]:
        """Gamma (n_base or padded,) of each body, see BaseColumns; they change with the next sample."""
        return [body.padded_weights[0] for body in self._bodies]

    def certainty(self, live: bool = False) -> list[BodyCertainty]:
        """Return what tells the variance of each body: a snapshot or, with `live`, until the next sample is learned."""
        triangles = [body.memory[0] if live else body.memory[0].copy() for body in self._bodies]
        return list(map(BodyCertainty, triangles, self._outputs.weights, self._outputs.noise.known))

    def learn(self, phi: Array, rows: Array | None, y: Array, elapsed: float, forgetting: float, count: int) -> None:
        """Learn one sample, see JointProcess; `elapsed` [s] since the last one."""
        counted = min(elapsed, count * USUAL_PERIOD)
        self._features.forgetting = forgetting * exp(-counted / FEATURES_MEMORY)
        for body, memory in zip(self._bodies, self._memories, strict=True):
            body.forgetting = forgetting * exp(-counted / memory)
        ahead = tuple([body.ahead() for body in self._bodies])
        weights = self._outputs.weights
        estimates = np.empty_like(weights)
        columns = None if self._columns is None else self._columns.memory
        learners = self._features.ahead(), (self.places,), ahead
        _joint.learn_recent(estimates, *learners, columns, phi, rows, y, weights, self.scale, sqrt(count))
        self._outputs.add(estimates)

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `restore`."""
        state = nested("features", self._features.state()) | {"memories": self._settings()}
        for place, body in enumerate(self._bodies):
            state |= nested(f"body_{place}", body.state())
        return state | self._outputs.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take what models of the same sizes have saved. Raises StateError."""
        if not np.array_equal(finite("memories", state["memories"]), self._settings()):
            raise StateError("what it learned has other regularizations or memories", name="memories")
        self._features = of_same_size(self._features, part(state, "features"))
        self._bodies = [of_same_size(body, part(state, f"body_{i}")) for i, body in enumerate(self._bodies)]
        self._outputs = self._outputs.restored(state)

    def _settings(self) -> Array:
        """Regularizations and memories with which it learned."""
        bodies = np.ravel(BODIES) if self._bodies else ()
        return np.array([FEATURES_REGULARIZATION, FEATURES_MEMORY, FEATURES_EVERY, *bodies])
