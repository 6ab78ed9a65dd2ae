"""Offset and gain matrix of a force/torque sensor as columns of a linear model."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.regressor import DOUBTED

AXES = ("fx", "fy", "fz", "tx", "ty", "tz")
OFFSET_PARAMETERS = tuple(f"offset.{axis}" for axis in AXES)
GAIN_PARAMETERS = tuple(f"gain.{shown}.{true}" for shown in AXES for true in AXES)

# Relative to that of the inertial parameters: offsets of a hundred newtons are common, and nothing speaks against them.
# On the robots of simulation.zoo.DEVELOPMENT values from a tenth of this to a hundred times as much are as good.
OFFSET_REGULARIZATION = 1e-3


def sensor_parameter_names(offset: bool, gain: bool) -> tuple[str, ...]:
    """Names of the parameters: "offset.fx" to "offset.tz" [N, N m], then "gain.fx.fx", "gain.fx.fy" to "gain.tz.tz"."""
    return (OFFSET_PARAMETERS if offset else ()) + (GAIN_PARAMETERS if gain else ())


def sensor_regularization(offset: bool, gain: bool) -> Array:
    """Relative regularization of these parameters."""
    offsets, gains = len(OFFSET_PARAMETERS) * offset, len(GAIN_PARAMETERS) * gain
    return np.concatenate([np.full(offsets, OFFSET_REGULARIZATION), np.full(gains, DOUBTED)])


def fill_gain(columns: Array, wrench: Array) -> None:
    """Write the columns of the gain matrix into a (6, 36) array of zeros: row i gets the wrench at its own six columns.

    A sensor of gain 1 + G that carries the wrench w shows w + G w, linear in G if w is known. Here w is what the URDF's
    masses would cause: errors of the masses enter only multiplied by those of the gain. What G does to the wrench as
    other masses would do it too (a common factor, to begin with) is left to the masses by the regularization.

    Args:
        columns: (6, 36), changed in place.
        wrench: (6,) [N, N m].
    """
    for axis in range(6):
        columns[axis, 6 * axis : 6 * axis + 6] = wrench
