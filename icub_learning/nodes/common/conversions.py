"""Conversions between fields of ROS messages and numbers: stamps in ns, wrenches as arrays."""

import array

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import InertiaStamped, Wrench
from numpy.typing import NDArray

from icub_learning.arrays import Array

NANOSECONDS = 1_000_000_000  # nanoseconds in a second


def stamp_to_ns(stamp: Time) -> int:
    """Return a stamp in ns; it may be negative."""
    return stamp.sec * NANOSECONDS + stamp.nanosec


def set_stamp(stamp: Time, nanoseconds: int) -> None:
    stamp.sec, stamp.nanosec = divmod(nanoseconds, NANOSECONDS)


def wrench_to_array(wrench: Wrench) -> Array:
    """Return force [N] and torque [N m] as an array (6,)."""
    f, t = wrench.force, wrench.torque
    return np.array([f.x, f.y, f.z, t.x, t.y, t.z])


def set_wrench(wrench: Wrench, values: Array) -> None:
    """Write force [N] and torque [N m] (6,) into a message."""
    f, t = wrench.force, wrench.torque
    f.x, f.y, f.z, t.x, t.y, t.z = values.tolist()


def inertia_message(stamp: int, frame: str, mass: float, centre: Array, inertia: Array) -> InertiaStamped:
    """Return a message with a stamp [ns], mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2]."""
    message = InertiaStamped()
    set_stamp(message.header.stamp, stamp)
    message.header.frame_id, body = frame, message.inertia
    body.m = mass
    body.com.x, body.com.y, body.com.z = centre.tolist()
    body.ixx, body.ixy, body.ixz, body.iyy, body.iyz, body.izz = inertia[np.triu_indices(3)].tolist()
    return message


def doubles(values: Array) -> array.array:
    """Return values as an array.array, which rclpy assigns to a float64[] field without checking each element."""
    return array.array("d", np.ascontiguousarray(values, dtype=np.float64).tobytes())


def floats(values: NDArray[np.float32]) -> array.array:
    """Return values as an array.array, which rclpy assigns to a float32[] field without checking each element."""
    return array.array("f", np.ascontiguousarray(values, dtype=np.float32).tobytes())
