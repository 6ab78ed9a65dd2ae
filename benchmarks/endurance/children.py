"""Nodes as child processes in a ROS domain of their own, with their output, memory and exit code."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from icub_learning.clients.processes import RosDomain
from icub_learning.launching import children
from icub_learning.launching.commands import node_command

ARM = (
    "r_shoulder_pitch",
    "r_shoulder_roll",
    "r_shoulder_yaw",
    "r_elbow",
    "r_wrist_prosup",
    "r_wrist_pitch",
    "r_wrist_yaw",
)
CHECKOUT = Path(__file__).resolve().parents[2]


@contextmanager
def own_domain() -> Iterator[int]:
    """Put this process and its children into a ROS domain that nobody else on this machine uses."""
    with RosDomain() as domain:
        os.environ.update(ROS_DOMAIN_ID=str(domain.number), ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        paths = [str(CHECKOUT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
        yield domain.number


def resident(process: int) -> float:
    """Return the resident memory of a process [MiB]."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class Child:
    """A process with its output in a file; ends with its context.

    Args:
        line: command line.
        log: file of its output; it is appended to.
    """

    def __init__(self, line: list[str], log: Path) -> None:
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._popen = children.start(line, {}, output)

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._popen.poll() is None

    @property
    def output(self) -> str:
        """What all processes with this log have written."""
        return self.log.read_text(errors="replace")

    def memory(self) -> float:
        """Return its resident memory [MiB]."""
        return resident(self._popen.pid)

    def kill(self) -> None:
        """Kill it, as a power failure would end it."""
        self.signal(signal.SIGKILL)
        self._popen.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        children.send(self._popen, number)

    def end(self) -> int:
        """Ask it to end, kill it if it does not; return the exit code."""
        children.end([self._popen])
        return self._popen.returncode

    def wait(self, seconds: float) -> int | None:
        """Return the exit code, or None if it has not ended after `seconds`."""
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return None


def node(module: str, log: Path, name: str = "", **parameters: Any) -> Child:
    """Start a node of icub_learning.nodes."""
    return Child(node_command(module, name, parameters), log)
