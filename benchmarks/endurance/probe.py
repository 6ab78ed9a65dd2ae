"""A ROS node that takes part in an endurance test: it publishes, calls services, and listens to diagnostics."""

import time
from collections.abc import Callable
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy._rclpy_pybind11 import NodeNameNonExistentError
from rclpy.experimental import EventsExecutor

from icub_learning.clients.services import Services
from icub_learning.nodes.common.qos import DEEP
from icub_learning.nodes.common.threads.scheduling import giving_way


class Probe:
    """Publishes, calls services and collects diagnostics; use as a context manager.

    Attributes:
        node: the ROS node.
        diagnostics: newest values of each status, by its name; "level" and "message" among them.
    """

    def __init__(self, name: str = "endurance") -> None:
        self._name = name
        self.diagnostics: dict[str, dict[str, str]] = {}

    def __enter__(self) -> "Probe":
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.node = rclpy.create_node(self._name, context=self._context)
        self._executor = EventsExecutor(context=self._context)
        self._executor.add_node(self.node)
        self.services = Services(self.node, self.until)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, DEEP)
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        with giving_way():
            self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def spin(self, seconds: float) -> None:
        """Process what arrives for `seconds`."""
        self.until(lambda: False, seconds)

    def until(self, condition: Callable[[], Any], seconds: float) -> bool:
        """Spin until the condition holds; return whether it did in time."""
        deadline = time.monotonic() + seconds
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._executor.spin_once(timeout_sec=min(left, 0.01))
        return True

    def seen(self, query: Callable[[str, str], list[tuple[str, list[str]]]], name: str) -> dict[str, str]:
        """Return what a query of `node`, such as `get_service_names_and_types_by_node`, finds of another node.

        Returns:
            Type of each topic or service, by its name; {} if there is no such node, or none that is known yet: a node's
            messages may arrive before its name does.
        """
        try:
            return {topic: kinds[0] for topic, kinds in query(name, "/")}
        except NodeNameNonExistentError:
            return {}

    def transition(self, node: str, name: str, limit: float = 30.0) -> bool:
        """Request a lifecycle transition of a node, e.g. "deactivate"; return whether it succeeded."""
        number = getattr(Transition, f"TRANSITION_{name.upper()}")
        answer = self.services.call(
            ChangeState, f"/{node}/change_state", takes=limit, find_limit=limit, transition=Transition(id=number)
        )
        return bool(answer.success)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            level = int.from_bytes(status.level, "little")
            self.diagnostics[status.name] = {**values, "level": str(level), "message": status.message}
