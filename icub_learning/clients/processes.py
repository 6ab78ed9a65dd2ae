"""Child processes that write to log files and end with the program."""

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from icub_learning.errors import IcubLearningError
from icub_learning.launching import children

LAST_LINES = 15  # of a failed child's log, in the error


class Processes:
    """Starts processes, with NAME.log of each in a folder, and ends all of them at the end of its context."""

    def __init__(self, log_folder: Path) -> None:
        self._log_folder = log_folder
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start one process; see `icub_learning.launching.children.start`."""
        self._log_folder.mkdir(parents=True, exist_ok=True)
        with self._log(name).open("wb") as log:
            self._children[name] = children.start(command, environment, log)

    def pid(self, name: str) -> int:
        """Return the process id of a process that was started."""
        return self._children[name].pid

    def check(self) -> None:
        """Raise IcubLearningError if a process has ended, with the last lines of its log."""
        for name, child in self._children.items():
            code = child.poll()
            if code is not None:
                lines = self._log(name).read_text(errors="replace").splitlines()[-LAST_LINES:]
                for line in lines:
                    print(f"  {name} | {line}", file=sys.stderr)
                text = f"{name} ended by itself: {children.describe(code)}; its log: {self._log(name)}"
                raise IcubLearningError(text, name=name, value=code, bound="a running process")

    def stop(self) -> None:
        """End all processes; kill those that do not end when asked."""
        # SIGTERM, because Python that still imports answers SIGINT with a traceback.
        children.end(list(self._children.values()), signal.SIGTERM)

    def _log(self, name: str) -> Path:
        return self._log_folder / f"{name}.log"
