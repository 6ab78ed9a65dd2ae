"""The main loop that all nodes share: start, activate, spin, and on a signal shut down and leave cleanly."""

import functools
import gc
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions
from threadpoolctl import threadpool_limits

from icub_learning.errors import IcubLearningError
from icub_learning.settings import setting


@dataclass(frozen=True)
class LifecycleSettings:
    """Settings that every node has."""

    autostart: bool = setting(True, "configure and activate at start-up, without a lifecycle manager")


SPIN_TIMEOUT = 0.2  # [s], longest time until a signal is noticed

NodeT = TypeVar("NodeT", bound=LifecycleNode)


def transition(
    method: Callable[[NodeT], None],
) -> Callable[..., TransitionCallbackReturn]:
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


def run(make_node: Callable[[], LifecycleNode], args: Sequence[str] | None = None) -> int:
    """Run one lifecycle node until SIGINT, SIGTERM, its own or its context's shutdown.

    Args:
        make_node: makes the node; the node has declared LifecycleSettings.
        args: command line, sys.argv if None.

    Returns:
        The exit code of the process: 0, or 1 if the node could not be made or activated.
    """
    stopping = False

    def stop(*_: Any) -> None:
        nonlocal stopping
        stopping = True

    # rclpy's own handlers would invalidate the context before the node can deactivate.
    rclpy.init(
        args=None if args is None else list(args),
        signal_handler_options=SignalHandlerOptions.NO,
    )
    previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
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
            while not stopping and rclpy.ok() and not _finalized(node):
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
        for number, handler in previous.items():
            signal.signal(number, handler)


def _finalized(node: LifecycleNode) -> bool:
    """Whether a lifecycle manager has shut the node down for good: its process has nothing left to do."""
    return node._state_machine.current_state[1] == "finalized"  # rclpy has no public way to ask


def _autostart(node: LifecycleNode) -> bool:
    """Configure and activate if the node asks for it; False if that failed."""
    if not node.get_parameter("autostart").value:
        return True
    success = TransitionCallbackReturn.SUCCESS
    return node.trigger_configure() == success and node.trigger_activate() == success


def _spin_once(executor: Any, node: LifecycleNode) -> None:
    """Handle what has arrived; a callback that raises is logged, never the end of the node."""
    try:
        executor.spin_once(timeout_sec=SPIN_TIMEOUT)
    except (KeyboardInterrupt, ExternalShutdownException):
        rclpy.try_shutdown()
    except Exception:  # a node never dies of a message
        node.get_logger().error(traceback.format_exc())
