"""A rigid arm whose body is known exactly except for noise, correlated in time, and a monitor of its errors."""

from functools import lru_cache
from io import BytesIO
from pickle import Pickler, loads

import numpy as np
from helpers.robots import RIGHT_ARM

from icub_learning.dynamics import Motion, TorqueRegressor, WrenchRegressor
from icub_learning.dynamics.changes.monitor import ChangeMonitor
from icub_learning.dynamics.regressors.link_effects import LinkEffects
from icub_learning.robots import find_urdf

PERIOD = 0.01  # [s]
USUAL = 14.0  # [s] of motion without change, in which a monitor gets used to the errors
LOAD = np.array([0.5, 0.0, 0.01, 0.02, 1e-3, 0.0, 1e-3, 0.0, 0.0, 1e-3])  # inertial parameters of a load
PUSH = np.array([4.0, 3.0, 0.0, 0.0, 0.0, 0.0])  # force [N] and moment [N m]
WRENCH = WrenchRegressor.from_urdf(find_urdf("icub"), RIGHT_ARM, "r_arm_ft_sensor")
PANDA = TorqueRegressor.from_urdf(find_urdf("panda"), [f"panda_joint{i}" for i in range(1, 8)])


class Remembered(LinkEffects):
    """Link effects, each computed once for a motion: all hands make the same motions."""

    def __init__(self, *of):
        super().__init__(*of)
        self._found = {}

    def __reduce__(self):
        return effects, (self.n_outputs == 7,)

    def __call__(self, q, v, a):
        if (key := q.tobytes()) not in self._found:
            self._found[key] = super().__call__(q, v, a)
        return self._found[key]


@lru_cache
def effects(torque):
    return Remembered(PANDA) if torque else Remembered(WRENCH, "r_hand_dh_frame")


class Hand:
    """An arm that feeds a monitor with the errors of its body, which is known except for noise."""

    def __init__(self, seed=0, torque=False, scale=1.0, **settings):
        self.effects = effects(torque)
        self.monitor = ChangeMonitor(self.effects, **settings)
        self._rng, self.k = np.random.default_rng(seed), 0
        m = self.effects.n_outputs
        self.noise = scale * (np.full(m, 0.1) if torque else np.array([0.4, 0.4, 0.4, 0.01, 0.01, 0.01]))
        self._lasting = np.zeros(m)

    @property
    def stamp(self):
        return 1 + round(self.k * PERIOD * 1e9)

    def motion(self):
        t, w = self.k * PERIOD, np.linspace(2.0, 5.0, 7)
        middle = np.array([0.0, -0.5, 0.0, -1.8, 0.0, 1.5, 0.0]) if self.effects.n_outputs == 7 else np.zeros(7)
        return Motion(self.stamp, middle + 0.3 * np.sin(w * t), 0.3 * w * np.cos(w * t), -0.3 * w**2 * np.sin(w * t))

    def run(self, seconds, load=None, push=None, variance=None, at_once=1, measured=0.0, spread=30.0, rest=False):
        """Return the monitor's phase after each block of `at_once` samples; their errors have the block's mean and
        differ from it by up to `spread` standard deviations of the noise. At rest errors are a tenth as large."""
        phases = []
        for _ in range(round(seconds / PERIOD)):
            self.k += 1
            motion, size = self.motion(), 0.1 if rest else 1.0
            motion = motion._replace(velocity=1e-3 * motion.velocity) if rest else motion
            normals = self._rng.standard_normal((2, self.effects.n_outputs)) * self.noise
            self._lasting = 0.9 * self._lasting + 0.2 * normals[0]
            error = size * (self._lasting + normals[1]) + measured
            added, pushed = self.effects(motion.position, motion.velocity, motion.acceleration)
            error += added @ load if load is not None else 0.0
            error += pushed @ push if push is not None else 0.0
            told = None if variance is None else variance * np.array([0.16] * 3 + [1e-4] * 3)
            offsets = np.linspace(-spread, spread, at_once)[:, None] * self.noise if at_once > 1 else np.zeros((1, 1))
            for sample, off in enumerate(offsets, 1 - at_once):
                own = Motion(self.stamp + sample * round(PERIOD / at_once * 1e9), *motion[1:])
                self.monitor.observe(own, error + off, told)
            phases.append(self.monitor.phase)
        return phases


class _Pickler(Pickler):
    """A pickler in whose copies an array that is a view of another one is a view of that one's copy."""

    def reducer_override(self, found):
        base = found.base if type(found) is np.ndarray else None
        if type(base) is not np.ndarray:
            return NotImplemented
        return np.ndarray, (found.shape, found.dtype, base, found.ctypes.data - base.ctypes.data, found.strides)


def copy_of(hand):
    """Return a copy of a hand, which goes on from where that one is."""
    file = BytesIO()
    _Pickler(file).dump(hand)
    return loads(file.getvalue())


@lru_cache
def _used(*arguments, **settings):
    made = Hand(*arguments, **settings)
    made.run(USUAL)
    return made


def used(*arguments, **settings):
    """Return a new hand whose monitor has got used to its errors."""
    return copy_of(_used(*arguments, **settings))
