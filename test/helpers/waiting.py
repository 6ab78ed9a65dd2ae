"""The one way in which live tests wait: for an event, however long the machine takes."""

import time
from collections.abc import Callable
from typing import Any

# [s] longest wait: it only ends a test that hangs. Nothing is measured with it, and no test waits for it to pass.
PATIENCE = 240.0


def wait_until(condition: Callable[[], Any], what: str, between: Callable[[], Any] = lambda: time.sleep(0.02)) -> Any:
    """Return what `condition` returns as soon as that is true; the test fails if it is not within PATIENCE.
    `what` is waited for, in words; `between` is called each time the condition does not hold yet."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {PATIENCE:g} s in vain for {what}"
        between()
    return found
