"""Waiting for a future in the coroutine of a service without taking a whole core."""

import time
from collections.abc import Callable, Generator
from typing import Generic, TypeVar

from rclpy.task import Future

PAUSE = 0.0005  # [s] between two looks, by which other work of the executor is delayed at most

ResultT = TypeVar("ResultT")


class Waiting(Generic[ResultT]):
    """Awaits a future: `await Waiting(future)`.

    Executors of rclpy resume a waiting coroutine again and again without a pause, which keeps a core busy.
    """

    def __init__(self, future: Future) -> None:
        self._future = future

    def __await__(self) -> Generator[None, None, ResultT]:
        while not self._future.done():
            time.sleep(PAUSE)
            yield
        return self._future.result()


class WaitingUntil:
    """Awaits a condition that another thread brings about: `await WaitingUntil(condition, timeout)`.

    The result is whether the condition held within `timeout` seconds.
    """

    def __init__(self, condition: Callable[[], bool], timeout: float) -> None:
        self._condition, self._deadline = condition, time.monotonic() + timeout

    def __await__(self) -> Generator[None, None, bool]:
        while not self._condition():
            if time.monotonic() > self._deadline:
                return False
            time.sleep(PAUSE)
            yield
        return True
