"""The payload: a ball in the hand whose mass and position can be changed during the simulation."""

import math
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from icub_learning import arrays

MAX_MASS = 3.0  # [kg]
MAX_DISTANCE = 0.3  # [m] along each axis
DENSITY = 1000.0  # [kg/m^3]


class Payload:
    """The body "payload" of a MuJoCo model, with its frame at the centre of the ball."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._body = model.body("payload").id
        self._scratch = mujoco.MjData(model)  # mj_setConst overwrites it
        self.mass = 0.0  # [kg], 0 without payload
        self.position = np.zeros(3)  # (3,) of the centre in the frame of the hand [m]

    def attach(self, mass: float, position: ArrayLike) -> None:
        """Attach a ball of `mass` [kg] with its centre at `position` (3,) [m] in the frame of the hand; 0 removes it.

        Raises ParameterError: the mass or a coordinate is outside its range; ShapeError, NotFiniteError: not three
        numbers.
        """
        mass = arrays.real("mass", mass, 0.0, MAX_MASS)
        centre = arrays.vector("position", position, 3)
        for axis, value in zip("xyz", centre, strict=True):
            arrays.real(f"position.{axis}", value, -MAX_DISTANCE, MAX_DISTANCE)
        self.mass, self.position = mass, centre.copy() if mass else np.zeros(3)
        self._model.body_mass[self._body] = mass
        self._model.body_pos[self._body] = self.position
        self._model.body_inertia[self._body] = ball_inertia(mass)
        mujoco.mj_setConst(self._model, self._scratch)  # recomputes what depends on the masses


def ball_inertia(mass: float) -> float:
    """Return the moment of inertia about its centre [kg m^2] of a ball with DENSITY."""
    radius = (3 * mass / (4 * math.pi * DENSITY)) ** (1 / 3)
    return 0.4 * mass * radius**2
