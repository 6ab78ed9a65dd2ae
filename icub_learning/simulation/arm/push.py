"""A push by hand: a force on the simulated hand that lasts for some time."""

import numpy as np
from numpy.typing import ArrayLike

from icub_learning import arrays
from icub_learning.arrays import Array

MAX_FORCE = 100.0  # [N] along each axis
MAX_DURATION = 60.0  # [s]
RISE = 0.01  # [s] in which the force rises and falls: no hand pushes at once


class Push:
    """A force that rises within RISE, stays, and falls within RISE after its duration; none at first."""

    def __init__(self) -> None:
        self._force = np.zeros(3)
        self._begin = self._end = 0.0  # [s]

    def begin(self, force: ArrayLike, duration: float, now: float) -> None:
        """Push with `force` (3,) [N] from `now` [s] for `duration` [s]; replaces a push that still lasts.

        Raises ParameterError: the duration or a coordinate is outside its range; ShapeError, NotFiniteError: not three
        numbers.
        """
        given = arrays.vector("force", force, 3)
        for axis, value in zip("xyz", given, strict=True):
            arrays.real(f"force.{axis}", value, -MAX_FORCE, MAX_FORCE)
        duration = arrays.real("duration", duration, 0.0, MAX_DURATION)
        self._force, self._begin, self._end = given.copy(), now, now + duration

    def force(self, now: float) -> Array:
        """Return the force at `now` [s], (3,) [N]."""
        share = min((now - self._begin) / RISE, 1.0 - (now - self._end) / RISE, 1.0)
        return self._force * max(share, 0.0)
