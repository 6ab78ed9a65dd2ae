"""Wraps every callback of a node: no error reaches the executor, and every request is answered."""

import functools
import inspect
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

from icub_learning.errors import IcubLearningError, SampleError
from icub_learning.nodes.common.serialized import message_of

LOG_PERIOD = 5.0  # [s] between two log lines about refused messages, or about internal errors
INTERNAL = "internal_error"  # reason under which unforeseen exceptions are counted


class Gate:
    """Wraps callbacks, so that no message, request or timer can raise into the executor.

    Messages are taken as bytes and deserialized here, so that malformed ones are refused like others.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self.received = 0  # messages received, including those refused here
        self.refused: Counter[str] = Counter()  # numbers of messages refused here, by reason
        self.last_refusal = ""  # reason and text of the newest refusal
        self.declined = 0  # requests and commands that the node could not fulfil
        self.last_declined = ""  # why the newest of them was declined
        self.pending = 0  # requests whose answer is not ready yet
        self._reported = 0  # internal errors that `new_errors` has returned

    def new_errors(self) -> str:
        """Return in words how many unforeseen errors there were since the last call, "" for none."""
        new, self._reported = self.refused[INTERNAL] - self._reported, self.refused[INTERNAL]
        return f"{new} internal errors; last: {self.last_refusal}" if new else ""

    def subscription(self, kind: type, callback: Callable[[Any], None], raw: bool) -> Callable[[bytes], None]:
        """Return a callback for a raw subscription that passes on messages of type `kind`, or their bytes if `raw`."""

        def received(data: bytes) -> None:
            self.received += 1
            try:
                if not raw:
                    data = message_of(data, kind)
                callback(data)
            except SampleError as error:
                self.refuse(error)
            except Exception as error:
                self.failed(f"message of type {kind.__name__}", error)

        return received

    def service(
        self, name: str, callback: Callable[[Any, Any], Any], closed: Callable[[], str] = lambda: ""
    ) -> Callable[[Any, Any], Any]:
        """Return a callback for the service `name` that answers whatever happens; a refusal gives the reason.

        `callback` returns the response, or the message of a success; an error of this package that it raises is the
        reason of a refusal. `closed` returns why no request can be served now, "" while requests can.
        """

        def answered(response: Any, said: Any) -> Any:
            return _filled(response, True, said) if isinstance(said, str) else said

        def refused(response: Any, error: Exception) -> Any:
            known = isinstance(error, IcubLearningError)
            return _filled(response, False, self.decline(error) if known else self.failed(f"request to {name}", error))

        @functools.wraps(callback)
        def answer(request: Any, response: Any) -> Any:
            if reason := closed():
                return _filled(response, False, reason)
            try:
                return answered(response, callback(request, response))
            except Exception as error:
                return refused(response, error)

        @functools.wraps(callback)
        async def answer_later(request: Any, response: Any) -> Any:
            if reason := closed():
                return _filled(response, False, reason)
            self.pending += 1
            try:
                return answered(response, await callback(request, response))
            except Exception as error:
                return refused(response, error)
            finally:
                self.pending -= 1

        return answer_later if inspect.iscoroutinefunction(callback) else answer

    def guarded(self, what: str, work: Callable[..., None]) -> Callable[..., None]:
        """Return `work`, described by `what`, so that it never raises: for timers, and threads that must not end."""

        def done(*arguments: Any) -> None:
            try:
                work(*arguments)
            except InvalidHandle:  # a timer came due while the node is being destroyed
                pass
            except SampleError as error:
                self.refuse(error)
            except Exception as error:
                self.failed(what, error)

        return done

    def refuse(self, error: SampleError) -> None:
        self.refused[error.reason] += 1
        self.last_refusal = f"{error.reason}: {error}"
        self.log(error)

    def log(self, error: SampleError) -> None:
        self._node.get_logger().warning(f"refused ({error.reason}): {error}", throttle_duration_sec=LOG_PERIOD)

    def decline(self, error: Exception) -> str:
        """Count and log a request or command that cannot be fulfilled; return why not."""
        self.declined += 1
        self.last_declined = str(error)
        self._node.get_logger().warning(f"refused: {error}")
        return self.last_declined

    def failed(self, what: str, error: BaseException) -> str:
        """Count an unforeseen error and log it, at most once per LOG_PERIOD; return it in words."""
        text = f"{INTERNAL}: {what}: {type(error).__name__}: {error}"
        self.refused[INTERNAL] += 1
        self.last_refusal = text
        details = "".join(traceback.format_exception(error))
        self._node.get_logger().error(f"{text}\n{details}", throttle_duration_sec=LOG_PERIOD)
        return text


def _filled(response: Any, success: bool, message: str) -> Any:
    """Return the response with these values, as far as its type has such fields."""
    for field, value in (("success", success), ("message", message)):
        if hasattr(response, field):
            setattr(response, field, value)
    return response
