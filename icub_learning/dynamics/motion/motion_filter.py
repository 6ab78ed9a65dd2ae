"""Position, velocity and acceleration of joints from irregular samples, by Kalman filters that find their noise levels.

The motion of a joint is taken as a thrice integrated Ornstein-Uhlenbeck process, jerk driven by white snap (see
docs/theory/motion_filter.md). It is observed through positions and, where measured, velocities
with white noise (Kalman 1960); the smoothed estimate is that of a smoothing spline (Wahba 1978), found by a fixed-lag
form of the backward recursion (Rauch, Tung and Striebel 1965; in the form of Bryson and Frazier 1963, which needs no
inverse). The levels of noise are found while it runs, see `noise_levels`. Where a motion changes more than they
predict, as a brisk move after slow ones does, the covariance is multiplied so that the filter forgets (fading memory:
Xia, Rao, Ying and Shen 1994). Where accelerations turn out to jump, as those of trapezoids of velocity, the newest
motion comes from hypotheses about the last jump instead, and from positions alone (Fearnhead and Liu 2007).
"""

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, integer, real
from icub_learning.dynamics.motion._motion_filter import Filter
from icub_learning.dynamics.motion.motion import Motion, at_turn
from icub_learning.dynamics.motion.noise_levels import GROUPS, HERE, MOVING_GROUPS, STATES, NoiseLevels
from icub_learning.dynamics.motion.stamps import USUAL_SAMPLES

PRIOR = 3.0, 30.0, 300.0  # standard deviations of velocity, acceleration, jerk before the first sample, in rad and s
FIRST_SAMPLES = 12  # samples before the noise levels are first estimated
SURPRISE = 4.5  # mean error of some predictions beyond which a motion has changed, in its standard deviations
LOOK_SHARE = 0.2  # share of the levels' memory, in scored predictions, after which they are updated again
MOST_SCORED = 48  # largest number of scored predictions of a joint between two updates of the levels
VECTOR = 8  # numbers in the longest vector register of a processor
# Largest standard deviation of accelerations, or of predictions, over the usual one at which a motion counts as known:
# with twice the usual one, most of what is measured is still told from what the motion does.
UNUSUAL = 2.0


