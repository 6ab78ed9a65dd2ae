"""A small bank of models: one of all samples, and some of the last seconds."""

from collections.abc import Mapping
from math import exp, inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite, integer
from icub_learning.dynamics.estimators.noise.noise_variance import MEMORY_SAMPLES, OutputNoise
from icub_learning.dynamics.estimators.prediction import USUAL_PERIOD
from icub_learning.dynamics.joint import _experts, _joint
from icub_learning.dynamics.joint.columns import BaseColumns
from icub_learning.dynamics.joint.process import BodyCertainty, JointProcess, ProcessCertainty, of_same_size
from icub_learning.errors import ParameterError, StateError
from icub_learning.features import MultiscaleFourierFeatures
from icub_learning.models import nested, part
from icub_learning.recursive import RecursiveLeastSquares
from icub_learning.recursive.checks import faded

# Regularization of the features, beside rigid bodies. Chosen on three real recordings, six robots of the zoo and the
# change of task with seeds 0 to 5, see docs/decisions/2026-11-24-one-model.md.
REGULARIZATION = 0.01
# Length scales of the kernels in multiples of INPUT_SCALES, a factor of three apart: short ones for what changes within
# degrees, long ones for what turns with the whole arm.
LENGTH_SCALES = (0.7, 2.0, 6.0)
# What counts as one unit of position, velocity and acceleration: rad, rad/s, rad/s^2 (m, ... for prismatic joints).
# Physical units instead of the spread of the first samples: a joint that hardly moves stays small among the inputs,
# learning starts with the first sample, and robots that learn apart can always pool what they learned.
INPUT_SCALES = (1.0, 1.0, 5.0)
# A memory [s] is the time in which the weight of a sample falls to 1/e; samples further apart than USUAL_PERIOD count
# as that far apart. Chosen on four real recordings and the change of task, see docs/decisions/2026-11-24-one-model.md,
# 2026-11-26-bodies-of-the-last-seconds.md and 2026-11-27-signals-without-noise.md.
# Memory [s] and regularization of each model of features: one for simple structure, one that hardly doubts the data.
FEATURES = ((2.0, 10.0), (0.05, 1e-5))
FEATURES_EVERY = 18  # one frequency in FEATURES_EVERY is learned: what is learned in seconds is simple
# Memory [s] of each model of rigid bodies, and its regularization over that of the model of all samples: the body of
# the moment may be far from the expected one, that of the last seconds stays near it until there is evidence.
BODIES = ((0.1, 0.1), (5.0, 10.0))
# Share of all samples that lies between two snapshots of the first factor, because leverages fall ever more slowly; but
# never more than MEMORY_SAMPLES, over which the noise is averaged, nor fewer than the same share of these.
CERTAINTY_SHARE = 0.02


