"""A limit to how fast predictions change, where they would jump more from sample to sample than measurements do."""

from math import expm1

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import _fading
from icub_learning.dynamics.estimators.noise.fading import HALF_LIFE
from icub_learning.dynamics.estimators.prediction import LARGEST, Prediction

ROUGHEST = 1.25  # root mean squared difference of successive predictions over that of measurements
LIMITS = 1.3 * 2.0 ** np.arange(4.5, -0.1, -0.5)  # that are tried, in root mean squared rates of measurements
RECENT = 0.2  # [s], the same for the rate that limits follow at once when a motion becomes faster
KNOWN_AFTER = 1.0  # [s] of measurements before a limit is chosen
LONGEST_STEP = 0.5  # [s] between two measurements whose difference counts, and without any until nothing is limited
JUMP = 10.0  # largest difference of measurements that one of predictions counts for
LATEST = 0.04  # [s] in which at most 1/e of a jump is left, whatever the limit
REST = 0.02  # share of the largest difference of measurements below which differences are those of a robot at rest
# An output no longer needs its limit below this share of what is allowed, so that limits do not come and go.
CLEARLY = np.reciprocal(ROUGHEST)
NUMBERS = np.array([ROUGHEST, REST, JUMP, CLEARLY, HALF_LIFE, RECENT, LATEST])  # as the compiled step takes them


class SmoothnessFilter:
    """Limits the rate of those outputs whose predictions are rougher than their measurements, as little as suffices.

    Where friction changes its sign at once while the drive smooths what it reports, predictions jump more than
    measurements. For each output the mean squared differences between successive measurements are followed, and those
    between successive predictions as limits of their rate would leave them; the highest limit in use is one with which
    the latter's root is at most ROUGHEST times that of the former. A limit acts in jumps alone: it does not delay what
    changes no faster than measurements do. Of a jump that a limit would draw out no more is left than a low-pass filter
    with time constant LATEST would leave.

    Args:
        n_outputs: m.

    Attributes:
        limits: (n_outputs,) on the rates of predictions, as multiples of the root mean squared rate of measurements;
            infinite: unchanged.
    """

    def __init__(self, n_outputs: int) -> None:
        self.limits: Array = np.full(n_outputs, np.inf)
        self._passes = True  # whether all of them are infinite
        self._rates = np.zeros(n_outputs)  # the same as rates [1/s], in units of the outputs
        self._published: Array | None = None  # total and parametric part (2, n_outputs) as published last
        self._stamp = 0  # ns, of that
        # Fading sums (4, n_outputs) of squared differences of measurements, by HALF_LIFE (friction changes sign once in
        # seconds) and RECENT, and of predictions without a limit; the largest difference between measurements so far.
        self._sums = np.zeros((4, n_outputs))
        # Fading sums of squared time steps [s^2], by HALF_LIFE and RECENT; count of differences, which fades too.
        self._totals = np.zeros(3)
        # Predictions under each limit, and sums of their squared differences, while some output is rougher than its
        # measurement (2, n_limits, n_outputs).
        self._limited = np.zeros((2, len(LIMITS), n_outputs))
        self._predicted: Array | None = None  # the newest prediction (n_outputs,)
        self._measured = np.zeros(n_outputs)
        self._measured_stamp = 0  # ns
        self._seconds = 0.0  # of measurements so far

    def reset(self) -> None:
        """Begin anew with the next prediction; what is known of roughness stays."""
        self._published = self._predicted = None

    def filtered(self, stamp: int, made: Prediction) -> Prediction:
        """Return the prediction for `stamp` [ns] with its rates limited."""
        if self._passes or (stamp - self._measured_stamp) * 1e-9 > LONGEST_STEP:
            self._published = None
            return made
        published = np.array([made.total, made.parametric], dtype=np.float64)
        if self._published is not None:
            elapsed = max((stamp - self._stamp) * 1e-9, 0.0)
            kept = -expm1(-elapsed / LATEST)
            _fading.limit(published, self._published, self._rates, len(self._rates), elapsed, kept)
        self._published, self._stamp = published, stamp
        total, parametric = published
        return Prediction(total, parametric, total - parametric, lambda: made.variance)

    def follow(self, stamp: int, made: Prediction, measured: Array) -> None:
        """Learn how rough measurements (n_outputs,) and predictions, as made before `filtered`, are.

        Both belong to the joint state of `stamp` [ns]; if that goes back, differences begin anew.
        """
        predicted, before, last = np.ascontiguousarray(made.total, dtype=np.float64), self._predicted, self._measured
        elapsed = (stamp - self._measured_stamp) * 1e-9
        measured = np.ascontiguousarray(measured, dtype=np.float64)
        self._measured, self._measured_stamp = measured, stamp
        if not np.abs(predicted).max() <= LARGEST:  # not finite either
            self._predicted = None
            return
        self._predicted = predicted
        if before is None or not 0.0 < elapsed <= LONGEST_STEP:
            self._limited[0] = predicted  # they begin anew, too
            return
        self._seconds += elapsed
        known = self._sums, self._totals, self._limited, self.limits, self._rates
        limited = _fading.smoothen(
            *known, predicted, before, measured, last, LIMITS, NUMBERS, len(measured), len(LIMITS), elapsed,
            self._seconds >= KNOWN_AFTER, not self._passes,
        )  # fmt: skip
        self._passes = not limited
