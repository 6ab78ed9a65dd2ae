"""A small bank of joint processes: what was learned of all that was seen, and of the last seconds."""

from collections.abc import Mapping
from math import exp, inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite, integer
from icub_learning.dynamics.joint.columns import BaseColumns
from icub_learning.dynamics.joint.process import JointProcess, ProcessCertainty
from icub_learning.errors import ParameterError, StateError
from icub_learning.features import MultiscaleFourierFeatures
from icub_learning.models import nested, part, reading_state, scalar


class Member(NamedTuple):
    """One process of the bank.

    Attributes:
        regularization: regularization of its features; a small one is close to NP, a large one to P.
        memory: [s] in which samples lose the weight 1 - 1/e, at 100 Hz and above; below it lasts as many samples as at
            100 Hz. inf: it forgets only what the whole bank forgets.
        every: it has each so manieth feature: what was learned in seconds is simple.
    """

    regularization: float
    memory: float
    every: int


# Chosen on four real recordings, six robots of the zoo and the change of task with seeds 0 to 5, see docs/decisions.
MEMBERS = (Member(0.01, inf, 1), Member(10.0, 2.0, 6))
# Length scales of the kernels in multiples of INPUT_SCALES, a factor of three apart: short ones for what changes within
# degrees, long ones for what turns with the whole arm.
LENGTH_SCALES = (0.7, 2.0, 6.0)
# What counts as one unit of position, velocity and acceleration: rad, rad/s, rad/s^2 (m, ... for prismatic joints).
# Physical units instead of the spread of the first samples: a joint that hardly moves stays small among the inputs,
# learning starts with the first sample, and robots that learn apart can always pool what they learned.
INPUT_SCALES = (1.0, 1.0, 5.0)
LONGEST_STEP = 0.01  # [s] that the time between two samples counts for at most in the memory of a member
CERTAINTY_SAMPLES = 20  # learned samples between two snapshots of the first factor, at first;
CERTAINTY_SHARE = 0.02  # later this share of all samples, because leverages fall ever more slowly,
LATEST_CERTAINTY = 1000  # but never more samples than this


class FeatureShare:
    """Each so manieth frequency of the random features, as a row of unit norm.

    Args:
        n_features: number of all features, cosines first, then sines.
        every: see Member.

    Attributes:
        n_features: number of features of the share.
        places: their indices among all features; None: all.
        scale: by which they are multiplied.
    """

    def __init__(self, n_features: int, every: int) -> None:
        half = n_features // 2
        chosen = np.arange(0, half, every)
        self.places = None if every == 1 else np.concatenate([chosen, half + chosen])
        self.scale = sqrt(half / len(chosen))
        self.n_features = 2 * len(chosen)

    def of(self, phi: Array) -> Array:
        """Return the share (n_features,) of all features."""
        return phi if self.places is None else self.scale * phi[self.places]


class MemberWeights(NamedTuple):
    """What predictions need of one member's features.

    Attributes:
        maps: their weights, (2 for NP and SP or 1 for NP alone, n_outputs, n_features), see JointProcess.maps.
        places, scale: which these features are, see FeatureShare.
    """

    maps: Array
    places: NDArray[np.intp] | None
    scale: float


