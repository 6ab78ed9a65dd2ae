"""Ends programs in an orderly way on SIGINT and SIGTERM."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stop_signals() -> Iterator[Callable[[], bool]]:
    """Catch SIGINT and SIGTERM in this context; yield a function that returns whether one of them was received."""
    stopping = False

    def stop(_number: int, _frame: object) -> None:
        nonlocal stopping
        stopping = True

    previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: stopping
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
