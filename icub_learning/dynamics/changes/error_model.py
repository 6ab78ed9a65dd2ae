"""What the errors of a learned model are like while nothing has changed: noise, and errors that last for a while."""

from dataclasses import dataclass
from math import exp, inf, isfinite

import numpy as np
from scipy.linalg import block_diag
from scipy.special import chdtri

from icub_learning.arrays import Array
from icub_learning.dynamics.changes import _evidence
from icub_learning.dynamics.estimators.noise.fading import HALF_LIFE, fade
from icub_learning.dynamics.estimators.prediction import USUAL_PERIOD

BLOCK = USUAL_PERIOD  # [s] length of a block of samples, which are averaged at rates above its inverse
NEW = 0.2  # [s] correlation time of errors while the motion is new
SLOW = 10.0  # [s] errors that last longer count as offsets; also how long errors are learned before they are judged
NEAR, FAR = 2, 10  # [blocks] lags at which errors that last are told from noise
FLOOR = 1e-4  # least value of each part of the variance, relative to the whole
RARE = 0.01  # probability below which something is not taken for chance, wherever errors are judged
LEAST_SCALE = 1.3  # least scale of the covariances: found from some tens of seconds, they are uncertain


class ErrorModel:
    """Mean errors (m,) of blocks, e = fast + slow + noise: what lasts for tenths of a second, offsets, and white noise.

    The lasting parts are processes whose correlation fades exponentially (Ornstein and Uhlenbeck). All parts have full
    covariances over the outputs, found from the covariances of the errors at lags 0, NEAR and FAR, and from their mean
    over SLOW seconds. A Kalman filter tells the parts apart; its innovations are white, so that a change can be seen in
    them (Willsky and Jones, "A generalized likelihood ratio approach to the detection and estimation of jumps in
    linear systems", 1976). Errors of robots have heavier tails than a Gaussian: a scale of all covariances follows
    them, so that the share RARE of the squared innovations lies beyond the bound beyond which RARE should.

    Where a motion is new, errors of the model are larger than usual and last until it has been learned. The offsets
    then change like a process of Ornstein and Uhlenbeck with the variance by which the model's prediction exceeds the
    usual one, and a correlation time of NEW; where that variance rises or falls, by as much as it does.

    Attributes:
        fast, slow, noise: (m, m) covariances of the parts; the noise with what is too small to matter.
        deviation: (m,) standard deviations of the noise alone.
        scatter: (m,) scatter of the errors in a block, see Blocks.
        scale: factor on all of them, at least LEAST_SCALE.
        age: time [s] for which errors were seen in motion: blocks count by their shares."""

    def __init__(self, n_outputs: int) -> None:
        m = self.n_outputs = n_outputs
        self.age, self.scale = 0.0, LEAST_SCALE
        self._weight = 0.0  # sum of the fading weights of all blocks seen; the newest has weight 1
        self.scatter, self._told = np.zeros((2, m))  # the latter: variances that the body predicted
        self._moments = np.zeros((4, m, m))  # covariances at lags 0, NEAR, FAR; that of the mean over SLOW seconds
        self._slow_mean = np.zeros(m)
        self._past, self._work = np.zeros((FAR + 1, m)), np.empty((2, m))  # newest last
        self._bound = float(chdtri(m, RARE))  # scipy.stats.chi2 is the same, and takes half a second to import
        self._floor = np.zeros((m, m))  # covariance of what is too small to matter, and taken for noise
        self.fast, self.slow, self.noise = (np.eye(m) for _ in range(3))
        self.deviation = np.ones(m)
        self._kept = np.ones(2)  # shares of the fast and the slow part that are left after a block
        self._covariance, self._blocks = np.eye(2 * m), 0
        self._novel: Array | None = None  # (m,) variance that a new motion added to the last block; None: nothing

    def learn(self, error: Array, told: Array | None = None, scatter: Array | None = None, share: float = 1.0) -> None:
        """Learn from one block in which nothing had changed: its mean error, the variance that the body predicted, and
        the scatter of the errors in it, (m,) each. The block counts by a share in [0, 1], see UsualSpeed."""
        self.age += share * BLOCK
        self._weight = fade(share * BLOCK, self.age, HALF_LIFE) * self._weight + share
        way = share / self._weight  # of the block among all of them
        known = self._past, self._slow_mean, self._moments, self._work
        _evidence.remember(*known, error, self.n_outputs, NEAR, FAR, min(BLOCK / SLOW, BLOCK / self.age, 1.0), way)
        if told is not None and isfinite(told.sum()):
            self._told += way * (told - self._told)
        if scatter is not None:
            self.scatter += way * (scatter - self.scatter)
        self._blocks += 1
        if self._blocks % FAR == 0:
            self._decompose()

    def novelty(self, told: Array) -> Array | None:
        """Return by how much a predicted variance (m,) exceeds the usual one; None: nowhere, or it is not known."""
        more = told - self._told
        return np.maximum(more, 0.0) if 0.0 < more.max() < inf and self._told.min() > 0.0 else None

    def ignore(self, effects: Array) -> None:
        """Count as noise what a push too small to matter does to the next block; effects (m, n) of its n axes."""
        self._floor += (np.diag((effects**2).sum(axis=1)) - self._floor) / (self._blocks + 1)

    def _decompose(self) -> None:
        moments = (self._moments + self._moments.transpose(0, 2, 1)) / 2
        unit = np.sqrt(np.maximum(np.diagonal(moments[0]), 1e-300))
        units = np.multiply.outer(unit, unit)
        whole, near, far, slow = moments / units
        near_trace, far_trace = float(np.trace(near)), float(np.trace(far))
        lags = (FAR - NEAR) * BLOCK
        ratio = min(max(far_trace / near_trace, 0.05), 0.95) if near_trace > 1e-3 else 0.05
        time = -lags / np.log(ratio)  # [s] of the fast part
        fast, slow = _positive(np.stack([near * np.exp(NEAR * BLOCK / time), slow]), FLOOR)
        noise = _positive(whole - fast, FLOOR) * units
        self.fast, self.noise, self.slow = fast * units, noise + self._floor, slow * units
        self.deviation = np.sqrt(np.maximum(noise.diagonal(), FLOOR * self.noise.diagonal()))
        self._kept = np.exp([-BLOCK / time, -BLOCK / SLOW])

    def start(self) -> Array:
        """Return the state of a filter that knows nothing yet, (2 m,), and forget what filters knew."""
        self._covariance = block_diag(self.fast, self.slow)
        return np.zeros(2 * self.n_outputs)

    def step(
        self, novelty: Array | None = None, wandering: bool = True, passed: float = 1.0, fewer: float = 1.0,
        late: Array | float = 0.0,
    ) -> "Step":  # fmt: skip
        """Return the filter's step for the next block; its gain depends on the model alone, not on what is measured.

        Args:
            novelty: (m,), by how much the variance of the body's prediction exceeds the usual one; None: nowhere.
            wandering: whether offsets follow errors of a motion that is new; otherwise they count as noise.
            passed: periods since the block before, in which what lasts has faded: more than 1 where samples were lost.
            fewer: how many times fewer samples the block has than usual.
            late: (m,) variance of errors by a motion that is known late."""
        m = self.n_outputs
        gain, whole, root = np.empty((2 * m, m)), np.empty((m, m)), np.empty((m, m))
        kept, added = self._kept**passed, np.zeros((2, m))
        if not wandering:
            self._novel = None
            if novelty is not None:
                added[1] = novelty
        elif novelty is not None or self._novel is not None:
            added[0] = self._wandering(novelty)
        added[1] += late
        if fewer > 1.0:
            added[1] += self.more_noise(fewer)
        parts = self.fast, self.slow, self.noise
        _evidence.predict(self._covariance, gain, whole, root, kept, *parts, added, m, self.scale)
        return Step(kept, gain, whole, root)

    def more_noise(self, fewer: float) -> Array:
        """Return by how much the variance (m,) of a block's mean is larger where it has `fewer` times fewer samples. It
        is at least that of white noise: errors of single samples have tails that those in quiet moments do not show."""
        return self.scale * (fewer - 1.0) * np.maximum(self.scatter, self.noise.diagonal())

    def _wandering(self, novelty: Array | None) -> Array:
        """Return by what variance (m,) offsets change during one block, as a motion is new, or was learned just now."""
        before, now = (np.zeros(self.n_outputs) if one is None else one for one in (self._novel, novelty))
        self._novel = novelty
        return np.asarray(2.0 * BLOCK / NEW * now + np.abs(now - before))

    def follow_tail(self, squared: float, share: float = 1.0) -> None:
        """Adapt the scale to one squared innovation, whitened under the present scale, in which nothing had changed; it
        counts by a share in [0, 1]."""
        self.scale = max(self.scale * exp(share * BLOCK / NEW * (float(squared > self._bound) - RARE)), LEAST_SCALE)

    def spread(self, blocks: int) -> Array:
        """Return the covariance (m, m) of the mean error over a number of blocks, by the whole model."""
        return self.scale * (self.fast + self.slow + self.noise / blocks)


