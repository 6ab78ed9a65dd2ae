"""Messages of the simulated arm, which are made once and filled for every sample."""

from typing import Any

from geometry_msgs.msg import PointStamped, WrenchStamped
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from icub_learning.nodes.common.conversions import doubles, set_stamp, set_wrench
from icub_learning.simulation import Sensors, Truth
from icub_learning.simulation.arm.arm_model import ArmModel

ROOT_FRAME = "root_link"


class SensorMessages:
    """The messages that a robot publishes: joint states and a wrench."""

    def __init__(self, arm: ArmModel) -> None:
        self.joint_states, self.wrench = JointState(name=list(arm.joint_names)), WrenchStamped()
        self.wrench.header.frame_id = arm.sensor_frame

    def fill(self, sensors: Sensors) -> None:
        for message in (self.joint_states, self.wrench):
            set_stamp(message.header.stamp, sensors.stamp)
        self.joint_states.position = doubles(sensors.position)
        self.joint_states.velocity = doubles(sensors.velocity)
        self.joint_states.effort = doubles(sensors.effort)
        set_wrench(self.wrench.wrench, sensors.wrench)


class TruthMessages:
    """The messages of the ground truth, by the name of the topic below ~/truth/."""

    WRENCHES = ("wrench", "rigid_wrench", "cable_wrench", "drift")
    TYPES = {"motion": JointTrajectory, "hand": PointStamped} | dict.fromkeys(WRENCHES, WrenchStamped)

    def __init__(self, arm: ArmModel) -> None:
        self._messages: dict[str, Any] = {name: kind() for name, kind in self.TYPES.items()}
        self._messages["motion"].joint_names = list(arm.joint_names)
        self._messages["motion"].points = [JointTrajectoryPoint()]
        self._messages["hand"].header.frame_id = ROOT_FRAME
        for name in self.WRENCHES:
            self._messages[name].header.frame_id = arm.sensor_frame

    def message(self, name: str, truth: Truth) -> Any:
        message = self._messages[name]
        set_stamp(message.header.stamp, truth.stamp)
        if name == "motion":
            point = message.points[0]
            point.positions, point.velocities = doubles(truth.position), doubles(truth.velocity)
            point.accelerations = doubles(truth.acceleration)
        elif name == "hand":
            message.point.x, message.point.y, message.point.z = truth.hand_position.tolist()
        else:
            set_wrench(message.wrench, getattr(truth, name))
        return message
