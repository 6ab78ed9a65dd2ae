"""What all nodes share: lifecycle transitions, and the main loop from start to a clean exit."""

import contextlib
import functools
import gc
import inspect
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import rclpy
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy._rclpy_pybind11 import RCLError  # rclpy exports it nowhere else
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions
from threadpoolctl import threadpool_limits

from icub_learning.errors import IcubLearningError
from icub_learning.nodes.common import parameters
from icub_learning.nodes.common.endpoints import CLOCK, Endpoints
from icub_learning.nodes.common.gate import Gate
from icub_learning.nodes.common.threads.scheduling import giving_way, return_large_blocks
from icub_learning.settings import Setting, setting
from icub_learning.signals import stop_signals


@dataclass(frozen=True)
class LifecycleSettings:
    """Settings that every node has."""

    autostart: bool = setting(True, "configure and activate at start-up, without a lifecycle manager")


SPIN_TIMEOUT = 0.2  # [s] longest time until a signal is noticed
LINGER = 0.3  # [s] time for the middleware to deliver the last answers before the process ends
LAST_ANSWERS = 1.0  # [s] longest time for which a node that ends still answers the requests that wait

NodeT = TypeVar("NodeT", bound="ManagedNode")


def transition(method: Callable[[NodeT], None]) -> Callable[..., TransitionCallbackReturn]:
    """Make a lifecycle callback of a method that raises when the transition must fail.

    Errors of this package become FAILURE and one log line, and what a failed configuration had made is released.
    Anything else is an internal error and leads through `on_error` to the unconfigured state; rclpy drops it silently.
    """

    @functools.wraps(method)
    def callback(self: NodeT, _state: Any) -> TransitionCallbackReturn:
        try:
            method(self)
        except IcubLearningError as error:
            self.get_logger().error(f"{error}{'' if self.configured else parameters.hint(self, self._declared)}")
            if not self.configured:
                self._release_once()
            return TransitionCallbackReturn.FAILURE
        except Exception as error:  # whatever it is, it must be logged and end the transition
            self.gate.failed(f"transition {method.__name__}", error)
            return TransitionCallbackReturn.ERROR
        return TransitionCallbackReturn.SUCCESS

    return callback


class ManagedNode(LifecycleNode):
    """A lifecycle node with parameters and a gate, which releases at cleanup and shutdown what it made at configure.

    A subclass makes what it needs in `_configure` and works between `_start` and `_stop`. Topics, timers and services
    are made by the usual methods, whose callbacks pass the gate. What was made at configure is destroyed at cleanup,
    also after an error halfway; callbacks that end anything else that was started there are added to `started`. Only
    services stay: a request that comes too late is answered with the reason instead of never.
    """

    def __init__(self, name: str, settings: Sequence[Setting]) -> None:
        self.configured = self.active = False
        self.exit_code = 0  # of the process; 1: what was learned last could not be saved
        self.started = contextlib.ExitStack()  # callbacks, called in reverse order at cleanup
        self.gate, self._declared = Gate(self), settings
        closed = "the node is not configured"
        self.endpoints = Endpoints(self, self.gate, lambda: "" if self.configured else closed)
        super().__init__(name)  # rclpy already makes services here
        self.endpoints.start()
        parameters.declare(self, settings, self._on_parameter, lambda: self.configured)
        self.steady = Clock(clock_type=ClockType.STEADY_TIME)

    def create_subscription(
        self, msg_type: type, topic: str, callback: Callable[[Any], None], *args: Any, raw: bool = False, **kwargs: Any
    ) -> Any:
        """Subscribe as rclpy does; the callback takes a message, or with `raw` its bytes, and passes the gate."""
        if topic == CLOCK:  # a subscription of rclpy's own, which keeps it
            return super().create_subscription(msg_type, topic, callback, *args, raw=raw, **kwargs)
        passed = self.gate.subscription(msg_type, callback, raw)
        kwargs = self.endpoints.watched(topic, kwargs, subscription=True)
        return super().create_subscription(msg_type, topic, passed, *args, raw=True, **kwargs)

    def create_service(self, srv_type: Any, srv_name: str, callback: Callable[..., Any], **kwargs: Any) -> Any:
        """Offer a service as rclpy does, once for the life of the node; its callback passes the gate."""
        if srv_type in (SetParameters, SetParametersAtomically):
            callback = parameters.with_known_types(callback)
        make = functools.partial(super().create_service, srv_type, srv_name, **kwargs)
        return self.endpoints.service(srv_name, callback, make)

    def create_timer(self, timer_period_sec: float, callback: Callable[[], None], *args: Any, **kwargs: Any) -> Any:
        """Start a timer as rclpy does, but on a steady clock: simulated time may pause. `callback` passes the gate."""
        kwargs.setdefault("clock", self.steady)
        passed = self.gate.guarded("timer", callback)

        def due() -> None:
            passed()

        # rclpy looks for an argument of the callback each time it is called, which takes 0.1 ms without this.
        vars(due)["__signature__"] = inspect.signature(due)
        return super().create_timer(timer_period_sec, due, *args, **kwargs)

    def create_publisher(self, msg_type: Any, topic: str, *args: Any, **kwargs: Any) -> Any:
        kwargs = self.endpoints.watched(topic, kwargs, subscription=False)
        return super().create_publisher(msg_type, topic, *args, **kwargs)

    def create_lifecycle_publisher(self, msg_type: Any, topic: str, *args: Any, **kwargs: Any) -> Any:
        kwargs = self.endpoints.watched(topic, kwargs, subscription=False)
        return super().create_lifecycle_publisher(msg_type, topic, *args, **kwargs)

    @transition
    def on_configure(self) -> None:
        self.gate.declined, self.gate.last_declined = 0, ""
        self._configure(parameters.values(self, self._declared))
        self.configured = True

    @transition
    def on_activate(self) -> None:
        super().on_activate(None)
        self.active = True
        self._start()

    @transition
    def on_deactivate(self) -> None:
        self.active = False
        self._stop("the node was deactivated")
        super().on_deactivate(None)
        self._deactivated()

    @transition
    def on_cleanup(self) -> None:
        self._release_once()

    on_shutdown = on_cleanup

    @transition
    def on_error(self) -> None:
        with contextlib.suppress(Exception):  # active publishers must not publish any more
            super().on_deactivate(None)
        self._release_once()

    def _release_once(self) -> None:
        try:
            with contextlib.ExitStack() as all_of_them:  # an error in one release does not prevent the others
                all_of_them.callback(self.endpoints.release)
                all_of_them.callback(self.started.close)
                if self.configured:
                    all_of_them.callback(self._stop, "the node was shut down")
        except Exception as error:
            self.gate.failed("release", error)
        finally:
            self.configured = self.active = False

    def _configure(self, settings: dict[str, Any]) -> None:
        """Make what the node works with, from the values of its parameters by name."""

    def _on_parameter(self, name: str, value: Any) -> None:
        """Take over a parameter that changed; see `parameters.declare`."""

    def _start(self) -> None:
        """Start to work; publishers are already active."""

    def _stop(self, reason: str) -> None:
        """Stop what `_start` started, for this reason; may be called more than once."""

    def _deactivated(self) -> None:
        """Do what is left when the node has been deactivated, such as saving."""


