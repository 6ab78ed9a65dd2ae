"""The page's ROS side in the test's own process, beside a robot that publishes what the test says."""

from collections.abc import Callable
from typing import Any

import rclpy
from helpers.waiting import wait_until
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node


class BesideThePage:
    """Use as a context manager, inside the test's own ROS domain.

    Attributes:
        spun, polled: nodes of the page; the second one is spun by nobody.
        robot: node of the robot, with any name.
    """

    def __init__(self, robot: str = "inverse_dynamics") -> None:
        self._robot_name = robot
        self._nodes: list[Node] = []

    def __enter__(self) -> "BesideThePage":
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.spun, self.polled, self.robot = map(self.node, ("view", "view_streams", self._robot_name))
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.spun)
        self._executor.add_node(self.robot)
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        for node in self._nodes:
            node.destroy_node()
        rclpy.shutdown(context=self._context)

    def node(self, name: str) -> Node:
        """Make another node."""
        self._nodes.append(rclpy.create_node(name, context=self._context))
        return self._nodes[-1]

    def spin_too(self, node: Node) -> None:
        """Handle messages and services of this node as well."""
        self._executor.add_node(node)

    def end(self, node: Node) -> None:
        """End a node, as if its process had ended."""
        self._executor.remove_node(node)
        node.destroy_node()

    def until(self, condition: Callable[[], Any], what: str, do: Callable[[], Any] = lambda: None) -> None:
        """Handle messages, and do something again and again, until a condition holds."""

        def between() -> None:
            do()
            self._executor.spin_once(timeout_sec=0.02)

        wait_until(condition, what, between)

    def connected(self, *publishers: Any) -> None:
        """Wait until each of these publishers has a subscription."""
        self.until(lambda: all(one.get_subscription_count() for one in publishers), "subscriptions")
