"""The least a node can do: it sends each joint state back; `python -m benchmarks.echo_node`, ended by SIGTERM."""

import signal

import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

TOPIC = "/echo/joint_states"


def main() -> None:
    stopping = []
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    node = rclpy.create_node("echo")
    publisher = node.create_publisher(JointState, TOPIC, QoSProfile(depth=10))
    quality = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
    node.create_subscription(JointState, "joint_states", publisher.publish, quality)
    executor = EventsExecutor()
    executor.add_node(node)
    while not stopping:
        executor.spin_once(timeout_sec=0.2)
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
