"""Forgetting that adapts itself: nothing is forgotten until errors show that what is learned has changed."""

import numpy as np

from icub_learning.arrays import Array, integer, real
from icub_learning.models.declared import ANY, NOT_NEGATIVE, Declared, entries

SPAN = 0.5  # [s] averaging time of squared errors, which on robots are correlated over some tenths of a second
HALF_LIFE = 120.0  # [s] half-life of the usual level of errors
YOUNG = 0.25  # largest half-life, or memory, as a share of the age: large errors at the start are soon forgotten
WARM_UP = 20  # spans before an alarm is possible
SLACK = 0.5  # [standard deviations] excess over the usual level that errors may have for any length of time
LIMIT = 12.0  # cumulative sum that raises an alarm; errors without change exceed it once in days
LARGEST = 6.0  # [standard deviations] most that a single span counts
NARROWEST = 0.05  # least standard deviation that the logarithm of the mean square is taken to have
FAMILIAR = 0.5  # leverage at which an error counts half: errors in new motions say little about change
SHORTEST, LONGEST = 1.0, 60.0  # [s] memory just after a large change, and just after a small one
GROWTH = 0.5  # [s/s] growth of the memory after a change
ENOUGH = 600.0  # [s] memory at which forgetting ends


class AdaptiveForgetting(Declared):
    """Finds changes by a cumulative sum of errors, and returns the forgetting factor of each new sample.

    Squared errors, each divided by 1 + its leverage, which enlarges the error of a correct model, are averaged over
    SPAN. Their logarithm less its usual value, in standard deviations, goes into a one-sided cumulative sum (Page,
    "Continuous inspection schemes", 1954) with SLACK and LIMIT. For independent normal spans, which the real ones
    resemble, the mean time between false alarms is about exp(2 SLACK LIMIT) spans: 23 hours (Siegmund, "Sequential
    Analysis", 1985, eq. 2.52, without the correction for overshoot, which lengthens it).

    After an alarm the memory is short, the shorter the larger the change, and grows with time: what was learned before
    the change fades as a power of the time since then, and soon nothing is forgotten again.

    Errors of `n_outputs` outputs are watched together; `changes` is the number of changes so far.
    """

    STATE = entries(
        **dict.fromkeys(("changes", "rate", "weight", "elapsed", "variance", "spans", "sum"), NOT_NEGATIVE),
        squares=ANY, mean=ANY,
    )  # fmt: skip

    def __init__(self, n_outputs: int) -> None:
        self.n_outputs = integer("n_outputs", n_outputs, 1)
        self.changes = 0
        self._rate = 0.0  # [1/s] rate at which the past fades; saved itself, so that restoring it is exact to the bit
        self._squares, self._weight, self._elapsed = np.zeros(n_outputs), 0.0, 0.0
        self._restart()

    def _restart(self) -> None:
        self._mean, self._variance, self._spans, self._sum = np.zeros(self.n_outputs), 1.0, 0, 0.0

    @property
    def memory(self) -> float:
        """Time [s] in which the weight of the past falls to 1/e at this rate; infinite while nothing is forgotten."""
        return 1.0 / self._rate if self._rate else np.inf

    def follow(self, errors: Array, leverage: float | Array, elapsed: float) -> float:
        """Return the forgetting factor after the errors (n_outputs,) of one more prediction, made before learning.

        The leverage of the prediction is one number or (n_outputs,); `elapsed` is the time since the last errors [s].
        """
        mean = leverage if isinstance(leverage, float) else leverage.mean()
        trust = 1.0 / (1.0 + mean / FAMILIAR)
        self._squares += trust * errors**2 / (1.0 + leverage)
        self._weight += trust
        self._elapsed += elapsed
        if self._elapsed >= SPAN:
            self._judge(self._squares / self._weight)
            self._squares, self._weight, self._elapsed = np.zeros(self.n_outputs), 0.0, 0.0
        if not self._rate:
            return 1.0
        factor, memory = float(np.exp(-elapsed * self._rate)), self.memory + GROWTH * elapsed
        self._rate = 1.0 / memory if memory <= ENOUGH else 0.0
        return factor

    def change(self, ratio: float) -> None:
        """Raise forgetting at once, since the body has changed: `ratio` is the mean squared error after over before."""
        excess = max(real("ratio", ratio, 0.0) - 1.0, 1e-6)
        self.changes += 1
        self._rate = 1.0 / min(self.memory, max(SHORTEST, min(10.0 / excess, LONGEST)))
        self._restart()

    def _judge(self, mean_squares: Array) -> None:
        level = np.log(np.maximum(mean_squares, 1e-300))
        difference = float(np.mean(level - self._mean)) if self._spans else 0.0
        deviation = max(float(np.sqrt(self._variance)), NARROWEST)
        if self._spans >= WARM_UP:
            self._sum = max(self._sum + min(difference / deviation, LARGEST) - SLACK, 0.0)
            if self._sum > LIMIT:
                self.change(float(np.exp(difference)))
                return
        self._spans += 1
        age = self._spans * SPAN
        step = 1.0 - 0.5 ** (SPAN / min(HALF_LIFE, max(YOUNG * age, SPAN)))
        if self._spans == 1:
            self._mean, self._variance = level, 1.0
            return
        if self._sum > LIMIT / 2:
            return  # a possible change must not enter the usual level
        self._mean = self._mean + step * (level - self._mean)
        self._variance += step * (difference**2 - self._variance)
