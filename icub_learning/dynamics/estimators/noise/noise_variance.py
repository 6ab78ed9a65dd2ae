"""The noise of the measurements that a recursive learner predicts, and how much each output counts for it."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError
from icub_learning.models.declared import NOT_NEGATIVE, POSITIVE, VARIANCE, Declared, entries
from icub_learning.recursive.adaptive_forgetting import YOUNG

MEMORY_SAMPLES = 1000  # samples over which the mean runs, about
KINDS = ("noise", "equal")
FIRST_SAMPLES = 50  # samples before the noise is used: errors are first those of a model that knows nothing
INTERVAL = 16  # samples between two updates of the weights
DEAD = 1e-6  # weight of an output that tells nothing: it adds to no digit of what others tell
LARGEST = 100.0  # largest weight: an output without any noise must not silence the others


class NoiseVariance(Declared):
    """Running mean of the squared innovations, each divided by 1 + its leverage.

    For a linear model with noise variance s^2, the error of a prediction made before learning has the variance
    s^2 (1 + z^T A^-1 z); dividing by the bracket makes each squared error an estimate of s^2. The mean runs over a
    quarter of all samples at first, so that sample i of n counts by about (i / n)^3, and over MEMORY_SAMPLES later.

    Args:
        n_outputs: number of outputs, or (k, number of outputs) of k learners of the same samples.
    """

    STATE = entries(value=VARIANCE, n_samples=NOT_NEGATIVE)

    def __init__(self, n_outputs: int | tuple[int, ...]) -> None:
        self.n_samples = 0  # innovations so far
        self.value = np.full(n_outputs, np.inf)  # variance, in squared units of the outputs

    @property
    def known(self) -> Array:
        """The variance (n_outputs,), zero before the first innovation."""
        return self.value if self.n_samples else np.zeros_like(self.value)

    def update(self, innovation: Array, leverage: float | Array, share: float = 1.0) -> None:
        """Add one innovation (n_outputs,): the error of a prediction that had the given leverage."""
        self.add(innovation**2 / (1.0 + leverage), share)

    def add(self, estimate: Array, share: float = 1.0) -> None:
        """Add the estimate of the variance from one innovation, (n_outputs,): its square over 1 + its leverage. It
        counts by a share in [0, 1], see UsualSpeed."""
        self.n_samples += 1
        if self.n_samples == 1:
            self.value = estimate
        else:
            memory = min(max(YOUNG * self.n_samples, 1.0), MEMORY_SAMPLES)
            self.value = self.value + share / memory * (estimate - self.value)

    def merge(self, other: "NoiseVariance", n_common: int = 0) -> None:
        """Average both estimates by their numbers of samples; `n_common` of the other's are in this one, too."""
        if (fresh := other.n_samples - n_common) <= 0:
            return
        if self.n_samples:
            mine, theirs = (min(count, MEMORY_SAMPLES) for count in (self.n_samples, fresh))
            self.value = (mine * self.value + theirs * other.value) / (mine + theirs)
        else:
            self.value = other.value.copy()
        self.n_samples += fresh


class OutputNoise(Declared):
    """Noise of outputs that share the parameters of a model, and how much each output counts for these.

    Weights are in inverse proportion to the standard deviation of the noise, 1 for the noisiest output. With them the
    errors of all outputs have the same variance, as least squares supposes (Aitken 1935): forces of newtons no longer
    drown torques of hundredths of a newton metre. An output that has never changed, though others have, counts for
    nothing: its sensor is dead, or its driver reports no effort.

    Args:
        kind: "noise": as above, from the first samples on; "equal": weights of 1.
        n_outputs: number of outputs, or (k, number of outputs) of k learners of the same samples.

    Raises:
        ParameterError: an unknown kind.
    """

    STATE = entries(weights=POSITIVE)
    PARTS = ("noise",)

    def __init__(self, kind: str, n_outputs: int | tuple[int, ...]) -> None:
        if kind not in KINDS:
            raise ParameterError("output_weights", kind, " or ".join(map(repr, KINDS)))
        self._kind, self.noise = kind, NoiseVariance(n_outputs)
        self._first: Array | None = None  # (n_outputs,) the first measurement
        self._changed, self._all_changed = np.zeros(n_outputs, dtype=bool), False
        self.weights = np.ones(n_outputs)  # (n_outputs,) factors on the rows and measurements of each output

    @property
    def least_weights(self) -> Array:
        """Weights (n_outputs,) below which no sample has counted: 1, as they only grow from there, or DEAD."""
        return self.weights if self._kind == "equal" else np.minimum(self.weights, 1.0)

    def add(self, estimate: Array, measured: Array, share: float = 1.0) -> None:
        """Add the estimate of the variance from one sample, see NoiseVariance.add, and its measurement (n_outputs,)."""
        if self._first is None:  # after a restart, weights tell which outputs have changed before
            self._first, self._changed = measured.copy(), (self.weights > DEAD) & (self.noise.n_samples > 0)
        if not self._all_changed:
            self._changed = self._changed | (measured != self._first)
            self._all_changed = bool(self._changed.all())
        self.noise.add(estimate, share)
        n_samples, variance = self.noise.n_samples, self.noise.value
        if n_samples < FIRST_SAMPLES or n_samples % INTERVAL:
            return
        alive = self._changed | ~self._changed.any()  # all are, while nothing has changed at all
        weights = np.where(self.weights > DEAD, self.weights, 1.0)
        if self._kind == "noise":
            largest = np.where(alive, variance, 0.0).max(axis=-1, keepdims=True)
            known = np.maximum(variance, largest / LARGEST**2)
            weights = np.sqrt(np.divide(largest, known, out=weights**2, where=largest > 0.0))
        self.weights = np.where(alive, weights, DEAD)
