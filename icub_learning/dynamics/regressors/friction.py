"""Friction, rotor and offset of a robot's drives as columns of a linear model."""

from collections.abc import Sequence

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.regressor import DOUBTED
from icub_learning.errors import ParameterError

DRIVE_COLUMNS = ("coulomb", "viscous", "offset", "stribeck", "load", "rotor")
PLAIN_COLUMNS = "coulomb", "viscous", "offset"  # those of earlier releases

STRIBECK_VELOCITY = 0.05  # [rad/s or m/s] over which the excess of friction near standstill fades
STANDSTILL = 0.005  # [rad/s or m/s] least width of the direction of friction: presliding, and steps of encoders
NOISE_WIDTH = 1.2  # of the direction in standard deviations: tanh(v / 1.2 s) is E[sign(v + s noise)] within 2.5 %


def checked_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns in the order of DRIVE_COLUMNS. Raises ParameterError for any other name."""
    for name in columns:
        if name not in DRIVE_COLUMNS:
            raise ParameterError("friction", name, f"among {', '.join(DRIVE_COLUMNS)}")
    return tuple(name for name in DRIVE_COLUMNS if name in columns)


def drive_regularization(columns: Sequence[str], n_joints: int) -> Array:
    """Relative regularization of the columns of `fill_friction`, (n_columns * n_joints,)."""
    return np.tile([1.0 if name in PLAIN_COLUMNS else DOUBTED for name in columns], n_joints)


def coulomb_velocity(deviation: Array) -> Array:
    """Return the width of the direction of friction for velocities known up to `deviation` (n,) [rad/s or m/s].

    The expected sign of a velocity that is measured as v with Gaussian noise of standard deviation s is
    erf(v / (sqrt(2) s)); tanh(v / (1.2 s)) is that within 2.5 %. So the column is as sharp as the velocity is known,
    and does not chatter at standstill.
    """
    return np.maximum(NOISE_WIDTH * np.asarray(deviation), STANDSTILL)


def fill_friction(columns: Array, names: Sequence[str], v: Array, a: Array, load: Array, width: Array | float) -> None:
    """Write the columns of all drives into the last n * len(names) columns of an (n, n_parameters) array of zeros.

    Row j gets at joint j's own columns, with the direction s = tanh(v_j / width):

        coulomb   s                    viscous   v_j            offset   1
        stribeck  s exp(-(v_j / 0.05)^2)                        excess of friction near standstill (Stribeck 1902)
        load      s |load_j|                                    friction of gears in proportion to what they carry
        rotor     a_j                                           inertia of the rotor seen through the gear

    The smooth direction is used because measured velocities are never exactly 0: the sign of a joint at rest would be
    noise of full size, and real friction too rises over a small range of speeds (presliding) instead of jumping.

    Args:
        columns: C-contiguous (n, n_parameters), changed in place.
        names: names of the columns of a joint, as `checked_columns` returns them.
        v: (n,) velocities [rad/s or m/s].
        a: (n,) accelerations [rad/s^2 or m/s^2].
        load: (n,) torques of the rigid bodies, up to a scale [N m or N].
        width: speed at which 76 % of the Coulomb friction acts [rad/s or m/s], one or (n,).
    """
    n, total = columns.shape
    flat = columns.reshape(-1)
    first, step = total - len(names) * n, total + len(names)  # a row down, to the next joint's columns
    direction = np.tanh(v / width)
    made: dict[str, Array | float] = {"coulomb": direction, "viscous": v, "offset": 1.0, "rotor": a}
    if "stribeck" in names:
        made["stribeck"] = direction * np.exp(-np.square(v / STRIBECK_VELOCITY))
    if "load" in names:
        made["load"] = direction * np.abs(load)
    for index, name in enumerate(names):
        flat[first + index :: step] = made[name]
