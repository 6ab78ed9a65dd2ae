"""What the last seconds say: a few features alone, and rigid bodies alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite
from icub_learning.dynamics.estimators.noise.noise_variance import NoiseVariance
from icub_learning.dynamics.estimators.noise.output_weights import OutputWeights
from icub_learning.dynamics.joint import _joint
from icub_learning.dynamics.joint.columns import BaseColumns
from icub_learning.dynamics.joint.process import of_same_size
from icub_learning.errors import StateError
from icub_learning.models import nested, part
from icub_learning.recursive import Certainty, RecursiveLeastSquares

# Memories: [s] in which samples lose the weight 1 - 1/e, at 100 Hz and above; below they last as many samples as at
# 100 Hz. Chosen on four real recordings and the change of task, see docs/decisions/2026-11-24-one-model.md and
# 2026-11-26-bodies-of-the-last-seconds.md.
FEATURES_MEMORY, FEATURES_REGULARIZATION = 2.0, 10.0  # [s]; of features
FEATURES_EVERY = 6  # each so manieth frequency is learned: what is learned in seconds is simple
# Memories [s] of rigid bodies, and the regularization of their parameters over that of all that was seen: the body of
# the moment may be far from the expected one, that of the last seconds is near it before there is evidence.
BODIES = ((0.1, 0.1), (5.0, 10.0))
LONGEST_STEP = 0.01  # [s] that the time between two samples counts for at most


@dataclass(frozen=True)
class BodyCertainty:
    """Tells the variance of what a recent body has not learned of a motion.

    Attributes:
        leverages: gives the leverage of rows of gamma, see BaseColumns.
        weights: (n_outputs,) of the outputs.
        noise: (n_outputs,) variance of the noise; zero before the first sample.
    """

    leverages: Certainty | RecursiveLeastSquares
    weights: Array
    noise: Array

    def unlearned(self, rows: Array) -> Array:
        """Return the variance (n_outputs,) of a prediction from rows (n_outputs, n_base) of gamma."""
        return np.asarray(self.noise * self.leverages.leverage(self.weights[:, None] * rows))


class _Body:
    """Generalized least squares of base parameters: JointProcess as its regularization grows without bound."""

    def __init__(
        self, columns: BaseColumns, n_outputs: int, output_weights: str, memory: float, regularization: float
    ) -> None:
        self.memory = memory  # [s]
        self.rls = RecursiveLeastSquares(len(columns.kept), 1, regularization)
        self.noise = NoiseVariance(n_outputs)
        self.weights = OutputWeights(output_weights, n_outputs)

    def certainty(self, live: bool) -> BodyCertainty:
        return BodyCertainty(self.rls if live else self.rls.certainty(), self.weights.value, self.noise.known)


class RecentModels:
    """Learns the last seconds by features alone and, with a shorter and a longer memory, by rigid bodies alone.

    The features are each FEATURES_EVERY-th frequency of all, as a row of unit norm.

    Args:
        columns: the columns of the regressor, and the prior of their coefficients; None for features alone.
        n_outputs: number of outputs.
        output_weights: how much each output counts for the bodies, see OutputWeights.
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
        self._bodies = [] if columns is None else [_Body(columns, n_outputs, output_weights, *each) for each in BODIES]
        self.experts = (("NP", FEATURES_MEMORY), *(("P", body.memory) for body in self._bodies))

    @property
    def features(self) -> tuple[NDArray[np.intp], Array]:
        """Places of its features, and their weights (n_outputs, n_places) of this moment."""
        return self.places, self._features.live_weights.copy()

    @property
    def parameters(self) -> list[Array]:
        """Rigid-body parameters (n_parameters,) of each body."""
        columns = self._columns
        return [] if columns is None else [columns.parameters(body.rls.live_weights[0]) for body in self._bodies]

    def certainty(self, live: bool = False) -> list[BodyCertainty]:
        """Return what tells the variance of each body: a snapshot or, with `live`, until the next sample is learned."""
        return [body.certainty(live) for body in self._bodies]

    def learn(self, phi: Array, rows: Array | None, y: Array, elapsed: float, forgetting: float, count: int) -> None:
        """Learn one sample, see JointProcess; `elapsed` [s] since the last one."""
        counted = min(elapsed, count * LONGEST_STEP)
        self._features.forgetting = forgetting * exp(-counted / FEATURES_MEMORY)
        for body in self._bodies:
            body.rls.forgetting = forgetting * exp(-counted / body.memory)
        ahead = tuple([body.rls.ahead() for body in self._bodies])
        weights = np.array([body.weights.value for body in self._bodies])
        estimates = np.empty_like(weights)
        columns = None if self._columns is None else self._columns.memory
        learners = self._features.ahead(), (self.places,), ahead
        _joint.learn_recent(estimates, *learners, columns, phi, rows, y, weights, self.scale, sqrt(count))
        for body, estimate in zip(self._bodies, estimates, strict=True):
            body.noise.add(estimate)
            body.weights.follow(body.noise)

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `restore`."""
        state = nested("features", self._features.state()) | {"memories": self._memories()}
        for place, body in enumerate(self._bodies):
            state |= nested(f"body_{place}.rigid", body.rls.state()) | nested(f"body_{place}.noise", body.noise.state())
            state[f"body_{place}.weights"] = body.weights.value.copy()
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take what models of the same sizes have saved. Raises StateError."""
        if not np.array_equal(finite("memories", state["memories"]), self._memories()):
            raise StateError("what it learned has other regularizations or memories", name="memories")
        self._features = of_same_size(self._features, part(state, "features"))
        for place, body in enumerate(self._bodies):
            own = part(state, f"body_{place}")
            n_outputs = len(body.weights.value)
            body.rls = of_same_size(body.rls, part(own, "rigid"))
            body.noise = NoiseVariance.from_state(part(own, "noise"), n_outputs)
            body.weights = OutputWeights.from_state(own, body.weights.kind, n_outputs)

    def _memories(self) -> Array:
        """Regularizations and memories with which it learned."""
        bodies = np.ravel(BODIES) if self._bodies else ()
        return np.array([FEATURES_REGULARIZATION, FEATURES_MEMORY, FEATURES_EVERY, *bodies])
