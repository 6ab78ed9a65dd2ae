"""Waiting in a service's coroutine without taking a whole core."""

import time
from collections.abc import Generator
from typing import Generic, TypeVar

from rclpy.task import Future

PAUSE = 0.0005  # s between two looks; what else the executor does is later by that much at most

ResultT = TypeVar("ResultT")


class Waiting(Generic[ResultT]):
    """Waits for a future: `await Waiting(future)`.

    Executors of rclpy resume a coroutine that waits again and again, with nothing in between if nothing else is to be
    done, which keeps a core busy for as long as it takes.
    """

    def __init__(self, future: Future) -> None:
        self._future = future

    def __await__(self) -> Generator[None, None, ResultT]:
        while not self._future.done():
            time.sleep(PAUSE)
            yield
        return self._future.result()
