"""Disturbances at the hand of the simulated arm: a payload and a push, which can be changed while it moves."""

import math
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from icub_learning import arrays
from icub_learning.arrays import Array

MAX_MASS = 3.0  # [kg] largest mass of a payload
MAX_DISTANCE = 0.3  # [m] largest distance of a payload along each axis
DENSITY = 1000.0  # [kg/m^3] density of a payload
MAX_FORCE = 100.0  # [N] largest force of a push along each axis
MAX_DURATION = 60.0  # [s] longest duration of a push
RISE = 0.01  # [s] time in which the force of a push rises and falls: no hand pushes abruptly


class Payload:
    """A ball in the hand: the body "payload" of a MuJoCo model, with its frame at the centre of the ball."""

    def __init__(self, model: Any) -> None:
        self._model, self._body = model, model.body("payload").id
        self._scratch = mujoco.MjData(model)  # mj_setConst overwrites it
        self.mass = 0.0  # [kg], 0 without payload
        self.position = np.zeros(3)  # (3,) position of the centre in the frame of the hand [m]

    def attach(self, mass: float, position: ArrayLike) -> None:
        """Attach a ball of `mass` [kg] with its centre at `position` (3,) [m] in the frame of the hand; 0 removes it.

        Raises ParameterError: a number is outside its range; ShapeError, NotFiniteError: not three numbers.
        """
        mass = arrays.real("mass", mass, 0.0, MAX_MASS)
        centre = _vector("position", position, MAX_DISTANCE)
        self.mass, self.position = mass, centre if mass else np.zeros(3)
        self._model.body_mass[self._body] = mass
        self._model.body_pos[self._body] = self.position
        self._model.body_inertia[self._body] = ball_inertia(mass)
        mujoco.mj_setConst(self._model, self._scratch)  # recomputes constants that depend on the masses


def ball_inertia(mass: float) -> float:
    """Return the moment of inertia about its centre [kg m^2] of a ball with DENSITY."""
    radius = (3 * mass / (4 * math.pi * DENSITY)) ** (1 / 3)
    return 0.4 * mass * radius**2


class Push:
    """A force on the hand that rises within RISE, stays, and falls within RISE after its duration; none at first."""

    def __init__(self) -> None:
        self._force = np.zeros(3)
        self._begin = self._end = 0.0  # [s] start and end of the push

    def begin(self, force: ArrayLike, duration: float, now: float) -> None:
        """Push with `force` (3,) [N] from `now` [s] for `duration` [s]; replaces a push that still lasts.

        Raises ParameterError: a number is outside its range; ShapeError, NotFiniteError: not three numbers.
        """
        given = _vector("force", force, MAX_FORCE)
        end = now + arrays.real("duration", duration, 0.0, MAX_DURATION)
        self._force, self._begin, self._end = given, now, end

    def force(self, now: float) -> Array:
        """Return the force at `now` [s], (3,) [N]."""
        return self._force * max(min((now - self._begin) / RISE, 1.0 - (now - self._end) / RISE, 1.0), 0.0)


def _vector(name: str, values: ArrayLike, most: float) -> Array:
    """Return three numbers of at most this magnitude, as a copy."""
    vector = arrays.vector(name, values, 3)
    for axis, value in zip("xyz", vector.tolist(), strict=True):
        arrays.real(f"{name}.{axis}", value, -most, most)
    return vector.copy()
