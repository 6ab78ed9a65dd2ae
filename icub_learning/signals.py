"""Ends programs in an orderly way on SIGINT, SIGTERM and SIGHUP."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stop_signals() -> Iterator[Callable[[], bool]]:
    """Catch SIGINT, SIGTERM and SIGHUP in this context; yield a function that returns whether one was received. SIGHUP,
    by which a terminal that closes ends its programs, stays ignored under nohup."""
    stopping = False

    def stop(_number: int, _frame: object) -> None:
        nonlocal stopping
        stopping = True

    hang_up = [] if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else [signal.SIGHUP]
    previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, *hang_up)}
    try:
        yield lambda: stopping
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
