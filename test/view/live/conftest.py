"""A robot and the page's nodes in the test's own process, in a ROS domain of their own."""

import pytest
import rclpy
from helpers.waiting import wait_until
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions


class BesideThePage:
    """The page's ROS side, beside a robot that publishes what the test makes it publish.
    `spun` and `polled` are nodes of the page, `robot` is that of the robot; `executor` spins `spun` and `robot`."""

    def __init__(self):
        self.nodes = []
        self.spun, self.polled, self.robot = map(self.node, ("view", "view_streams", "inverse_dynamics"))
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.spun)
        self.executor.add_node(self.robot)

    def node(self, name):
        """Make another node."""
        self.nodes.append(rclpy.create_node(name))
        return self.nodes[-1]

    def until(self, condition, what, do=lambda: None):
        """Handle messages, and do something again and again, until a condition holds."""

        def between():
            do()
            self.executor.spin_once(timeout_sec=0.02)

        wait_until(condition, what, between)

    def connected(self, *publishers):
        """Wait until each of these publishers has a subscription."""
        self.until(lambda: all(one.get_subscription_count() for one in publishers), "subscriptions")


@pytest.fixture
def beside(ros_domain, monkeypatch):
    """A BesideThePage that ends with the test."""
    monkeypatch.setattr("icub_learning.clients.services.DISCOVERY_TIME", 0.0)  # no other process has to be discovered
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    made = BesideThePage()
    yield made
    made.executor.shutdown()
    for node in made.nodes:
        node.destroy_node()
    rclpy.shutdown()
