"""Both arms of an iCub as its ROS 2 drivers publish them: wrenches without usable stamps and without a frame."""

import time

import numpy as np
from geometry_msgs.msg import WrenchStamped
from helpers.robots import ARM
from helpers.ros_probe import RosProbe
from sensor_msgs.msg import JointState

from icub_learning.nodes.common.conversions import set_wrench
from icub_learning_msgs.msg import DynamicsPrediction

RATE = 50.0  # [Hz] at which the drivers publish
NEVER = -(2**31)  # [s] in the stamps of their wrenches: a time that is not set


class FaultyIcub(RosProbe):
    """Both arms, which publish while the test waits; use as a context manager inside the test's own ROS domain."""

    def open(self) -> None:
        """Make publishers and subscriptions for both arms."""
        self.predictions, self.external, self._publishers = {}, {}, {}  # keys: "right", "left"
        for side in ("right", "left"):
            self.predictions[side] = self.hear(DynamicsPrediction, f"/{side}_arm_dynamics/prediction")
            self.external[side] = self.hear(WrenchStamped, f"/{side}_arm_dynamics/external_wrench")
            self._publishers[side] = (
                self.node.create_publisher(JointState, f"/{side}_arm/joint_states", 10),
                self.node.create_publisher(WrenchStamped, f"/{side}_arm/wrench", 10),
            )
        self.node.create_timer(1.0 / RATE, self._publish)
        self._began = time.monotonic()

    def _publish(self) -> None:
        seconds = time.monotonic() - self._began
        phase = np.arange(len(ARM)) + np.array([1.0, 1.3, 0.7, 1.9, 0.5, 1.1, 0.9]) * seconds
        for side, (states, wrenches) in self._publishers.items():
            state = JointState(name=[f"{side[0]}_{joint}" for joint in ARM], position=(0.3 * np.sin(phase)).tolist())
            state.header.stamp = self.node.get_clock().now().to_msg()
            states.publish(state)
            wrench = WrenchStamped()
            wrench.header.stamp.sec = NEVER
            set_wrench(wrench.wrench, np.sin(phase[:6]))
            wrenches.publish(wrench)

    def wait(self, count: int) -> None:
        """Wait until `count` predictions and external wrenches of each side have come."""
        answers = (*self.predictions.values(), *self.external.values())
        self.until(lambda: min(map(len, answers)) >= count, f"{count} answers of each node")
