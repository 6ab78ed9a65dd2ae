"""Conversions between trajectory messages and numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory

from icub_learning.arrays import Array
from icub_learning.nodes.common.conversions import NANOSECONDS
from icub_learning.nodes.common.serialized import HEADER


def trajectory_points(message: JointTrajectory) -> dict[str, Any]:
    """Return joint names, times [s] and values of a trajectory's points by field; None for fields that no point has."""

    def rows(field: str) -> list[list[float]] | None:
        values = [list(getattr(point, field)) for point in message.points]
        return values if any(values) else None

    def seconds(duration: Duration) -> float:
        return duration.sec + duration.nanosec / NANOSECONDS

    return {
        "joint_names": list(message.joint_names), "times": [seconds(point.time_from_start) for point in message.points],
        "positions": [list(point.positions) for point in message.points], "velocities": rows("velocities"),
        "accelerations": rows("accelerations")
    }  # fmt: skip


def step_trajectory(joint_names: Sequence[str], step: int, positions: Array) -> bytes:
    """Return a serialized JointTrajectory with a row of `positions` (n_points, n_joints) [rad] after each `step` [ns].

    Points that are made as messages, one by one, take 30 times as long.
    """
    n_points, n_joints = positions.shape
    data = serialize_message(JointTrajectory(joint_names=list(joint_names)))[:-4]  # without the number of points
    data += n_points.to_bytes(4, "little")
    point = np.dtype([("n_positions", "<u4"), ("positions", "<f8", n_joints), ("others", "<u4", 3), ("time", "<u4", 2)])
    points = np.zeros(n_points, point)  # `others`: the numbers of velocities, accelerations and efforts, all 0
    points["n_positions"], points["positions"] = n_joints, positions
    points["time"] = np.stack(np.divmod(step * np.arange(1, n_points + 1), NANOSECONDS), axis=1)
    body = points.tobytes()
    # Behind the header, doubles lie at multiples of 8 bytes (DDSI-RTPS 2.2, 10.5; little-endian). So does the end of
    # each point's number of positions, except perhaps in the first point, which then gets 4 bytes of padding.
    return data + (body if (len(data) - HEADER) % 8 == 4 else body[:4] + bytes(4) + body[4:])
