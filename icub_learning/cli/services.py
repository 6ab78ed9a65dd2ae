"""Calls of ROS services that are found, waited for, and answered within limits."""

from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from icub_learning.errors import IcubLearningError

FIND_LIMIT = 10.0  # [s] for a service to be found
SPARE = 10.0  # [s] to answer, beyond the time that the service itself takes


class Services:
    """The services of other nodes.

    Args:
        node: to call with.
        wait: goes on with whatever else there is to do until a condition holds, at most some seconds; whether it holds.
    """

    def __init__(self, node: Node, wait: Callable[[Callable[[], bool], float], bool]) -> None:
        self._node, self._wait = node, wait
        self._clients: dict[str, Any] = {}

    def call(self, kind: Any, service: str, takes: float = 0.0, find_limit: float = FIND_LIMIT, **fields: Any) -> Any:
        """Call a service and return its response.

        Args:
            kind: type of the service.
            service: its name, with that of its node.
            takes: seconds that it may need.
            find_limit: seconds for it to be found.
            fields: of the request.

        Raises:
            IcubLearningError: there is no such service, or it does not answer.
        """
        if service not in self._clients:  # kept: a second call does not wait for the service to be found
            self._clients[service] = self._node.create_client(kind, service)
        client = self._clients[service]
        if not self._wait(client.service_is_ready, find_limit):
            raise IcubLearningError(f"there is no service {service}", name=service, bound="a service that is offered")
        future = client.call_async(kind.Request(**fields))
        if not self._wait(future.done, takes + SPARE):
            raise IcubLearningError(f"{service} did not answer", name=service, bound=f"{takes + SPARE:g} s")
        return future.result()
