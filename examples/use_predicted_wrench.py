"""A ROS 2 node that uses `predicted_wrench`: it publishes what the sensor measures beyond the arm's own motion.

    .venv/bin/icub-learning launch simulation                     # or a robot, see docs/launch.md
    .venv/bin/python examples/use_predicted_wrench.py --ros-args -p threshold:=8.0

Subscribes to `wrench` and `/inverse_dynamics/predicted_wrench`, pairs them by stamp, publishes `compensated_wrench`
(geometry_msgs/WrenchStamped, measured minus predicted, slow offsets removed) and `push` (std_msgs/Bool), which is true
while the compensated force stays above the threshold.
"""

from collections import OrderedDict

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import Bool

KEPT = 200  # messages of each kind that may wait for their partner
ADAPTATION = 0.002  # weight of the newest sample in the slow offset, while nobody pushes


def numbers(message: WrenchStamped) -> np.ndarray:
    """Return force [N] and torque [N m] as (6,)."""
    force, torque = message.wrench.force, message.wrench.torque
    return np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])


class PushDetector(Node):
    """Compares each measured wrench with the prediction for the same instant."""

    def __init__(self) -> None:
        super().__init__("push_detector")
        self.threshold = self.declare_parameter("threshold", 8.0).value  # [N]
        self.patience = self.declare_parameter("patience", 5).value  # samples in a row above it that make a push
        self.offset: np.ndarray | None = None  # (6,) slow difference: drift, and what is not learned yet
        self.above = 0
        self.pushed = False
        self.waiting: dict[str, OrderedDict[tuple[int, int], WrenchStamped]] = {
            "measured": OrderedDict(),
            "predicted": OrderedDict(),
        }
        self.compensated = self.create_publisher(WrenchStamped, "compensated_wrench", 10)
        self.push = self.create_publisher(Bool, "push", 10)
        for kind, topic in (("measured", "wrench"), ("predicted", "/inverse_dynamics/predicted_wrench")):
            self.create_subscription(
                WrenchStamped, topic, lambda message, kind=kind: self.receive(kind, message), qos_profile_sensor_data
            )

    def receive(self, kind: str, message: WrenchStamped) -> None:
        """Pair a message with its partner: the prediction has the stamp of the joint state, as the wrench often has."""
        stamp = message.header.stamp.sec, message.header.stamp.nanosec
        other = self.waiting["predicted" if kind == "measured" else "measured"].pop(stamp, None)
        if other is None:
            self.waiting[kind][stamp] = message
            if len(self.waiting[kind]) > KEPT:
                self.waiting[kind].popitem(last=False)
        elif kind == "measured":
            self.compare(message, other)
        else:
            self.compare(other, message)

    def compare(self, measured: WrenchStamped, predicted: WrenchStamped) -> None:
        """Publish the difference, and whether it is a push."""
        external = numbers(measured) - numbers(predicted)
        self.offset = external if self.offset is None else self.offset
        external = external - self.offset
        strong = bool(np.linalg.norm(external[:3]) > self.threshold)
        self.above = self.above + 1 if strong else 0
        if not strong:
            self.offset = self.offset + ADAPTATION * external

        message = WrenchStamped(header=measured.header)
        values = external.tolist()
        message.wrench.force.x, message.wrench.force.y, message.wrench.force.z = values[:3]
        message.wrench.torque.x, message.wrench.torque.y, message.wrench.torque.z = values[3:]
        self.compensated.publish(message)
        pushed = self.above >= self.patience
        if pushed != self.pushed:
            state = f"push of {np.linalg.norm(values[:3]):.1f} N" if pushed else "the push has ended"
            self.get_logger().info(state)
        self.pushed = pushed
        self.push.publish(Bool(data=pushed))


def main() -> None:
    """Run the node until Ctrl-C."""
    rclpy.init()
    node = PushDetector()
    node.get_logger().info("waiting for wrench and /inverse_dynamics/predicted_wrench")
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
