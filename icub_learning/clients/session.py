"""A ROS node of a program that starts processes, talks to them, and waits for what they do."""

import time
from collections.abc import Callable
from contextlib import ExitStack

from icub_learning.clients.processes import Processes
from icub_learning.clients.services import Services
from icub_learning.clients.topics import executed_node
from icub_learning.errors import IcubLearningError

POLL_PERIOD = 0.02  # [s] between two checks of the condition that is waited for
CHECK_PERIOD = 0.5  # [s] between two checks of the processes


class Session(ExitStack):
    """Initializes ROS and makes a node, as a context manager. While it waits, `show` gets lines about the progress, and
    `processes` must keep running."""

    def __init__(self, name: str, processes: Processes, show: Callable[[str], None]) -> None:
        super().__init__()
        self._processes, self._show = processes, show
        self.node, self._executor = self.enter_context(executed_node(name))
        self._executor.add_node(self.node)
        self.services = Services(self.node, self.wait)  # messages are handled while a call waits

    def poll(self) -> None:
        """Handle messages that the executor does not handle; called again and again while the session waits."""

    def wait(self, done: Callable[[], bool], limit: float, line: Callable[[], str] | None = None) -> bool:
        """Handle messages until `done` returns true, at most `limit` seconds; return whether it did.

        Meanwhile what `line` returns is shown. Raises IcubLearningError if a process has ended.
        """
        end, checked = time.monotonic() + limit, 0.0
        while not done():
            self._executor.spin_once(timeout_sec=POLL_PERIOD)
            self.poll()
            if (now := time.monotonic()) >= end:
                return False
            if now - checked >= CHECK_PERIOD:
                checked = now
                self._processes.check()
                if line:
                    self._show(line())
        return True

    def require(self, done: Callable[[], bool], limit: float, what: str, line: Callable[[], str] | None = None) -> None:
        """Wait as `wait` does. Raises IcubLearningError that names `what` if it does not come in time."""
        if not self.wait(done, limit, line or (lambda: f"waiting for {what}")):
            raise IcubLearningError(f"waited {limit:g} s for {what} in vain; see the logs", name=what)

    def pause(self, seconds: float) -> None:
        self.wait(lambda: False, seconds)