class MotionFilter:
    """Motion of joints at the newest sample at once, and smoothed by later samples after `lag`, 0.13 s at most.

    Noise of positions and velocities, bandwidth, smoothness of the motion and delay of the velocities are estimated
    from how well they predict, from the first samples on, see `report`. Samples may come at any rate from 10 Hz,
    where only slow motions have usable accelerations, to 2 kHz, with irregular stamps; rows that a driver hands out
    again while joints move are recognized.

    Args:
        n_joints: number of joints.
        max_gap: seconds between two samples beyond which all starts anew; the levels of noise stay. A few samples
            alone between two gaps are not smoothed: their acceleration is unknown.
        velocity_delay: seconds by which velocities are older than the positions they come with; None to estimate it.
        circular: places of joints that turn without end. Where a driver starts their angles again at the other end of a
            turn, the angles of the motions go on.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self, n_joints: int, *, max_gap: float = 1.0, velocity_delay: float | None = None, circular: ArrayLike = ()
    ) -> None:
        self.n_joints = integer("n_joints", n_joints, 1)
        self.max_gap = real("max_gap", max_gap, 0.0, low_open=True)
        delay = None if velocity_delay is None else real("velocity_delay", velocity_delay, 0.0)
        self._levels, self._circular = NoiseLevels(self.n_joints, delay), np.asarray(circular, np.intp)
        self._angles = np.zeros(len(self._circular))  # [rad] of these joints in the newest sample
        n, width = self.n_joints, -(-self.n_joints // VECTOR) * VECTOR
        lanes = np.ones((5, GROUPS, width)), np.zeros((4, GROUPS, width))
        joints = np.zeros((7, width)), np.full((2, width), np.inf)
        self._filter = Filter(*lanes, *joints, GROUPS, width, n, MOVING_GROUPS, self.max_gap, *PRIOR)
        self._filter.surprise = SURPRISE
        # What the filter uses and gathers, without the lanes and joints that fill the last vectors.
        self._in_use, *self._found = (array[..., :n] for array in (*lanes, *joints))
        self._smoothed: list[Motion] = []
        self._ready = 0  # motions that can be smoothed, which is done with the next call
        self._first: list[tuple[int, Array, Array | None]] | None = []  # samples before the levels were estimated
        self._stretch = 0  # samples since the last gap
        self._since, self._samples = 0, 0  # stamp of the last update of the levels [ns], samples from there on
        self._newest = 0, False  # stamp of the newest sample [ns], whether its velocities were measured
        self._due = 0  # predictions to be scored before the next update of the levels
        self._usual = np.zeros(self.n_joints)  # usual standard deviations of accelerations
        self._use()

    def reset(self) -> None:
        """Forget all samples; what was found about the noise stays."""
        self.finish()
        self._smoothed = []

    def add(self, stamp: int, position: Array, velocity: Array | None) -> None:
        """Update the estimates with the joint state of one instant: at once what `newest` needs, all else later.

        Args:
            stamp: ns, later than the last.
            position: (n_joints,).
            velocity: (n_joints,), None where it is not measured.

        Raises:
            ValueError: an array is not finite or not of shape (n_joints,), or the stamp is not later; nothing changes.
        """
        position = np.ascontiguousarray(position, np.float64)
        velocity = None if velocity is None else np.ascontiguousarray(velocity, np.float64)
        if self._circular.size and position.shape == (self.n_joints,):
            position = position.copy()
            position[self._circular] = at_turn(position[self._circular], self._angles)
        self._settle()
        ready = self._filter.add(stamp, position, velocity, self.n_joints)
        self._smoothed = []
        if ready < 0:  # a gap: what came before it will not get any better
            if self._stretch >= STATES:
                self._smooth(self._filter.waiting)
            self._restart()
            ready = self._filter.add(stamp, position, velocity, self.n_joints)
        if not self._samples:
            self._since = stamp
        self._samples += 1
        self._stretch += 1
        if self._first is not None:
            self._begin(stamp, position, velocity)
        else:
            self._ready = ready
        self._newest = stamp, bool(self._filter.had_velocity)
        if self._circular.size:
            self._angles = position[self._circular]

    def newest(self) -> Motion:
        """Return the motion at the newest sample, from all samples up to it. Raises ValueError before the first."""
        state = np.empty((3, self.n_joints))
        return Motion(self._filter.read(state, None, 0, self.n_joints), *state)

    def smoothed(self) -> list[Motion]:
        """Return the smoothed motions that the last `add` made available, oldest first; no stamp comes twice."""
        self._settle()
        return self._smoothed

    def finish(self) -> list[Motion]:
        """Return the motions that still wait for later samples, oldest first, and forget all samples."""
        self._settle()
        self._smoothed = []
        self._smooth(self._filter.waiting)
        self._restart()
        return self._smoothed

    def deviation(self) -> Array:
        """Return standard deviations of `newest`, (3, n_joints): of position, velocity, acceleration.

        They follow from the levels of noise alone, without what a surprising change of the motion adds, and are
        too large where accelerations are found to jump.
        """
        deviation = np.empty((3, self.n_joints))
        self._filter.read(None, deviation, HERE, self.n_joints)
        return deviation

    @property
    def jumping(self) -> bool:
        """Whether accelerations are found to jump, so that `newest` comes from hypotheses about the last jump."""
        return self._filter.believed()

    def known(self) -> bool:
        """Return whether the newest accelerations are known about as well as usual: after lost samples they are not.

        Call it once for each sample: what is usual follows from these calls. Raises ValueError before the first.
        """
        return self._filter.follow_usual(self._usual, 1.0 / USUAL_SAMPLES, UNUSUAL, HERE, self.n_joints)

    def report(self) -> dict[str, Array | float]:
        """Return what was found about noise and motion.

        Returns:
            position_noise, velocity_noise: (n_joints,) standard deviations; snap_density: (n_joints,) per s^7;
            jerk_decay [1/s]; velocity_delay [s]; bandwidth (n_joints,) [Hz]; lag of the smoothed motions [s];
            rate of the samples [Hz].
        """
        return self._levels.report()

    def _restart(self) -> None:
        self._filter.restart()
        self._samples = self._stretch = 0
        if self._first:
            self._first = []

    def _smooth(self, count: int) -> None:
        out = np.empty((count, 3, self.n_joints))
        self._smoothed += [Motion(stamp, *motion) for stamp, motion in zip(self._filter.smooth(out), out, strict=True)]

    def _settle(self) -> None:
        """Do the work that the newest sample left over: no joint state must wait for it."""
        if self._ready:
            self._smooth(self._ready)
            self._ready = 0
        if self._filter.scored >= self._due:
            self._learn(*self._newest)

    def _use(self) -> None:
        self._due = int(np.minimum(LOOK_SHARE * self._levels.memory, MOST_SCORED).sum())
        self._in_use[:] = self._levels.hypotheses()
        self._filter.period, self._filter.lag, self._filter.horizon = self._levels.times()

    def _begin(self, stamp: int, position: Array, velocity: Array | None) -> None:
        """Look at the first samples once there are enough, and filter them again with what they show."""
        assert self._first is not None
        self._first.append((stamp, position.copy(), None if velocity is None else velocity.copy()))
        if len(self._first) < FIRST_SAMPLES:
            return
        stamps, positions, velocities = zip(*self._first, strict=True)
        complete = self._filter.had_velocity and all(row is not None for row in velocities)
        measured, interval = np.array(velocities) if complete else None, float(np.median(np.diff(stamps))) * 1e-9
        self._levels.begin(np.array(positions), measured, interval)
        self._use()
        self._filter.restart()
        for sample in self._first:
            self._filter.add(*sample, self.n_joints)
        self._first = None

    def _learn(self, stamp: int, with_velocity: bool) -> None:
        scores, tallies, steps = self._found
        if self._samples > 1:
            interval = (stamp - self._since) * 1e-9 / (self._samples - 1)
            self._levels.learn(scores, tallies, steps, interval, with_velocity)
            self._use()
        scores[:], tallies[:], self._filter.scored = 0.0, 0.0, 0
        self._since, self._samples = stamp, 1
