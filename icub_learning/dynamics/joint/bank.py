"""A small bank of models: what was learned of all that was seen, and of the last seconds."""

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite, integer
from icub_learning.dynamics.joint import _experts
from icub_learning.dynamics.joint.columns import BaseColumns
from icub_learning.dynamics.joint.process import BodyCertainty, JointProcess, ProcessCertainty
from icub_learning.dynamics.joint.recent import RecentModels
from icub_learning.errors import ParameterError, StateError
from icub_learning.features import MultiscaleFourierFeatures
from icub_learning.models import nested, part

# Of the features, beside rigid bodies. Chosen on three real recordings, six robots of the zoo and the change of task
# with seeds 0 to 5, see docs/decisions/2026-11-24-one-model.md.
REGULARIZATION = 0.01
# Length scales of the kernels in multiples of INPUT_SCALES, a factor of three apart: short ones for what changes within
# degrees, long ones for what turns with the whole arm.
LENGTH_SCALES = (0.7, 2.0, 6.0)
# What counts as one unit of position, velocity and acceleration: rad, rad/s, rad/s^2 (m, ... for prismatic joints).
# Physical units instead of the spread of the first samples: a joint that hardly moves stays small among the inputs,
# learning starts with the first sample, and robots that learn apart can always pool what they learned.
INPUT_SCALES = (1.0, 1.0, 5.0)
# Of all samples, between two snapshots of the first factor, because leverages fall ever more slowly; but never more
# than LATEST_CERTAINTY, nor fewer than the same share of these.
CERTAINTY_SHARE = 0.02
LATEST_CERTAINTY = 1000  # samples


class BankWeights(NamedTuple):
    """What predictions need of what the bank has learned.

    Attributes:
        maps: weights of all features, (2 for NP and SP or 1 for NP, n_outputs, n_features), see JointProcess.maps.
        recent: which features those of the last seconds are, and their weights (n_outputs, n_places).
        scale: by which these features are multiplied, see RecentModels.
        parameters: (2 + n_bodies, n_parameters) of P, SP and each recent body; None without rigid bodies.
    """

    maps: Array
    recent: tuple[NDArray[np.intp], Array]
    scale: float
    parameters: Array | None


class JointBank:
    """Learns the same samples by features beside rigid bodies, by features alone, and by rigid bodies alone.

    The first forgets nothing by itself; the others know the last seconds. Without rigid bodies there are features only.

    Args:
        n_joints: positions, velocities and accelerations of so many joints are the inputs.
        n_outputs: number of outputs.
        columns: columns of the rigid bodies; None for features alone.
        output_weights: how much each output counts for the parameters.
        n_random_features: number of features of all length scales together.
        seed: seed of the random features.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        n_joints: int,
        n_outputs: int,
        columns: BaseColumns | None,
        output_weights: str,
        n_random_features: int,
        seed: int = 0,
    ) -> None:
        width = 2 * max(1, integer("n_random_features", n_random_features, 2) // (2 * len(LENGTH_SCALES)))
        self.features = MultiscaleFourierFeatures(np.repeat(INPUT_SCALES, n_joints), width, LENGTH_SCALES, seed)
        self.columns = columns
        n_features = width * len(LENGTH_SCALES)
        self.lasting = JointProcess(columns, n_outputs, n_features, REGULARIZATION, output_weights)
        self._recent = RecentModels(columns, n_outputs, output_weights, n_features)
        self._certainty: ProcessCertainty | None = None
        self._next_certainty = 0  # samples

    @property
    def experts(self) -> list[tuple[str, float]]:
        """Name of each expert and its memory [s], in the order of what JointPredictor predicts."""
        lasting = ("NP",) if self.columns is None else ("P", "NP", "SP")
        recent = [(f"{kind} {memory:g} s", memory) for kind, memory in self._recent.experts]
        return [(kind, inf) for kind in lasting] + recent

    def learn(
        self, phi: Array, rows: Array | None, y: Array, elapsed: float, forgetting: float, count: int = 1
    ) -> None:
        """Learn one sample, see JointProcess.

        Args:
            phi: (n_features,).
            rows: (n_outputs, n_parameters) of the regressor; None without rigid bodies.
            y: (n_outputs,).
            elapsed: time since the last sample [s].
            forgetting: in (0, 1], by which the past of all fades, on top of memories.
            count: how many samples this one stands for.
        """
        base = None if rows is None or self.columns is None else self.columns.of(rows)
        self.lasting.learn(phi, base, y, forgetting, count)
        self._recent.learn(phi, base, y, elapsed, forgetting, count)

    def weights(self, parametric: Array | None) -> BankWeights:
        """Return what predictions need; `parametric` (n_parameters,) of P, None without rigid bodies."""
        recent, sets = self._recent, None
        if self.columns is not None and parametric is not None:
            gammas = (self.lasting.gamma, *recent.gammas)
            sets = np.empty((1 + len(gammas), len(parametric)))
            sets[0] = parametric
            _experts.parameters(sets[1:], self.columns.start, self.columns.back, gammas)
        return BankWeights(self.lasting.maps(), recent.features, recent.scale, sets)

    def certainty(self, live: bool = False) -> tuple[ProcessCertainty, list[BodyCertainty]]:
        """Return what all that was seen tells of a motion, now or a few samples ago, and what each body tells now.

        Both are snapshots for another thread or, with `live`, of this moment until the next sample is learned.
        """
        if live:
            return self.lasting.certainty(live), self._recent.certainty(live)
        n = self.lasting.n_samples
        if self._certainty is None or n >= self._next_certainty:
            self._certainty = self.lasting.certainty()
            self._next_certainty = n + min(round(CERTAINTY_SHARE * max(n, LATEST_CERTAINTY)), LATEST_CERTAINTY)
        return self._certainty, self._recent.certainty()

    def merge(self, other: "JointBank", common: "JointBank | None" = None) -> None:
        """Pool what another bank with the same features saw, what is in `common` once; the last seconds stay its own.

        Raises:
            ParameterError: they do not fit, or the other one has forgotten some of the common samples; nothing changes.
        """
        mine, theirs = self.features.frequencies, other.features.frequencies
        if not np.array_equal(mine, theirs) or (self.columns is None) != (other.columns is None):
            raise ParameterError("frequencies", "different", "the same in both models")
        made = self.lasting.restored(self.lasting.state())
        made.merge(other.lasting, None if common is None else common.lasting)
        self.lasting, self._certainty = made, None

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `restore`."""
        state = {"seed": np.asarray(self.features.seed), "frequencies": self.features.frequencies.copy()}
        return state | nested("lasting", self.lasting.state()) | nested("recent", self._recent.state())

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take what a bank of the same sizes has saved. Raises StateError."""
        frequencies = finite("frequencies", state["frequencies"])
        if frequencies.shape != self.features.frequencies.shape:
            raise StateError(f"frequencies {frequencies.shape} do not fit the joints", name="frequencies")
        self.features.frequencies = frequencies.copy()  # a change of generator must not change a model
        self.lasting = self.lasting.restored(part(state, "lasting"))
        self._recent.restore(part(state, "recent"))
