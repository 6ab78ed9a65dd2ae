"""Waiting in the coroutine of a service without taking a whole core."""

import math
import time
import types
from collections.abc import Callable, Generator

PAUSE = 0.0005  # [s] between two looks, by which other work of the executor is delayed at most


@types.coroutine
def until(condition: Callable[[], bool], timeout: float = math.inf) -> Generator[None, None, bool]:
    """Wait until a condition holds, such as `future.done`; return whether it did within `timeout` [s].

    Executors of rclpy resume a waiting coroutine again and again without a pause, which keeps a core busy.
    """
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE)
        yield
    return True