class JointBank:
    """Learns the same samples by each of MEMBERS.

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
        self.shares = [FeatureShare(width * len(LENGTH_SCALES), one.every) for one in MEMBERS]
        self.processes = [
            JointProcess(columns, n_outputs, share.n_features, one.regularization, output_weights)
            for share, one in zip(self.shares, MEMBERS, strict=True)
        ]
        self._certainty: ProcessCertainty | None = None
        self._next_certainty = 0  # samples

    @property
    def n_samples(self) -> int:
        """How many samples were learned."""
        return self.processes[0].n_samples

    def learn(
        self, phi: Array, rows: Array | None, y: Array, elapsed: float, forgetting: float, count: int = 1
    ) -> None:
        """Learn one sample, see JointProcess.

        Args:
            phi: (n_features,).
            rows: (n_outputs, n_parameters) of the regressor; None without rigid bodies.
            y: (n_outputs,).
            elapsed: time since the last sample [s].
            forgetting: in (0, 1], by which the past of all members fades, on top of their own.
            count: how many samples this one stands for.
        """
        base = None if rows is None or self.columns is None else self.columns.of(rows)
        for process, share, member in zip(self.processes, self.shares, MEMBERS, strict=True):
            own = exp(-min(elapsed, count * LONGEST_STEP) / member.memory)
            process.learn(share.of(phi), base, y, forgetting * own, count)

    def members(self) -> tuple[MemberWeights, ...]:
        """Return the weights of each member's features."""
        pairs = zip(self.processes, self.shares, strict=True)
        return tuple(MemberWeights(process.maps(), share.places, share.scale) for process, share in pairs)

    def parameters(self) -> list[Array]:
        """Rigid-body parameters (n_parameters,) of each member; [] without rigid bodies."""
        found = [process.parameters for process in self.processes]
        return [parameters for parameters in found if parameters is not None]

    def certainty(self) -> ProcessCertainty:
        """Return what the first member is certain of, now or a few samples ago: a snapshot for another thread."""
        n = self.n_samples
        if self._certainty is None or n >= self._next_certainty:
            self._certainty = self.processes[0].certainty()
            self._next_certainty = n + min(max(CERTAINTY_SAMPLES, round(CERTAINTY_SHARE * n)), LATEST_CERTAINTY)
        return self._certainty

    def check_poolable(self, other: "JointBank") -> None:
        """Raise ParameterError unless the other bank has the same features and columns."""
        mine, theirs = self.features.frequencies, other.features.frequencies
        if not np.array_equal(mine, theirs) or (self.columns is None) != (other.columns is None):
            raise ParameterError("frequencies", "different", "the same in both models")

    def merge(self, other: "JointBank", common: "JointBank | None" = None) -> None:
        """Pool what another bank with the same features saw, what is in `common` once.

        Raises:
            ParameterError: they do not fit, or the other one has forgotten some of the common samples; nothing changes.
        """
        self.check_poolable(other)
        made = [process.copy() for process in self.processes]
        for place, (mine, theirs, member) in enumerate(zip(made, other.processes, MEMBERS, strict=True)):
            if member.memory == inf:  # the last seconds of a robot are its own
                mine.merge(theirs, None if common is None else common.processes[place])
        self.processes, self._certainty = made, None

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays."""
        state = {"seed": np.asarray(self.features.seed), "frequencies": self.features.frequencies.copy()}
        state["members"] = _members()
        for place, process in enumerate(self.processes):
            state |= nested(f"process_{place}", process.state())
        return state

    @classmethod
    def from_state(
        cls, state: Mapping[str, Any], n_joints: int, n_outputs: int, columns: BaseColumns | None, output_weights: str
    ) -> "JointBank":
        """Rebuild from `state`. Raises StateError."""
        with reading_state("a bank of joint processes"):
            frequencies = finite("frequencies", state["frequencies"])
            if not np.array_equal(finite("members", state["members"]), _members()):
                raise StateError("its processes have other regularizations or memories", name="members")
            made = cls(n_joints, n_outputs, columns, output_weights, 2 * len(frequencies), int(scalar(state, "seed")))
            if frequencies.shape != made.features.frequencies.shape:
                raise StateError(f"frequencies {frequencies.shape} do not fit {n_joints} joints", name="frequencies")
            made.features.frequencies = frequencies.copy()  # a change of generator must not change a model
            for place, fresh in enumerate(made.processes):
                made.processes[place] = fresh.restored(part(state, f"process_{place}"))
        return made


def _members() -> Array:
    """(n_members, 3): regularizations, rates at which members forget [1/s], and which features they have."""
    return np.array([(one.regularization, 1.0 / one.memory, one.every) for one in MEMBERS])
