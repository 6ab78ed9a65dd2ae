"""Calls of nodes' services, requested by the page's threads and made by the thread that handles messages."""

import queue
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from icub_learning.clients.services import FIND_LIMIT, SPARE
from icub_learning.nodes.common.qos import DISCOVERY_TIME
from icub_learning.view.shown.state import Answer
from icub_learning_msgs.srv import ForgetObject, IdentifyPayload, ModelFile, RenameObject, TeachDetection, TeachObject

KINDS = {
    "teach": TeachObject, "teach_detection": TeachDetection, "forget_object": ForgetObject,
    "rename_object": RenameObject, "set_learning": SetBool, "identify_payload": IdentifyPayload,
    "reset": Trigger, "tare": Trigger, **dict.fromkeys(("save_model", "load_model", "merge_model"), ModelFile),
}  # fmt: skip
FINISHED = object()


class ServiceCalls:
    """Requests from any thread, carried out by `handle`, which the thread that spins the node calls again and again."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._new: queue.SimpleQueue[Iterator[None]] = queue.SimpleQueue()
        self._waiting: list[Iterator[None]] = []
        self._clients: dict[str, Any] = {}
        self._known: set[str] = set()  # services that had enough time to discover their client

    def ask(self, node: str, service: str, takes: float = 0.0, **fields: object) -> Answer:
        """Call one of KINDS and wait for its answer; see `icub_learning.view.shown.state.Ask`."""
        if not node:
            return Answer(False, "there is no node to ask: none is running, or none is chosen")
        patience = FIND_LIMIT + DISCOVERY_TIME + takes + 2.0 * SPARE
        try:
            response = self.send(KINDS[service], f"{node}/{service}", takes, **fields).result(patience)
        except TimeoutError as error:
            return Answer(False, str(error) or f"{node}/{service} did not answer")
        except (AssertionError, TypeError, OverflowError, SystemError) as error:  # a value that the message cannot hold
            return Answer(False, str(error) or f"{node}/{service} cannot be asked for {fields}")
        return Answer(bool(response.success), str(response.message))

    def send(self, kind: Any, service: str, takes: float = 0.0, **fields: object) -> "Future[Any]":
        """Send a request; the future gets its response, or TimeoutError without a service or an answer."""
        result: Future[Any] = Future()
        self._new.put(self._steps(result, kind, service, takes, fields))
        return result

    def handle(self) -> None:
        while not self._new.empty():
            self._waiting.append(self._new.get())
        self._waiting = [one for one in self._waiting if next(one, FINISHED) is not FINISHED]

    def _steps(
        self, result: "Future[Any]", kind: Any, service: str, takes: float, fields: dict[str, object]
    ) -> Iterator[None]:
        """Carry out a request; yields wherever it has to wait."""
        try:
            if service not in self._clients:
                self._clients[service] = self._node.create_client(kind, service)
            client, end = self._clients[service], time.monotonic() + FIND_LIMIT
            if not client.service_is_ready():
                self._known.discard(service)
            while service not in self._known:  # an answer before the service has discovered the client is lost
                yield from _until(client.service_is_ready, end, f"there is no service {service}")
                known_at = time.monotonic() + DISCOVERY_TIME
                while time.monotonic() < known_at:
                    yield
                if client.service_is_ready():
                    self._known.add(service)
            sent = client.call_async(kind.Request(**fields))
            yield from _until(sent.done, time.monotonic() + takes + SPARE, f"no answer came from {service}")
            result.set_result(sent.result())
        except Exception as error:  # the request cannot be made: the caller gets the error
            result.set_exception(error)


def _until(done: Callable[[], bool], end: float, what: str) -> Iterator[None]:
    """Yield until `done` returns true. Raises TimeoutError that says `what` after the time `end`."""
    while not done():
        if time.monotonic() > end:
            raise TimeoutError(what)
        yield
