"""The node that takes trajectories for a robot in Gazebo, and sends a target for every step of the physics."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from icub_learning.arrays import Array
from icub_learning.errors import IcubLearningError, SampleError
from icub_learning.nodes.common.conversions import stamp_to_ns
from icub_learning.nodes.common.diagnostics import publish_every, status_of
from icub_learning.nodes.common.gate import LOG_PERIOD
from icub_learning.nodes.common.qos import SENSOR
from icub_learning.nodes.common.spinning import LifecycleSettings, ManagedNode, run
from icub_learning.nodes.common.trajectories import step_trajectory, trajectory_points
from icub_learning.settings import setting, settings_of
from icub_learning.simulation.gazebo_model import STEP_NS
from icub_learning.simulation.gazebo_trajectory import INSIDE, Commands, brake, follow, joints_of

REPORT_PERIOD = 1.0  # [s] between two reports on /diagnostics
HOMING_TIME = 1.0  # [s] in which joints that Gazebo starts beyond their limits move back to them
STILL = 0.01  # [rad/s] velocity, and [rad] distance from the last target, below which the arm is at rest
PATIENCE_NS = 1_000_000_000  # [ns] after which an arm that stands still away from its target is sent there again
LARGEST = 1e6  # [rad], [rad/s] bound on numbers in a joint state: larger ones are no measurements
COMMANDS = QoSProfile(depth=10)  # QoS of the bridge's subscription to trajectories


@dataclass(frozen=True)
class NodeSettings:
    """Settings of the node itself."""

    config: str = setting("", "parameter file of inverse_dynamics, which names the robot and the joints that move")
    velocity_limit: float = setting(
        4.0, "largest velocity of a joint, where the robot description has no lower one", unit="rad/s", low=0.01,
        high=100.0,
    )  # fmt: skip
    acceleration_limit: float = setting(40.0, "largest acceleration of a joint", unit="rad/s^2", low=0.1, high=1000.0)


PARAMETERS = settings_of(LifecycleSettings, NodeSettings)


class GazeboControllerNode(ManagedNode):
    """Makes trajectories smooth, within the joints' limits and as fine as the steps of the physics; see docs/gazebo.md.

    An inactive node accepts no trajectory, and the arm follows the last one to its end.
    """

    def _configure(self, settings: dict[str, Any]) -> None:
        self._joints = joints_of(settings["config"], settings["velocity_limit"], settings["acceleration_limit"])
        self._stamp, self._position, self._velocity = 0, np.zeros(0), np.zeros(0)  # newest joint state
        self._homed = False  # whether the joints have been sent to within their limits
        self._target: Array | None = None  # last target that was sent [rad]
        self._end = 0  # stamp from which the arm may be at rest there [ns]
        self._waiting: dict[str, Any] | None = None  # the trajectory that begins when the arm is at rest
        self._accepted = 0
        self._publisher = self.create_lifecycle_publisher(JointTrajectory, "gazebo/joint_trajectory", COMMANDS)
        self.create_subscription(JointState, "joint_states", self._on_state, SENSOR)
        self.create_subscription(JointTrajectory, "joint_trajectory", self._on_trajectory, COMMANDS)
        publish_every(self, REPORT_PERIOD, self._statuses)

    def _stop(self, _reason: str) -> None:
        self._waiting = None

    def _on_state(self, message: JointState) -> None:
        places = {name: place for place, name in enumerate(message.name)}
        if not self.active or any(name not in places for name in self._joints.names):
            return
        fields = [self._ordered(name, getattr(message, name), places) for name in ("position", "velocity")]
        self._position, self._velocity = fields
        if (stamp := stamp_to_ns(message.header.stamp)) < self._stamp:  # Gazebo was reset: the arm is where it started
            self._target, self._end, self._waiting, self._homed = None, 0, None, False
        self._stamp = stamp
        if not self._homed:
            if self._publisher.get_subscription_count():  # messages before the bridge to Gazebo subscribes are lost
                self._homed = True
                inside = np.clip(self._position, self._joints.lower, self._joints.upper)
                if np.abs(inside - self._position).max() > INSIDE:  # Gazebo starts all joints at 0
                    self._move_to(inside)
        elif self._target is not None and self._is_still(PATIENCE_NS) and not self._is_near():
            self.get_logger().warning("the joints stand still away from their target: sent to it once more")
            self._move_to(self._target)
        elif self._waiting is not None and self._at_rest():
            waiting, self._waiting = self._waiting, None
            self._follow(waiting)

    def _ordered(self, field: str, values: Sequence[float], places: dict[str, int]) -> Array:
        """Return a field of a joint state in the order of the joints. Raises SampleError."""
        order = [places[name] for name in self._joints.names]
        if len(values) <= max(order):
            raise SampleError("size", f"{len(values)} numbers in {field}", name=field, value=len(values))
        ordered = np.array(values)[order]
        if not (np.abs(ordered) <= LARGEST).all():  # false for NaN too
            raise SampleError("range", f"{field} is not finite, or beyond {LARGEST:g}", name=field, value=ordered)
        return ordered

    def _move_to(self, target: Array) -> None:
        try:
            commands = follow(self._joints, self._position, self._joints.names, [HOMING_TIME], target[None])
        except IcubLearningError as error:
            raise SampleError("too_far", f"joints are too far beyond their limits: {error}") from None
        self._send(commands)

    def _is_near(self) -> bool:
        return self._target is None or float(np.abs(self._position - self._target).max()) < STILL

    def _is_still(self, patience: int = 0) -> bool:
        return self._stamp >= self._end + patience and float(np.abs(self._velocity).max()) < STILL

    def _at_rest(self) -> bool:
        return self._is_still() and self._is_near()

    def _on_trajectory(self, message: JointTrajectory) -> None:
        if not self.active:
            return
        points = trajectory_points(message)
        points.pop("accelerations")
        if not self._homed:
            self._waiting = points  # it waits for the first joint state, and for the bridge to take trajectories
            missing = "its first joint state" if not len(self._position) else "the bridge that takes trajectories"
            self.get_logger().info(f"waiting for Gazebo: {missing}", throttle_duration_sec=LOG_PERIOD)
            return
        if self._at_rest():
            self._follow(points)
        elif self._commands(points) is not None:
            self._waiting = points
            self._send(brake(self._joints, self._position, self._velocity))

    def _commands(self, points: dict[str, Any]) -> Commands | None:
        """Return the commands that follow a trajectory; None for a trajectory that is refused."""
        try:
            return follow(self._joints, self._position if self._target is None else self._target, **points)
        except (IcubLearningError, ValueError) as error:
            self.gate.decline(error)
            return None

    def _follow(self, points: dict[str, Any]) -> None:
        if (commands := self._commands(points)) is not None:
            self._accepted += 1
            if commands.reason:
                slower = f"{commands.slower:.3g} times the time"
                self.get_logger().warning(f"followed more slowly, in {slower}: {commands.reason}")
            self._send(commands)

    def _send(self, commands: Commands) -> None:
        self._publisher.publish(step_trajectory(self._joints.names, STEP_NS, commands.positions))
        self._target, self._end = commands.positions[-1], self._stamp + len(commands.positions) * STEP_NS

    def _statuses(self) -> list[DiagnosticStatus]:
        arrived = bool(len(self._position))
        doing = "holding" if not arrived or self._at_rest() else "moving"
        level, message = (DiagnosticStatus.OK, doing) if arrived else (DiagnosticStatus.STALE, "no joint states arrive")
        values = {
            "trajectories followed": self._accepted, "trajectories refused": self.gate.declined,
            "messages received": self.gate.received, "refused": self.gate.refused.total(),
            "last refusal": self.gate.last_declined or self.gate.last_refusal,
        }  # fmt: skip
        return [status_of(self, "trajectories", level, message, values)]


main = partial(run, partial(GazeboControllerNode, "gazebo_controller", PARAMETERS))

if __name__ == "__main__":
    raise SystemExit(main())
