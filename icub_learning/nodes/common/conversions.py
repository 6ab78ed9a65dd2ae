"""Between ROS messages and what the learners take: stamps in ns, wrenches as arrays."""

import array

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Wrench
from numpy.typing import NDArray

from icub_learning.arrays import Array

NANOSECONDS = 1_000_000_000


def stamp_to_ns(stamp: Time) -> int:
    """A stamp in ns; negative where its source made it so."""
    return stamp.sec * NANOSECONDS + stamp.nanosec


def set_stamp(stamp: Time, nanoseconds: int) -> None:
    """Write ns into a stamp message."""
    stamp.sec, stamp.nanosec = divmod(nanoseconds, NANOSECONDS)


def wrench_to_array(wrench: Wrench) -> Array:
    """(6,) force [N] and torque [Nm]."""
    f, t = wrench.force, wrench.torque
    return np.array([f.x, f.y, f.z, t.x, t.y, t.z])


def set_wrench(wrench: Wrench, values: Array) -> None:
    """Write (6,) force [N] and torque [Nm] into a message."""
    f, t = wrench.force, wrench.torque
    f.x, f.y, f.z, t.x, t.y, t.z = values.tolist()


def doubles(values: Array) -> array.array:
    """An array as a float64[] field takes it without looking at each number."""
    return array.array("d", np.ascontiguousarray(values, dtype=np.float64).tobytes())


def floats(values: NDArray[np.float32]) -> array.array:
    """An array as a float32[] field takes it without looking at each number."""
    return array.array("f", np.ascontiguousarray(values, dtype=np.float32).tobytes())
