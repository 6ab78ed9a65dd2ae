"""Calls of ROS services, each within time limits."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python

from icub_learning.errors import IcubLearningError
from icub_learning.nodes.common.qos import DISCOVERY_TIME

FIND_LIMIT = 10.0  # [s] longest time to find a service
SPARE = 10.0  # [s] allowed for an answer, beyond the time that the service itself takes
Wait = Callable[[Callable[[], bool], float], bool]  # waits for a condition, at most some [s]; returns whether it holds


class Services:
    """Clients of the services of other nodes; `wait` handles messages until an answer has come."""

    def __init__(self, node: Node, wait: Wait) -> None:
        self._node, self._wait = node, wait
        self._clients: dict[str, Any] = {}  # clients by service, kept so that a second call does not wait for discovery

    def find(self, kind: Any, service: str, limit: float = FIND_LIMIT) -> Any:
        """Wait up to `limit` seconds until a service and a client have found each other; return the client.

        Raises IcubLearningError: there is no such service.
        """
        return self.find_all({service: kind}, limit)[service]

    def find_all(self, kinds: Mapping[str, Any], limit: float = FIND_LIMIT) -> dict[str, Any]:
        """Find several services at once: `kinds` maps their names to types, and the result to clients. See `find`."""
        new = kinds.keys() - self._clients.keys()
        self._clients |= {name: self._node.create_client(kinds[name], name) for name in new}

        def missing() -> str:
            return ", ".join(name for name in kinds if not self._clients[name].service_is_ready())

        if new or missing():
            if not self._wait(lambda: not missing(), limit):
                name, domain = missing(), os.environ.get("ROS_DOMAIN_ID", "0")
                text = f"there is no service {name} in ROS domain {domain}: does its node run, under this name?"
                raise IcubLearningError(text, name=name, bound="a service that is offered")
            # The clients have found the services; an answer to a client that the service has not found yet is lost.
            self._wait(lambda: False, DISCOVERY_TIME)
        return {name: self._clients[name] for name in kinds}

    def ask(self, kind: Any, service: str, find_limit: float = FIND_LIMIT, **fields: Any) -> Any:
        """Send a request with these fields; return the future of its answer. Raises as `find` does."""
        return self.find(kind, service, find_limit).call_async(kind.Request(**fields))

    def answer(self, service: str, future: Any, takes: float = 0.0) -> Any:
        """Wait for the answer of a service that may need `takes` seconds. Raises IcubLearningError if none comes."""
        if not self._wait(future.done, takes + SPARE):
            busy = f"{os.getloadavg()[0]:.1f} programs want to run on {os.cpu_count()} cores"
            text = f"{service} did not answer within {takes + SPARE:g} s ({busy}; its node's log may say more)"
            raise IcubLearningError(text, name=service, bound=f"{takes + SPARE:g} s")
        return future.result()

    def call(self, kind: Any, service: str, takes: float = 0.0, find_limit: float = FIND_LIMIT, **fields: Any) -> Any:
        """Call a service and return its response; `find`, `ask` and `answer` in one."""
        return self.answer(service, self.ask(kind, service, find_limit, **fields), takes)


def parameters_in(response: GetParameters.Response, names: Sequence[str]) -> dict[str, Any]:
    """Return the parameter values in the response of a node, by name; None for a parameter that is not set.

    Some nodes answer with fewer values, or none, where they lack a parameter; names without a value are left out.
    """
    return {name: parameter_value_to_python(value) for name, value in zip(names, response.values, strict=False)}