def features_in_use(n_random_features: int) -> int:
    """Return how many features a bank uses: the same number of cosines and sines, at least one, of each scale."""
    return 2 * len(LENGTH_SCALES) * max(1, n_random_features // (2 * len(LENGTH_SCALES)))


class BankWeights(NamedTuple):
    """The part of what the bank has learned that predictions need."""

    maps: Array  # weights of all features, (2 for NP and SP or 1 for NP, n_outputs, n_features), see JointProcess.maps
    recent: tuple[NDArray[np.intp], Array]  # indices of recent features, weights (k, n_outputs, n_places)
    scale: float  # factor on these features, which gives them unit norm
    parameters: Array | None  # (2 + n_bodies, n_parameters): P, SP, each recent body; None without rigid bodies


class JointBank:
    """Learns the same samples by features beside rigid bodies, by features alone, and by rigid bodies alone.

    The first, a JointProcess, forgets nothing by itself. The others know the last seconds, each with a shorter and a
    longer memory: features of every FEATURES_EVERY-th frequency, scaled to unit norm, and rigid bodies. These are
    generalized least squares of the base parameters: the limit of JointProcess for infinite regularization. Without
    rigid bodies there are features only.

    Args:
        n_joints, n_outputs: numbers of joints and outputs.
        columns: columns of the rigid bodies, and the prior of their coefficients; None for features alone.
        output_weights: how much each output counts for the parameters, see OutputNoise.
        n_random_features: number of features of all length scales together; cosines first, then sines.
        seed: seed of the random features.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self, n_joints: int, n_outputs: int, columns: BaseColumns | None, output_weights: str,
        n_random_features: int, seed: int,
    ) -> None:  # fmt: skip
        if integer("n_random_features", n_random_features, 2) % 2:
            raise ParameterError("n_random_features", n_random_features, "even: a cosine and a sine for each frequency")
        n_features, scales = features_in_use(n_random_features), np.repeat(INPUT_SCALES, n_joints)
        self.features = MultiscaleFourierFeatures(scales, n_features // len(LENGTH_SCALES), LENGTH_SCALES, seed)
        self._columns = columns
        self.lasting = JointProcess(columns, n_outputs, n_features, REGULARIZATION, output_weights)  # of all samples
        half = n_features // 2
        chosen = np.arange(0, half, FEATURES_EVERY)
        self._places: NDArray[np.intp] = np.concatenate([chosen, half + chosen])
        self._scale = sqrt(half / len(chosen))
        self._few = [RecursiveLeastSquares(len(self._places), n_outputs, prior) for _, prior in FEATURES]
        known = () if columns is None else BODIES
        self._settings = FEATURES + known
        self._memories = [memory for memory, _ in self._settings]  # [s] of features, then of bodies
        self._bodies = [RecursiveLeastSquares(len(columns.kept), 1, prior) for _, prior in known if columns is not None]
        # Noise of the models of features, which weigh all outputs alike, then of those of bodies.
        self._outputs = OutputNoise(output_weights, (len(self._memories), n_outputs))
        self._certainty: ProcessCertainty | None = None
        self._next_certainty = 0  # number of samples at which the next snapshot is due

    @property
    def experts(self) -> list[tuple[str, float]]:
        """Name of each expert and its memory [s], in the order in which JointPredictor predicts."""
        lasting = ("NP",) if self._columns is None else ("P", "NP", "SP")
        recent = zip(["NP"] * len(self._few) + ["P"] * len(self._bodies), self._memories, strict=True)
        return [(kind, inf) for kind in lasting] + [(f"{kind} {memory:g} s", memory) for kind, memory in recent]

    def learn(
        self, phi: Array, rows: Array | None, y: Array, elapsed: float, forgetting: float, count: int, share: float
    ) -> None:
        """Learn one sample, `elapsed` [s] after the last, see JointProcess.

        `rows` (n_outputs, n_parameters) are the regressor's, None without rigid bodies. In all models the past
        fades by `forgetting`, in (0, 1], besides their own memories.
        """
        columns = self._columns
        base = None if rows is None or columns is None else columns.of(rows)
        self.lasting.learn(phi, base, y, forgetting, count, share)
        counted = min(elapsed, count * USUAL_PERIOD)
        for learner, memory in zip((*self._few, *self._bodies), self._memories, strict=True):
            learner.forgetting = faded(forgetting * exp(-counted / memory))
        features, bodies = (tuple([one.ahead() for one in learners]) for learners in (self._few, self._bodies))
        weights, estimates = self._outputs.weights[len(FEATURES) :], np.empty_like(self._outputs.weights)
        memory_of = None if columns is None else columns.memory
        _joint.learn_recent(
            estimates, features, (self._places,), bodies, memory_of, phi, base, y, weights, self._scale, sqrt(count)
        )
        self._outputs.add(estimates, y, share)

    def weights(self, parametric: Array | None) -> BankWeights:
        """Return what predictions need; `parametric` (n_parameters,): parameters of P, None without rigid bodies."""
        sets = None
        if self._columns is not None and parametric is not None:
            gammas = (self.lasting.gamma, *(body.padded_weights[0] for body in self._bodies))
            sets = np.empty((1 + len(gammas), len(parametric)))
            sets[0] = parametric
            _experts.parameters(sets[1:], self._columns.start, self._columns.back, gammas)
        recent = np.array([few.live_weights for few in self._few])
        return BankWeights(self.lasting.maps(), (self._places, recent), self._scale, sets)

    def certainty(self, live: bool = False) -> tuple[ProcessCertainty, list[ProcessCertainty], list[BodyCertainty]]:
        """Return the certainties of the lasting model, of the recent features and of the recent bodies.

        They are snapshots for another thread, the first some samples old, or, with `live`, valid until the next sample.
        """
        triangles = [body.memory[0] if live else body.memory[0].copy() for body in self._bodies]
        weights, noise = self._outputs.weights[len(FEATURES) :], self._outputs.noise.known
        bodies = list(map(BodyCertainty, triangles, weights, noise[len(FEATURES) :]))
        factors = [few if live else few.certainty() for few in self._few]
        few = [ProcessCertainty(factor, None, np.empty(0), None, s) for factor, s in zip(factors, noise, strict=False)]
        if live:
            return self.lasting.certainty(live), few, bodies
        n = self.lasting.n_samples
        if self._certainty is None or n >= self._next_certainty:
            self._certainty = self.lasting.certainty()
            self._next_certainty = n + min(round(CERTAINTY_SHARE * max(n, MEMORY_SAMPLES)), MEMORY_SAMPLES)
        return self._certainty, few, bodies

    def merge(self, other: "JointBank", common: "JointBank | None") -> None:
        """Pool the samples of another bank with the same features, those of `common` once, but not the last seconds.

        Raises ParameterError: the banks do not fit, or the other has forgotten common samples; nothing changes then.
        """
        mine, theirs = self.features.frequencies, other.features.frequencies
        if not np.array_equal(mine, theirs) or (self._columns is None) != (other._columns is None):
            raise ParameterError("frequencies", "different", "the same in both models")
        made = self.lasting.restored(self.lasting.state())
        made.merge(other.lasting, None if common is None else common.lasting)
        self.lasting, self._certainty = made, None

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `restore`."""
        recent = {"memories": np.array(self._settings)} | self._outputs.state()
        for kind, learners in (("features", self._few), ("body", self._bodies)):
            for place, learner in enumerate(learners):
                recent |= nested(f"{kind}_{place}", learner.state())
        state = {"seed": np.asarray(self.features.seed), "frequencies": self.features.frequencies.copy()}
        return state | nested("lasting", self.lasting.state()) | nested("recent", recent)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what a bank of the same sizes has saved. Raises StateError."""
        frequencies, recent = finite("frequencies", state["frequencies"]), part(state, "recent")
        if frequencies.shape != self.features.frequencies.shape:
            raise StateError(f"frequencies {frequencies.shape} do not fit the joints", name="frequencies")
        if not np.array_equal(finite("memories", recent["memories"]), self._settings):
            raise StateError("what it learned has other regularizations or memories", name="memories")
        self.features.frequencies = frequencies.copy()  # a change of generator must not change a model
        self.lasting = self.lasting.restored(part(state, "lasting"))
        self._few = [of_same_size(few, part(recent, f"features_{i}")) for i, few in enumerate(self._few)]
        self._bodies = [of_same_size(body, part(recent, f"body_{i}")) for i, body in enumerate(self._bodies)]
        self._outputs = self._outputs.restored(recent)