@dataclass(frozen=True)
class Step:
    """One step of the filter: the same for errors and for what a change would add to them."""

    kept: Array  # (2,) shares of the fast and the slow part that are left after it
    gain: Array  # (2 m, m) Kalman gain
    covariance: Array  # (m, m) of the innovations
    root: Array  # (m, m) R with R' R = covariance, which whitens the innovations; only its upper triangle is used

    def with_noise(self, variance: Array) -> "Step":
        """Return this step with additional noise of variance (m,) on the outputs."""
        root = np.empty_like(self.root)
        _evidence.factor(root, self.covariance, variance, len(root))
        return Step(self.kept, self.gain, self.covariance, root)

    def __call__(self, state: Array, columns: Array) -> tuple[Array, Array]:
        """Return the next state (2 m, c) and the whitened innovations (m, c) of columns (m, c)."""
        state, white = state.copy(), np.empty(columns.shape)
        _evidence.step(state, white, columns, self.kept, self.gain, self.root, *columns.shape)
        return state, white


class UnknownMotion:
    """Errors in a motion that the body does not know: as large as it predicts, and alike for NEW seconds.

    They are e = s z + n: s^2 are the variances that the body predicts beyond the usual ones, z a process of
    Ornstein and Uhlenbeck of unit variance with a correlation time of NEW for each output, and n noise with the
    covariance of the usual errors. Where the motion becomes known, s vanishes, and what was added to the errors shows.
    A Kalman filter finds the log likelihood of all errors (prediction error decomposition).

    Args:
        usual: (m, m) covariance of the usual errors of a block."""

    def __init__(self, usual: Array) -> None:
        self._usual, self._whitening = usual, np.linalg.inv(np.linalg.cholesky(usual))
        self._mean, self._covariance = np.zeros(len(usual)), np.eye(len(usual))  # mean and covariance of z
        self.log_likelihood = 0.0  # of the density of all errors, less the constant -m/2 ln(2 pi) of each block

    def add(self, error: Array, novelty: Array | None, passed: float) -> None:
        """Add the error (m,) of one block beyond the offset that was there before; the rest as in Block."""
        kept = exp(-passed * BLOCK / NEW)
        self._mean = kept * self._mean
        self._covariance = kept**2 * self._covariance + (1.0 - kept**2) * np.eye(len(error))
        if novelty is None:  # errors tell nothing of z
            white = self._whitening @ error
            self.log_likelihood += float(np.log(self._whitening.diagonal()).sum() - 0.5 * white @ white)
            return
        s = np.sqrt(novelty)
        shown = self._covariance * s  # covariance of z with the errors
        root = np.linalg.cholesky(s[:, None] * shown + self._usual)
        whitened = np.linalg.solve(root, np.column_stack([error - s * self._mean, shown.T]))
        white, gain = whitened[:, 0], whitened[:, 1:]  # whitened innovations, and their transposed gain
        self._mean, self._covariance = self._mean + gain.T @ white, self._covariance - gain.T @ gain
        self.log_likelihood -= float(0.5 * white @ white + np.log(root.diagonal()).sum())


def _positive(matrices: Array, floor: float) -> Array:
    """Return symmetric matrices (..., m, m) with eigenvalues of at least `floor`."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.maximum(values, floor)[..., None, :]) @ vectors.swapaxes(-1, -2))
