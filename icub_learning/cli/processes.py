"""Child processes that always end: with the command, when one of them fails, and when the command itself is killed."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from icub_learning.errors import IcubLearningError

GRACE = 5.0  # [s] between one signal and the next, stronger one
LAST_LINES = 15  # of a failed child's log, in the error
_PR_SET_PDEATHSIG = 1  # of Linux' prctl


class Processes:
    """Starts processes whose output goes to log files; leaving the context stops them all.

    Args:
        log_folder: one NAME.log for each process.
    """

    def __init__(self, log_folder: Path) -> None:
        self._log_folder = log_folder
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Processes":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start one process, in a session of its own so that Ctrl-C reaches it through `stop` only."""
        self._log_folder.mkdir(parents=True, exist_ok=True)
        with self._log(name).open("wb") as log:
            self._children[name] = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                start_new_session=True,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )

    def check(self) -> None:
        """Raise IcubLearningError if a process has ended, with the last lines of its log."""
        for name, child in self._children.items():
            code = child.poll()
            if code is not None:
                lines = self._log(name).read_text(errors="replace").splitlines()[-LAST_LINES:]
                for line in lines:
                    print(f"  {name} | {line}", file=sys.stderr)
                text = f"{name} ended with exit code {code}; its log: {self._log(name)}"
                raise IcubLearningError(text, name=name, value=code, bound="a running process")

    def stop(self) -> None:
        """End all processes: interrupt, then terminate, then kill those that stay."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            running = [child for child in self._children.values() if child.poll() is None]
            for child in running:
                child.send_signal(number)
            end = time.monotonic() + GRACE
            while running and time.monotonic() < end:
                running = [child for child in running if child.poll() is None]
                time.sleep(0.02)
            if not running:
                return

    def _log(self, name: str) -> Path:
        return self._log_folder / f"{name}.log"


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
