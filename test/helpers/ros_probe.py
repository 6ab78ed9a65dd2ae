"""The other side of a node in tests: a ROS node of the test's own process that keeps what comes back."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from helpers.node_here import HERE
from helpers.waiting import PATIENCE, wait_until
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental import EventsExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions

from icub_learning.clients.services import Services
from icub_learning.nodes.common.conversions import stamp_to_ns
from icub_learning.nodes.common.qos import DISCOVERY_TIME
from icub_learning.nodes.common.threads.scheduling import giving_way

MANY, RELIABLE = QoSProfile(depth=1000), QoSProfile(depth=50, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LOOK = 0.05  # [s] between two checks of a condition that is waited for, when no message arrives
RESEND = 20.0  # [s] after which a message that no report counts is sent again
OWN = ("icub_learning_msgs", "std_srvs")  # packages of the services that nodes offer beside those of every ROS node


def interface(name: str) -> Any:
    """Return the class of a type such as sensor_msgs/msg/Image."""
    package, part, kind = name.split("/")
    return getattr(import_module(f"{package}.{part}"), kind)


@contextmanager
def spun(*nodes: Any) -> Iterator[None]:
    """Spin nodes in a thread, then destroy them. `Executor.spin` may miss that it was shut down, and never return."""
    executor, ended = SingleThreadedExecutor(), threading.Event()
    for node in nodes:
        executor.add_node(node)
    thread = threading.Thread(target=lambda: [executor.spin_once(timeout_sec=0.1) for _ in iter(ended.is_set, True)])
    thread.start()
    yield
    ended.set()
    thread.join()
    executor.shutdown()
    for node in nodes:
        node.destroy_node()


class RosProbe:
    """A node beside the one under test; use as a context manager, inside the test's own ROS domain.
    node: full name of the node under test; status: part of a status' name in /diagnostics that the test reads."""

    def __init__(self, node: str = "", status: str = "") -> None:
        self.node_name, self._status = node, status
        self.diagnostics: dict[str, str] = {}
        self.message, self.level, self._reported = "", b"", 0
        self.exit_code = 0  # with which the node must end

    def __enter__(self) -> Any:
        if not HERE:  # an error where another participant is in this process: two may wait for each other for ever
            rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        self.node = rclpy.create_node("probe")
        self._executor: Any = HERE[0] if HERE else EventsExecutor()
        self._executor.add_node(self.node)
        self.services = Services(self.node, self._holds)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, MANY)
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.remove_node(self.node)
        with giving_way():
            self.node.destroy_node()
        if not HERE:
            self._executor.shutdown()
            rclpy.shutdown()

    def open(self) -> None:
        """Make publishers and subscriptions."""

    def hear(self, kind: type, topic: str, qos: QoSProfile | int = MANY) -> list[Any]:
        """Return a list to which every message of a topic is added."""
        heard: list[Any] = []
        self.node.create_subscription(kind, topic, heard.append, qos)
        return heard

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if self._status in status.name:
                self.message, self.level = status.message, status.level
                self._reported = stamp_to_ns(message.header.stamp)
                self.diagnostics = {pair.key: pair.value for pair in status.values}

    def take_in(self) -> None:
        """Handle what has arrived, or wait a moment for something to arrive."""
        self._executor.spin_once(timeout_sec=LOOK)

    def spin(self, seconds: float) -> None:
        """Handle messages for some seconds: for tests that show that something does NOT come."""
        self._holds(lambda: False, seconds)

    def _holds(self, condition: Callable[[], Any], seconds: float) -> bool:
        """Spin until a condition holds, at most for some seconds; return whether it does."""
        deadline = time.monotonic() + seconds
        while not (found := condition()) and (left := deadline - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=min(left, LOOK))
        return bool(found)

    def until(self, condition: Callable[[], Any], what: str = "a message") -> Any:
        """Spin until a condition holds, and return what it returns."""
        return wait_until(condition, f"{what}; the last report: {self.diagnostics}", self.take_in)

    def report(self, condition: Callable[[dict[str, str]], Any] = lambda _: True, what: str = "") -> dict[str, str]:
        """Return the first report that was made from now on and for which a condition holds."""
        now = time.time_ns()
        self.until(lambda: self._reported > now and condition(self.diagnostics), f"a report {what}")
        return self.diagnostics

    def repeat(self, publish: Callable[[], None], condition: Callable[[dict[str, str]], Any], what: str) -> None:
        """Publish until a report says that the message came: a machine that stalls for a second may lose a message."""
        began = time.time_ns()
        for _ in range(round(PATIENCE / RESEND)):
            publish()
            if self._holds(lambda: self._reported > began and condition(self.diagnostics), RESEND):
                return
        raise AssertionError(f"waited {PATIENCE:g} s in vain for a report {what}; the last one: {self.diagnostics}")

    def matched(self, *publishers: Any, topics: tuple[str, ...] = ()) -> None:
        """Wait until these publishers have subscriptions, and some node publishes on these topics of the other side."""
        self.until(lambda: all(one.get_subscription_count() for one in publishers), "subscriptions of the node")
        self.until(lambda: all(self.node.count_publishers(topic) for topic in topics), f"publishers on {topics}")
        matched = time.monotonic()
        own = {name: kind for name, kind in self.offered().items() if kind.__module__.startswith(OWN)}
        self.services.find_all(own, PATIENCE)  # all at once: finding one takes as long as finding all
        if not HERE:  # matching is mutual, but two processes learn of it one after the other
            self.spin(matched + DISCOVERY_TIME - time.monotonic())

    def offered(self) -> dict[str, Any]:
        """Return the types of the node's services, by their full names."""
        found = dict(self.node.get_service_names_and_types()) if self.node_name else {}
        return {name: interface(kinds[0]) for name, kinds in found.items() if name.startswith(f"{self.node_name}/")}

    def ask(self, kind: Any, name: str, /, **fields: Any) -> Any:
        """Send a request to a service of the node as soon as it is available; return the future of its answer."""
        return self.services.ask(kind, f"{self.node_name}/{name}", find_limit=PATIENCE, **fields)

    def answer(self, future: Any) -> Any:
        """Wait for the answer to a request."""
        self.until(future.done, "an answer")
        return future.result()

    def call(self, kind: Any, name: str, /, **fields: Any) -> Any:
        """Call a service of the node and return its response."""
        return self.answer(self.ask(kind, name, **fields))

    def obtain(self, kind: Any, name: str, /, **fields: Any) -> Any:
        """Call a service that must do what it is asked; return its response."""
        answer = self.call(kind, name, **fields)
        assert answer.success, f"{name}: {answer.message}"
        return answer

    def declined(self, said: str, kind: Any, name: str, /, **fields: Any) -> Any:
        """Call a service that must refuse, for a reason that holds `said`; return its response."""
        answer = self.call(kind, name, **fields)
        assert not answer.success and said in answer.message, f"{name}: {answer.message}"
        return answer

    def change(self, transition: int) -> bool:
        """Ask the node for a lifecycle transition; return whether it succeeded."""
        return bool(self.call(ChangeState, "change_state", transition=Transition(id=transition)).success)

    def set_parameter(self, name: str, value: object) -> SetParametersResult:
        """Set a parameter of the node; return whether it was accepted, and why not."""
        given = Parameter(name, value=value).to_parameter_msg()
        return self.call(SetParameters, "set_parameters", parameters=[given]).results[0]

    def state(self) -> str:
        """Return the label of the node's lifecycle state."""
        return str(self.call(GetState, "get_state").current_state.label)

    def refused(self, reason: str) -> int:
        """Return how many messages were refused for this reason, by the last report."""
        return int(self.diagnostics.get(f"refused: {reason}", 0))
