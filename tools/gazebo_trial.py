"""Run the system `gazebo` through rest and motion, and keep every message."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from icub_learning.arrays import Array
from icub_learning.clients.processes import Processes
from icub_learning.clients.session import Session
from icub_learning.nodes.common.conversions import doubles, set_stamp, stamp_to_ns, wrench_to_array
from icub_learning.nodes.common.qos import DEEP, STATE
from icub_learning.nodes.common.serialized import stamp_in
from icub_learning.nodes.inverse_dynamics.message_layouts import JointStateDecoder
from icub_learning_msgs.msg import DynamicsPrediction, InertialParameters

START_LIMIT = 180.0  # [s] limit until the first prediction, the controller and the motion
SLOWEST = 60.0  # largest ratio of wall-clock time to simulated time that is waited for,
SPARE = 10.0  # [s] plus this wall-clock time
WATCHED = 1.5  # [s] at the end of rest and of motion, in which every step is recorded
MOVING = 1e-3  # [rad/s] velocity of a joint above which the robot moves


@dataclass
class Series:
    """Stamps (n,) [ns] and values (n, width) of a topic's messages, by stamp."""

    stamps: np.ndarray
    values: Array

    @classmethod
    def of(cls, stamps: Sequence[int], values: Sequence[Array]) -> "Series":
        """Return the series of values (width,) with stamps [ns], given in any order."""
        order = np.argsort(np.array(stamps, dtype=np.int64), kind="stable")
        return cls(np.array(stamps, dtype=np.int64)[order], np.array(values)[order])

    def at(self, stamps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which of `stamps` are in this series, and their indices."""
        place = np.searchsorted(self.stamps, stamps)
        found = (place < len(self.stamps)) & (self.stamps[np.minimum(place, len(self.stamps) - 1)] == stamps)
        return found, place


@dataclass
class Trial:
    """What the nodes of a launch have published."""

    joint_names: tuple[str, ...]  # joints of the columns of joint states
    # Gazebo's joint states at each step, at the end of rest and of motion: position and velocity, (n, 2 n_joints)
    every_state: Series
    states: Series  # joint states that are passed on to the learner, in the same form
    wrenches: Series  # (n, 6), and their `frame`
    frame: str
    total: Series  # predictions (n, 6)
    parametric: Series  # predictions (n, 6)
    masses: tuple[float, float]  # learned and nominal sum of masses [kg]
    warnings: list[str]  # warnings and errors in diagnostics, each text once
    moving: tuple[int, int]  # stamps between which the robot moved [ns]
    wall: float  # wall-clock time over simulated time, from the first prediction to the last joint state


class GazeboTrial(Session):
    """Leads a running system; use as a context manager. `show` is called with a line about its progress."""

    def __init__(self, processes: Processes, show: Callable[[str], None]) -> None:
        super().__init__("icub_learning_gazebo_trial", processes, show)
        self._decoder = JointStateDecoder()
        subscribe = self.node.create_subscription
        self._parameters: list[InertialParameters] = []
        self._warnings: dict[str, None] = {}
        # Kept as bytes: decoding them meanwhile would take processor time from the nodes under test.
        self._every: list[bytes] = []
        self._states: list[bytes] = []
        self._wrenches: list[bytes] = []
        self._predictions: list[bytes] = []
        subscribe(JointState, "/joint_states", self._states.append, DEEP, raw=True)
        subscribe(WrenchStamped, "/wrench", self._wrenches.append, DEEP, raw=True)
        subscribe(DynamicsPrediction, "/inverse_dynamics/prediction", self._predictions.append, DEEP, raw=True)
        subscribe(InertialParameters, "/inverse_dynamics/inertial_parameters", self._parameters.append, STATE)
        subscribe(DiagnosticArray, "/diagnostics", self._on_diagnostics, DEEP)
        self._commands = self.node.create_publisher(JointTrajectory, "/joint_trajectory", QoSProfile(depth=10))

    def start(self) -> None:
        """Wait until predictions come. Raises IcubLearningError if they do not, or a process ends."""
        self.require(lambda: bool(self._predictions), START_LIMIT, "the first prediction")
        self.require(lambda: self._commands.get_subscription_count() > 0, START_LIMIT, "the controller")
        self._began = time.monotonic(), self._now()

    def watch(self, seconds: float) -> None:
        """Let simulated time pass, and at its end watch joint states at every step, for WATCHED seconds.

        Not all the time: they would take as much processor time as the nodes under test.
        """
        self._wait(max(0.0, seconds - WATCHED))
        keep = self._every.append
        every = self.node.create_subscription(JointState, "/gazebo/joint_states", keep, DEEP, raw=True)
        self._wait(min(seconds, WATCHED))
        self.node.destroy_subscription(every)

    def _wait(self, seconds: float) -> None:
        end = self._now() + round(seconds * 1e9)
        self.require(lambda: self._now() >= end, SLOWEST * seconds + SPARE, f"{seconds:g} s of simulated time")

    def move(self, joints: Sequence[str], times: Array, positions: Array) -> None:
        """Publish a trajectory, and wait until the robot moves: times (n,) [s], positions (n, n_joints) [rad]."""
        message = JointTrajectory(joint_names=list(joints))
        for seconds, row in zip(times, positions, strict=True):
            point = JointTrajectoryPoint(positions=doubles(row))
            set_stamp(point.time_from_start, round(seconds * 1e9))
            message.points.append(point)
        self._commands.publish(message)

        def is_moving() -> bool:
            return bool(np.abs(self._decoder.decode(self._states[-1]).velocity).max() > MOVING)

        self.require(is_moving, START_LIMIT, "the robot to move")
        self._moving = self._now()

    def finish(self) -> Trial:
        """Return the messages of the trial as arrays, with what the nodes complained about."""
        end = self._now()
        wall = (time.monotonic() - self._began[0]) / max((end - self._began[1]) * 1e-9, 1e-9)
        wrenches = [deserialize_message(data, WrenchStamped) for data in self._wrenches]
        predictions = [deserialize_message(data, DynamicsPrediction) for data in self._predictions]
        newest = self._parameters[-1] if self._parameters else InertialParameters()
        is_mass = [name.endswith(".m") for name in newest.names]
        learned, nominal = (float(np.array(one)[is_mass].sum()) for one in (newest.values, newest.nominal))
        stamps = _stamps(predictions)
        return Trial(
            self._decoder.decode(self._every[-1]).name,
            self._positions(self._every),
            self._positions(self._states),
            Series.of(_stamps(wrenches), [wrench_to_array(one.wrench) for one in wrenches]),
            wrenches[-1].header.frame_id if wrenches else "",
            Series.of(stamps, [np.array(one.total) for one in predictions]),
            Series.of(stamps, [np.array(one.parametric) for one in predictions]),
            (learned, nominal),
            list(self._warnings),
            (self._moving, end),
            wall,
        )

    def _positions(self, messages: list[bytes]) -> Series:
        numbers = [self._decoder.decode(data) for data in messages]
        values = [np.concatenate([one.position, one.velocity]) for one in numbers]
        return Series.of([one.stamp for one in numbers], values)

    def _now(self) -> int:
        """Return the stamp of the newest joint state [ns], 0 before the first."""
        return stamp_in(self._states[-1]) if self._states else 0

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            if status.level in (DiagnosticStatus.WARN, DiagnosticStatus.ERROR):
                self._warnings[f"{status.name}: {status.message}"] = None


def _stamps(messages: Sequence[Any]) -> list[int]:
    return [stamp_to_ns(one.header.stamp) for one in messages]
