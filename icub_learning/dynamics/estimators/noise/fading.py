"""Fading means: of signals and errors, with time, the first ones sooner; of leverages, with what is forgotten."""

from copy import deepcopy
from math import hypot
from typing import TypeVar

import numpy as np
from scipy.special import chdtri

from icub_learning.arrays import Array
from icub_learning.dynamics.motion.joint_states import LARGEST
from icub_learning.models.declared import ANY, NOT_NEGATIVE, Declared, entries
from icub_learning.recursive.adaptive_forgetting import YOUNG

HALF_LIFE = 30.0  # [s] half-life of what is known of signals, of their differences and of errors
LEAST = 1e-300  # value in place of a variance or a leverage of 0
MOVING = 0.1  # least squared speed, over the usual one, of a sample that counts in full: rests have thousandths
REST = 1e-2  # least leverage times number of samples: a rest, which tells nothing of an output, must not be usual
FadingT = TypeVar("FadingT", bound="FadingMean")


def fade(elapsed: float, age: float, half_life: float) -> float:
    """Return the factor by which the weight of samples falls in `elapsed` [s], `age` [s] after the first sample."""
    return float(0.5 ** (elapsed / min(half_life, YOUNG * age)))


class FadingMean(Declared):
    """A mean over samples of which each loses half of its weight in some time; nothing is known before the first."""

    STATE = entries(weight=NOT_NEGATIVE, age=NOT_NEGATIVE)

    def __init__(self) -> None:
        self._weight = 0.0  # sum of the weights of all samples
        self._age = 0.0  # [s] since the first sample

    def _count(self, elapsed: float, half_life: float, share: float = 1.0) -> float:
        """Count a sample, `elapsed` [s] after the last; earlier ones lose half of their weight in `half_life` [s]. With
        a share below 1, in (0, 1], the sample and the time since the last one count as so much less. Return the factor
        on the weight of earlier ones."""
        self._age += share * elapsed
        factor = fade(share * elapsed, self._age, half_life)
        self._weight = factor * self._weight + share
        return factor

    def merge(self: FadingT, other: FadingT) -> None:
        """Take over what another one knows if nothing is known yet: what one has seen lately itself tells more."""
        if not self._weight:
            vars(self).update(deepcopy(vars(other)))


class SignalVariance(FadingMean):
    """Mean squares of the functions that learners approximate: the error to expect where nothing near was learned.

    A learner with weights w of N(0, s^2) for features z with z'z = 1 expects s^2 for the square of its function before
    it learns anything, and s^2 n(z) for its squared error afterwards, where n(z) = r z' A^-1 z is the share of z
    outside of what was learned under the regularization r (Rasmussen and Williams, "Gaussian processes for machine
    learning", 2006, eq. 2.11 with r = noise variance / s^2). s^2 is found from the targets, as in empirical Bayes."""

    STATE = entries(**FadingMean.STATE, value=NOT_NEGATIVE)

    def __init__(self, n_targets: int) -> None:
        super().__init__()
        self.value = np.zeros(n_targets)  # mean squares, in squared units of the targets

    def update(self, targets: Array, elapsed: float) -> None:
        """Take the targets (k,) of one sample, `elapsed` s after the last."""
        self._count(elapsed, HALF_LIFE)
        self.value = self.value + (targets * targets - self.value) / self._weight


class UsualSpeed(FadingMean):
    """Mean squared speed of a robot while it moves: samples at rest count little, so that rests do not lower it."""

    STATE = entries(**FadingMean.STATE, square=NOT_NEGATIVE)

    def __init__(self) -> None:
        super().__init__()
        self._square = 0.0

    def share(self, velocity: Array) -> float:
        """Return how much a sample with this velocity (n_joints,) counts, 0 to 1, here and where noise is learned."""
        usual = MOVING * self._square
        return min(min(hypot(*velocity.tolist()), LARGEST) ** 2 / usual, 1.0) if usual > LEAST else 1.0

    def update(self, velocity: Array, share: float, elapsed: float) -> None:
        """Take the velocity (n_joints,) of one sample, its share, and the time since the last one [s]."""
        if share:
            self._count(elapsed, HALF_LIFE, share)
            self._square += share * (min(hypot(*velocity.tolist()), LARGEST) ** 2 - self._square) / self._weight


class LateMotion(FadingMean):
    """What predictions (m,) change by once their motion is known from later samples too, where that is no usual noise.

    Where a robot starts, stops, or its acceleration jumps, causal filters find the acceleration some hundredths of a
    second late, and errors then look like those of a push. They are rare and large, in contrast to noise. So the
    largest square counts, which fades as a mean does, beyond that which normal noise of the same mean square exceeds
    once in `half_life` [s]. One change comes each `interval` [s].
    """

    def __init__(self, n_outputs: int, interval: float, half_life: float) -> None:
        super().__init__()
        self._mean, self._largest = np.zeros((2, n_outputs))
        self._times, self._bound = (interval, half_life), float(chdtri(1, interval / half_life))

    def update(self, square: Array) -> None:
        """Take the squared change (m,) of one prediction, at rest too: there these errors fade, as none are made."""
        factor = self._count(*self._times)
        self._mean = self._mean + (square - self._mean) / self._weight
        self._largest = np.maximum(square, factor * self._largest)

    @property
    def variance(self) -> Array:
        """Variance (m,) of the errors that predictions make because a causal filter finds accelerations late."""
        return np.maximum(self._largest - self._bound * self._mean, 0.0)


class UsualLeverage(Declared):
    """Geometric mean of the leverages of past samples, each as if as many samples had been learned then as now.

    Where a model lacks something, its errors come back with each repetition of a motion: a thousand repetitions tell no
    more about the parameters than one. The leverage, which counts samples as independent, is then too low for a new
    motion; but over the usual one it says how much less the samples tell about it than about the usual motions, whose
    errors are known. A second of a new motion, of thousandfold leverage, does not become usual."""

    STATE = entries(mean=ANY, weight=NOT_NEGATIVE)

    def __init__(self, n_outputs: int) -> None:
        self._mean = np.zeros(n_outputs)  # running mean of log(leverage * number of samples)
        self._weight = 0.0  # sum of the weights of all samples, which fade

    @property
    def value(self) -> Array:
        """Leverage (m,) that is usual at present; infinite before the first sample."""
        return np.exp(self._mean) / self._weight if self._weight else np.full(len(self._mean), np.inf)

    def update(self, leverages: Array, forgetting: float) -> None:
        """Take the leverages (m,) of one sample before it was learned; past ones fade by `forgetting`, in (0, 1]."""
        self._weight = forgetting * self._weight + 1.0
        self._mean = self._mean + (np.log(np.maximum(self._weight * leverages, REST)) - self._mean) / self._weight

    def merge(self, other: "UsualLeverage") -> None:
        """Take the samples of another one too."""
        if weight := self._weight + other._weight:
            self._mean = (self._weight * self._mean + other._weight * other._mean) / weight
            self._weight = weight


def unlearned_share(leverages: Array, usual: Array) -> Array:
    """Return the variance (m,) of what was not learned of a motion over that of the errors in usual motions.

    That is the leverage (m,), as for independent samples, or its ratio to the `usual` one, less 1, as for errors that
    come back with the motion; the larger one, as errors do not tell of which kind they are."""
    return np.maximum(leverages, leverages / np.maximum(usual, LEAST) - 1.0)
