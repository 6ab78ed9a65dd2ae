"""Reference motions of the joints: continuous positions, velocities and accelerations as functions of time."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from icub_learning.arrays import Array
from icub_learning.simulation.arm.arm_model import ArmModel
from icub_learning.simulation.arm.circles import Circle, VariedPath, circle, solve_circle_path
from icub_learning.simulation.arm.quintic import sum_of_sines
from icub_learning.simulation.arm.settings import SimulationSettings

# Joint positions [rad], velocities [rad/s] and accelerations [rad/s^2], (n, n_joints) each.
Reference = tuple[Array, Array, Array]
Motion = Callable[[Array], Reference]  # takes simulated times (n,) [s]


class Hold:
    """Stays at one position."""

    def __init__(self, position: Array) -> None:
        self._position = position.copy()

    def __call__(self, times: Array) -> Reference:
        still = np.zeros((len(times), len(self._position)))
        return still + self._position, still, still


class RandomMotion:
    """Exciting, band-limited motion: for each joint a sum of sinusoids of random frequency and phase.

    The amplitudes sum to the range between the joint limits less a margin, so no limit is ever reached.
    """

    BAND = (0.05, 0.6)  # [Hz] lowest and highest frequency
    MARGIN = np.deg2rad(3.0)  # [rad] distance that is kept from the joint limits
    N_SINUSOIDS = 4

    def __init__(self, limits: tuple[Array, Array], rng: np.random.Generator) -> None:
        low, high = limits
        shape, self._middle = (self.N_SINUSOIDS, len(low)), (low + high) / 2
        self._rates = 2 * np.pi * self.BAND[0] * (self.BAND[1] / self.BAND[0]) ** rng.uniform(size=shape)
        self._phases = rng.uniform(0, 2 * np.pi, size=shape)
        share = rng.uniform(0.5, 1.0, size=shape)
        self._amplitudes = share / share.sum(axis=0) * ((high - low) / 2 - self.MARGIN)

    def __call__(self, times: Array) -> Reference:
        position, velocity, acceleration = sum_of_sines(times, self._amplitudes, self._rates, self._phases)
        return self._middle + position, velocity, acceleration


class CircleMotion:
    """The hand follows a circle at constant mean speed [m/s], with slow variations, so that no two rounds are equal.

    A Cartesian controller does not repeat itself exactly: its posture drifts within the redundancy of the arm, and
    speed and centre vary. Here all three vary smoothly, in proportion to `wander`, the amplitude for the centre [m].
    """

    N_VARIANTS = 3
    POSTURE_PER_WANDER = np.deg2rad(10.0) / 0.01  # [rad/m] change of posture per `wander`
    SPEED_PER_WANDER = 0.05 / 0.01  # [1/m] relative change of speed per `wander`
    PERIODS = (7.0, 40.0)  # [s] shortest and longest period of the variations

    def __init__(self, arm: ArmModel, target: Circle, speed: float, wander: float, rng: np.random.Generator) -> None:
        paths = [solve_circle_path(arm, target)]
        if wander > 0:
            shifts = _balanced(rng.normal(size=(self.N_VARIANTS, 3)))
            turns = _balanced(rng.normal(size=(self.N_VARIANTS, len(target.posture))))
            for shift, turn in zip(shifts, turns, strict=True):
                # Twice the distance, because the mean weight of all variants together is one half.
                center = target.center + 2 * wander * shift
                posture = target.posture + 2 * wander * self.POSTURE_PER_WANDER * turn
                variant = Circle(center, target.axes, target.radius, posture)
                paths.append(solve_circle_path(arm, variant, start=paths[0]))
        self._n_variants = len(paths) - 1
        self._path = VariedPath(np.stack(paths))
        self._rate = speed / target.radius  # [rad/s] rate of the phase
        # Slow signals within [-1, 1] that do not repeat: means of three sinusoids. The last one moves the phase.
        size = 3, self._n_variants + 1
        rates, phases = 2 * np.pi / rng.uniform(*self.PERIODS, size=size), rng.uniform(0, 2 * np.pi, size=size)
        self._sines = np.ones(size), rates, phases
        self._wobble = wander * self.SPEED_PER_WANDER * self._rate / rates[:, -1].mean()  # [rad] of the phase

    def __call__(self, times: Array) -> Reference:
        waves = np.stack(sum_of_sines(times, *self._sines)) / 3
        phase = self._wobble * waves[:, :, -1]
        phase[0] += self._rate * times
        phase[1] += self._rate
        shape = waves[:, :, :-1]
        shape[0] += 1.0
        return self._path(phase, shape / (2 * max(self._n_variants, 1)))


def _balanced(directions: Array) -> Array:
    """Return the rows minus their mean, the longest scaled to length 1, so that variations along them average out."""
    balanced = directions - directions.mean(axis=0)
    return balanced / np.linalg.norm(balanced, axis=1).max()


class Blend:
    """A change from one motion to another, continuous in position, velocity and acceleration.

    Both motions go on while a quintic weight moves from 0 to 1, so the blend keeps joint limits that both keep.
    """

    def __init__(self, old: Motion, new: Motion, start: float, duration: float) -> None:
        self.old, self.new, self._start, self._duration = old, new, start, duration
        self.end = start + duration  # time from which only the new motion contributes [s]
        self.depth: int = 1 + (old.depth if isinstance(old, Blend) else 0)  # number of nested blends

    def __call__(self, times: Array) -> Reference:
        s = np.clip((times - self._start) / self._duration, 0.0, 1.0)[:, None]
        w, dw = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2 / self._duration
        ddw = 60 * s * (1 - s) * (1 - 2 * s) / self._duration**2
        q, v, a = self.old(times)
        to_q, to_v, to_a = self.new(times)
        gap_q, gap_v, gap_a = to_q - q, to_v - v, to_a - a
        return q + w * gap_q, v + w * gap_v + dw * gap_q, a + w * gap_a + 2 * dw * gap_v + ddw * gap_q


def task_motions(settings: SimulationSettings) -> dict[str, Motion]:
    """Return the motions of all tasks except "hold", which depends on the position of the arm."""
    size = settings.circle_radius, settings.circle_speed, settings.circle_wander
    return dict(_task_motions(settings.side, settings.seed, *size))


@lru_cache(maxsize=8)  # the paths of two circles take half a second
def _task_motions(side: str, seed: int, radius: float, speed: float, wander: float) -> dict[str, Motion]:
    arm, streams = ArmModel(side), [np.random.default_rng([seed, number]) for number in range(3)]
    motions: dict[str, Motion] = {"random": RandomMotion(arm.limits, streams[0])}
    for task, rng in zip(("circle_xy", "circle_xz"), streams[1:], strict=True):
        motions[task] = CircleMotion(arm, circle(task, side, radius), speed, wander, rng)
    return motions
