"""What all nodes share: lifecycle transitions, and the main loop from start to a clean exit."""

import functools
import gc
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions
from threadpoolctl import threadpool_limits

from icub_learning.errors import IcubLearningError
from icub_learning.nodes.common import parameters
from icub_learning.settings import Setting, setting
from icub_learning.signals import stop_signals


@dataclass(frozen=True)
class LifecycleSettings:
    """Settings that every node has."""

    autostart: bool = setting(True, "configure and activate at start-up, without a lifecycle manager")


SPIN_TIMEOUT = 0.2  # [s], longest time until a signal is noticed

NodeT = TypeVar("NodeT", bound=LifecycleNode)


def transition(method: Callable[[NodeT], None]) -> Callable[..., TransitionCallbackReturn]:
    """Make a lifecycle callback of a method that returns nothing and raises when the transition must fail.

    Errors of this package become FAILURE and one log line; anything else becomes ERROR and a traceback
    (rclpy itself drops exceptions of these callbacks silently).
    """

    @functools.wraps(method)
    def callback(self: NodeT, _state: Any) -> TransitionCallbackReturn:
        try:
            method(self)
        except IcubLearningError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        except Exception:  # whatever it is, it must be logged and end the transition
            self.get_logger().error(traceback.format_exc())
            return TransitionCallbackReturn.ERROR
        return TransitionCallbackReturn.SUCCESS

    return callback


class ManagedNode(LifecycleNode):
    """A lifecycle node with parameters, which releases at cleanup and at shutdown what it made at configure.

    A subclass sets `_configured` at the end of on_configure, and implements `_release`.

    Args:
        name: name of the node.
        settings: its parameters.
        on_change: see `parameters.declare`.
    """

    def __init__(
        self, name: str, settings: Sequence[Setting], on_change: Callable[[str, Any], None] | None = None
    ) -> None:
        super().__init__(name)
        parameters.declare(self, settings, on_change)
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)  # for timers that simulated time must not stop
        self._configured = self._active = False

    @transition
    def on_cleanup(self) -> None:
        """Release everything that on_configure made."""
        self._release_once()

    @transition
    def on_shutdown(self) -> None:
        """Release everything that on_configure made, if it was configured."""
        self._release_once()

    def _release_once(self) -> None:
        if self._configured:
            self._release()
            self._configured = self._active = False

    def _release(self) -> None:
        """Stop what runs, and destroy endpoints and timers."""
        raise NotImplementedError


def run(make_node: Callable[[], LifecycleNode], args: Sequence[str] | None = None) -> int:
    """Run one lifecycle node until SIGINT, SIGTERM, its own or its context's shutdown.

    Args:
        make_node: makes the node; the node has declared LifecycleSettings.
        args: command line; None: sys.argv.

    Returns:
        The exit code of the process: 0, or 1 if the node could not be made or activated.
    """
    # rclpy's own signal handlers would invalidate the context before the node can deactivate.
    rclpy.init(args=None if args is None else list(args), signal_handler_options=SignalHandlerOptions.NO)
    with stop_signals() as stopped:
        return _run(make_node, stopped)


def _run(make_node: Callable[[], LifecycleNode], stopped: Callable[[], bool]) -> int:
    node = None
    try:
        node = make_node()
        if not _autostart(node):
            return 1
        gc.collect()
        gc.freeze()  # what start-up made stays: collecting through it again would stall the stream for milliseconds
        executor = EventsExecutor()
        executor.add_node(node)
        # More than one BLAS thread makes the small solves of a control loop a thousand times slower.
        with threadpool_limits(limits=1, user_api="blas"):
            while not stopped() and rclpy.ok() and not _finalized(node):
                _spin_once(executor, node)  # EventsExecutor.spin() would not return on a signal
        executor.remove_node(node)
        return 0
    except IcubLearningError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        if node is not None:
            if rclpy.ok() and not _finalized(node):
                node.trigger_shutdown()
            node.destroy_node()
        rclpy.try_shutdown()


def _finalized(node: LifecycleNode) -> bool:
    """Return whether a lifecycle manager has shut the node down: its process has nothing left to do."""
    return node._state_machine.current_state[1] == "finalized"  # rclpy has no public way to ask


def _autostart(node: LifecycleNode) -> bool:
    """Configure and activate the node if its parameter `autostart` is true; return False if that failed."""
    if not node.get_parameter("autostart").value:
        return True
    success = TransitionCallbackReturn.SUCCESS
    return node.trigger_configure() == success and node.trigger_activate() == success


def _spin_once(executor: Any, node: LifecycleNode) -> None:
    """Handle what has arrived; an exception of a callback is logged and does not end the node."""
    try:
        executor.spin_once(timeout_sec=SPIN_TIMEOUT)
    except (KeyboardInterrupt, ExternalShutdownException):
        rclpy.try_shutdown()
    except Exception:  # a node never dies of a message
        node.get_logger().error(traceback.format_exc())
