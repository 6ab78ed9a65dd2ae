"""Both arms of an iCub as its ROS 2 drivers publish them: wrenches without usable stamps and without a frame."""

import threading
import time

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState

from icub_learning.nodes.common.conversions import set_wrench
from icub_learning_msgs.msg import DynamicsPrediction

ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_prosup", "wrist_pitch", "wrist_yaw")
RATE = 50.0  # [Hz], of the drivers
NEVER = -(2**31)  # [s], the stamp of their wrenches


class FaultyIcub:
    """Publishes until it is left; use as a context manager inside the test's own ROS domain.

    Attributes:
        predictions, external: what came of each side's node.
    """

    def __init__(self) -> None:
        self.predictions: dict[str, list[DynamicsPrediction]] = {"right": [], "left": []}
        self.external: dict[str, list[WrenchStamped]] = {"right": [], "left": []}

    def __enter__(self) -> "FaultyIcub":
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("faulty_icub", context=self._context)
        self._publishers = {}
        for side in ("right", "left"):
            subscribe, publish = self._node.create_subscription, self._node.create_publisher
            subscribe(DynamicsPrediction, f"/{side}_arm_dynamics/prediction", self.predictions[side].append, 100)
            subscribe(WrenchStamped, f"/{side}_arm_dynamics/external_wrench", self.external[side].append, 100)
            self._publishers[side] = (
                publish(JointState, f"/{side}_arm/joint_states", 10),
                publish(WrenchStamped, f"/{side}_arm/wrench", 10),
            )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._node.create_timer(1.0 / RATE, self._publish)
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._executor.spin)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        self._thread.join(10.0)
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def _publish(self) -> None:
        seconds = time.monotonic() - self._began
        phase = np.arange(len(ARM)) + np.array([1.0, 1.3, 0.7, 1.9, 0.5, 1.1, 0.9]) * seconds
        for side, (states, wrenches) in self._publishers.items():
            state = JointState(name=[f"{side[0]}_{joint}" for joint in ARM], position=(0.3 * np.sin(phase)).tolist())
            state.header.stamp = self._node.get_clock().now().to_msg()
            states.publish(state)
            wrench = WrenchStamped()
            wrench.header.stamp.sec = NEVER
            set_wrench(wrench.wrench, np.sin(phase[:6]))
            wrenches.publish(wrench)

    def wait(self, count: int, timeout: float) -> bool:
        """Wait until `count` predictions and external wrenches of each side have come; return whether they have."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if min(map(len, (*self.predictions.values(), *self.external.values()))) >= count:
                return True
            time.sleep(0.05)
        return False
