"""A limit to how fast predictions change, where they would jump more from sample to sample than measurements do."""

from math import copysign, expm1

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.prediction import Prediction

ROUGHEST = 1.25  # root mean squared difference of successive predictions over that of measurements
LIMITS = 1.3 * 2.0 ** np.arange(4.5, -0.1, -0.5)  # that are tried, in root mean squared rates of measurements
HALF_LIFE = 30.0  # [s] in which a difference loses half of its weight; friction changes sign once in seconds
RECENT = 0.2  # [s], the same for the rate that limits follow at once when a motion becomes faster
KNOWN_AFTER = 1.0  # [s] of measurements before a limit is chosen
LONGEST_STEP = 0.5  # [s] between two measurements whose difference counts, and without any until nothing is limited
JUMP = 10.0  # largest difference of measurements that one of predictions counts for
LATEST = 0.04  # [s] in which at most 1/e of a jump is left, whatever the limit
REST = 0.02  # share of the largest difference of measurements below which differences are those of a robot at rest
# Share of what is allowed below which an output no longer needs its limit, so that limits do not come and go.
CLEARLY = 0.8
LARGEST = 1e50  # of a prediction: squares of what is larger could overflow


class SmoothnessFilter:
    """Limits the rate of those outputs whose predictions are rougher than their measurements, as little as suffices.

    A controller that is given a predicted effort needs one that does not jump. Where friction changes its sign at once
    while the drive smooths what it reports, predictions jump more than measurements. For each output the mean squared
    differences between successive measurements are followed, and those between successive predictions as limits of
    their rate would leave them; the highest limit in use is one with which the latter's root is at most ROUGHEST times
    that of the former. Most outputs need none, and pass unchanged. A limit acts in jumps alone: unlike a low-pass
    filter it does not delay what changes no faster than measurements do. Of a jump that a limit would draw out, such as
    that to a model just learned, no more is left than a low-pass filter with time constant LATEST would leave.

    Args:
        n_outputs: m.

    Attributes:
        limits: (n_outputs,) on the rates of predictions, as multiples of the root mean squared rate of measurements;
            infinite: unchanged.
    """

    def __init__(self, n_outputs: int) -> None:
        self.limits: Array = np.full(n_outputs, np.inf)
        self._passes = True  # whether all of them are infinite
        # The rates themselves [1/s], in units of the outputs, of total and parametric part; and these, as published
        # last. Lists of floats: with so few numbers arrays would take longer than the rest of an answer.
        self._most = [0.0] * (2 * n_outputs)
        self._state: list[float] | None = None
        self._stamp = 0  # ns, of that
        # Fading sums of squared differences (n_outputs,): of measurements, and of predictions without a limit.
        self._of_measured, self._of_predicted = np.zeros(n_outputs), np.zeros(n_outputs)
        # The same under each limit (n_limits, n_outputs), while some output is rougher than its measurement.
        self._of_limited: Array | None = None
        self._steps = np.zeros(2)  # fading sums of the squares of time steps [s^2]: HALF_LIFE, RECENT
        self._count = 0.0  # of differences, fading
        self._largest = np.zeros(n_outputs)  # difference between measurements so far
        self._recent = np.zeros(n_outputs)  # as _of_measured, by RECENT
        self._rate = np.full(n_outputs, np.inf)  # of measurements: root mean square, or the recent one if larger
        self._predicted: Array | None = None  # the newest prediction (n_outputs,)
        self._limited = np.zeros(0)  # the same under each limit (n_limits, n_outputs)
        self._measured = np.zeros(n_outputs)
        self._measured_stamp = 0  # ns
        self._seconds = 0.0  # of measurements so far

    def report(self) -> dict[str, Array]:
        """Return what is done to each output, for people, by what it is."""
        return {"limits of predicted rates, over measured ones": self.limits}

    def reset(self) -> None:
        """Begin anew with the next prediction; what is known of roughness stays."""
        self._state = self._predicted = None

    def filtered(self, stamp: int, made: Prediction) -> Prediction:
        """Return the prediction for `stamp` [ns] with its rates limited."""
        if self._passes or (stamp - self._measured_stamp) * 1e-9 > LONGEST_STEP:
            self._state = None
            return made
        values = [*made.total.tolist(), *made.parametric.tolist()]
        if self._state is not None:
            elapsed = max((stamp - self._stamp) * 1e-9, 0.0)
            kept = _kept(elapsed)
            for place, (old, new, rate) in enumerate(zip(self._state, values, self._most, strict=True)):
                change = abs(new - old)
                if change > (most := max(rate * elapsed, change * kept)):
                    values[place] = old + copysign(most, new - old)
        self._state, self._stamp = values, stamp
        total, parametric = np.array(values).reshape(2, -1)
        return Prediction(total, parametric, total - parametric, lambda: made.variance)

    def follow(self, stamp: int, made: Prediction, measured: Array) -> None:
        """Learn how rough measurements and predictions are.

        Args:
            stamp: time of the joint state that both belong to [ns]; if it goes back, differences begin anew.
            made: the prediction for it, as it was before `filtered`.
            measured: (n_outputs,).
        """
        predicted = made.total
        elapsed = (stamp - self._measured_stamp) * 1e-9
        change, self._measured, self._measured_stamp = measured - self._measured, measured, stamp
        before = self._predicted
        if not (np.abs(predicted) <= LARGEST).all():  # not finite either
            self._predicted = None
            return
        self._predicted = predicted
        if before is None or not 0.0 < elapsed <= LONGEST_STEP:
            self._limited = np.repeat(predicted[None], len(LIMITS), axis=0)  # they begin anew, too
            return
        keep, keep_recent = 0.5 ** (elapsed / HALF_LIFE), 0.5 ** (elapsed / RECENT)
        square = change * change
        self._largest = np.maximum(self._largest, np.abs(change))
        # One prediction far beyond all that was measured would otherwise count for many minutes.
        jump = np.minimum(np.abs(predicted - before), JUMP * self._largest)
        self._of_measured = keep * self._of_measured + square
        self._of_predicted = keep * self._of_predicted + jump * jump
        self._recent = keep_recent * self._recent + square
        self._steps = self._steps * (keep, keep_recent) + elapsed**2
        self._count = keep * self._count + 1.0
        self._seconds += elapsed
        if self._seconds < KNOWN_AFTER:
            return
        allowed = ROUGHEST**2 * (self._of_measured + self._count * (REST * self._largest) ** 2)
        smooth = self._of_predicted <= (1.0 if self._of_limited is None else CLEARLY) * allowed
        if smooth.all():
            self._passes, self._of_limited = True, None
            self.limits = np.full_like(self._of_measured, np.inf)
        else:
            self._follow_limits(before, predicted, allowed, elapsed, keep)
            self._choose(smooth, allowed)

    def _follow_limits(self, before: Array, predicted: Array, allowed: Array, elapsed: float, keep: float) -> None:
        """Follow how rough predictions would be under each limit; all arrays are (n_outputs,)."""
        if self._of_limited is None:  # of limits nothing is known yet: begin with the highest, which changes least
            self._of_limited = np.repeat(np.minimum(self._of_predicted, allowed)[None], len(LIMITS), axis=0)
            self._limited = np.repeat(before[None], len(LIMITS), axis=0)
        usual, recent = self._of_measured / self._steps[0], self._recent / self._steps[1]
        self._rate = np.maximum(np.sqrt(np.maximum(usual, recent)), REST * self._largest / elapsed)
        largest = JUMP * self._largest
        step = _step(np.clip(predicted - self._limited, -largest, largest), LIMITS[:, None] * self._rate, elapsed)
        self._limited += step
        self._of_limited = keep * self._of_limited + step * step

    def _choose(self, smooth: NDArray[np.bool_], allowed: Array) -> None:
        """Choose the highest limit that suffices, or the lowest; none for outputs that are `smooth`, (n_outputs,)."""
        assert self._of_limited is not None
        suffices = self._of_limited <= allowed
        suffices[-1] = True
        chosen = LIMITS[suffices.argmax(axis=0)]
        self.limits = np.where(smooth, np.inf, chosen)
        self._most = 2 * np.where(smooth, np.finfo(float).max, chosen * self._rate).tolist()
        self._passes = False


def _step(wanted: Array, rates: Array, elapsed: float) -> Array:
    """Return what limited rates make in a time [s] of the changes that are `wanted` (..., n_outputs)."""
    most = np.maximum(rates * elapsed, np.abs(wanted) * _kept(elapsed))
    result: Array = np.clip(wanted, -most, most)
    return result


def _kept(elapsed: float) -> float:
    """Return the share of a change that a low-pass filter with time constant LATEST lets through in a time [s]."""
    return -expm1(-elapsed / LATEST)