def run(make_node: Callable[[], ManagedNode]) -> int:
    """Run one lifecycle node, with LifecycleSettings, until a signal, or shutdown of the node or its context.

    Returns the exit code of the process: that of the node, or 1 if the node could not be made or activated.
    """
    return_large_blocks()
    # More than one BLAS thread makes the small solves of a control loop a thousand times slower. And at real-time
    # priority a thread that spins while it waits for one may keep that from ever running: the whole machine hangs.
    with stop_signals() as stopped, threadpool_limits(limits=1, user_api="blas"):
        node = None
        try:
            # rclpy's own signal handlers would invalidate the context before the node can deactivate.
            rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
            node = make_node()
            if not autostart(node):
                return 1
            gc.collect()
            gc.freeze()  # objects of start-up stay: going through them again would stall the stream for milliseconds
            executor = EventsExecutor()
            executor.add_node(node)
            while not stopped() and rclpy.ok() and not is_finalized(node):
                spin_once(executor, node)  # EventsExecutor.spin() would not return on a signal
            if rclpy.ok() and not is_finalized(node):
                node.trigger_shutdown()
            _answer_what_waits(executor, node)
            executor.remove_node(node)
            return node.exit_code
        except (IcubLearningError, RCLError) as error:  # RCLError: where security is on, and the enclave is missing
            print(error, file=sys.stderr)
            return 1
        finally:
            if node is not None:
                if rclpy.ok() and not is_finalized(node):
                    node.trigger_shutdown()
                with giving_way():  # ROS ends its participant with the last reference to the node
                    node.destroy_node()
                    node = executor = None
                    gc.unfreeze()
                    gc.collect()
            rclpy.try_shutdown()


def is_finalized(node: LifecycleNode) -> bool:
    return node._state_machine.current_state[1] == "finalized"  # rclpy has no public way to ask


def autostart(node: LifecycleNode) -> bool:
    """Configure and activate the node if its parameter `autostart` is true; return False if that failed."""
    if not node.get_parameter("autostart").value:
        return True
    success = TransitionCallbackReturn.SUCCESS
    return node.trigger_configure() == success and node.trigger_activate() == success


def spin_once(executor: Any, node: ManagedNode, timeout: float = SPIN_TIMEOUT) -> None:
    """Handle what has arrived; an exception of a callback is logged and does not end the node."""
    try:
        executor.spin_once(timeout_sec=timeout)
    except (KeyboardInterrupt, ExternalShutdownException):
        rclpy.try_shutdown()
    except InvalidHandle:  # the event of a topic that was released while it waited: rclpy's executors skip it too
        pass
    except Exception as error:  # such as a malformed request: a node never dies of a message
        node.gate.failed("executor", error)


def _answer_what_waits(executor: Any, node: ManagedNode) -> None:
    if not node.gate.pending:
        return
    deadline = time.monotonic() + LAST_ANSWERS
    while node.gate.pending and rclpy.ok() and time.monotonic() < deadline:
        spin_once(executor, node, 0.01)
    deadline = time.monotonic() + LINGER  # the executor sends an answer some rounds after its callback returned
    while rclpy.ok() and time.monotonic() < deadline:
        spin_once(executor, node, 0.01)
