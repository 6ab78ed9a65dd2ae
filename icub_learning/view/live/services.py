"""Services of nodes, asked for by the page's threads and called by the one that handles messages."""

import queue
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from icub_learning.clients.services import FIND_LIMIT, SPARE
from icub_learning.nodes.common.qos import DISCOVERY_TIME
from icub_learning.view.shown.state import Answer
from icub_learning_msgs.srv import ForgetObject, IdentifyPayload, ModelFile, RenameObject, TeachDetection, TeachObject

KINDS = {
    "teach": TeachObject,
    "teach_detection": TeachDetection,
    "forget_object": ForgetObject,
    "rename_object": RenameObject,
    "set_learning": SetBool,
    "reset": Trigger,
    "tare": Trigger,
    "identify_payload": IdentifyPayload,
    "save_model": ModelFile,
    "load_model": ModelFile,
    "merge_model": ModelFile,
}


@dataclass
class _Request:
    kind: Any
    service: str
    fields: dict[str, object]
    takes: float
    result: "Future[Any]" = field(default_factory=Future)
    client: Any = None
    ready_at: float = 0.0  # from when the service knows the client too; an answer before that would be lost
    sent: Any = None
    limit: float = 0.0


class ServiceCalls:
    """Requests from any thread, carried out by `handle`, which the thread that spins the node calls again and again."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._new: queue.SimpleQueue[_Request] = queue.SimpleQueue()
        self._waiting: list[_Request] = []
        self._clients: dict[str, Any] = {}
        self._known: set[str] = set()  # services that have known their client long enough

    def ask(self, node: str, service: str, takes: float = 0.0, **fields: object) -> Answer:
        """Call one of KINDS and wait for its answer; see `icub_learning.view.shown.state.Ask`."""
        if not node:
            return Answer(False, "there is no node to ask: none is running, or none is chosen")
        try:
            response = self.send(KINDS[service], f"{node}/{service}", takes, **fields).result(
                FIND_LIMIT + DISCOVERY_TIME + takes + 2.0 * SPARE
            )
        except TimeoutError as error:
            return Answer(False, str(error) or f"{node}/{service} did not answer")
        except (AssertionError, TypeError, OverflowError, SystemError) as error:  # a value that the message cannot hold
            return Answer(False, str(error) or f"{node}/{service} cannot be asked for {fields}")
        return Answer(bool(response.success), str(response.message))

    def send(self, kind: Any, service: str, takes: float = 0.0, **fields: object) -> "Future[Any]":
        """Send a request; the future gets its response, or TimeoutError without a service or an answer."""
        request = _Request(kind, service, fields, takes, limit=time.monotonic() + FIND_LIMIT)
        self._new.put(request)
        return request.result

    def handle(self) -> None:
        """Go on with all requests."""
        while not self._new.empty():
            self._waiting.append(self._new.get())
        self._waiting = [request for request in self._waiting if not self._go_on(request, time.monotonic())]

    def _go_on(self, request: _Request, now: float) -> bool:
        """Do what can be done without waiting; return whether the request is finished."""
        try:
            if request.sent is None:
                self._try_to_send(request, now)
            elif request.sent.done():
                request.result.set_result(request.sent.result())
                return True
            if now > request.limit:
                what = "there is no service" if request.sent is None else "no answer came from"
                request.result.set_exception(TimeoutError(f"{what} {request.service}"))
                return True
        except Exception as error:  # of a request that cannot be made: the one who asks is told
            request.result.set_exception(error)
            return True
        return False

    def _try_to_send(self, request: _Request, now: float) -> None:
        client = self._clients.get(request.service)
        if client is None:
            client = self._clients[request.service] = self._node.create_client(request.kind, request.service)
        if not client.service_is_ready():
            self._known.discard(request.service)
            request.ready_at = 0.0
            return
        if request.service not in self._known:
            request.ready_at = request.ready_at or now + DISCOVERY_TIME
            if now < request.ready_at:
                return
            self._known.add(request.service)
        request.sent = client.call_async(request.kind.Request(**request.fields))
        request.limit = now + request.takes + SPARE
