"""Child processes of a test: output in a file, waits for events, and an end with the test."""

import contextlib
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from helpers.waiting import PATIENCE, wait_until
from helpers.warm_python import start

from icub_learning.launching.commands import node_command

GRACE = 60.0  # [s] between asking a process to end and killing it


def nodes_in(domain: int) -> dict[int, str]:
    """Return the command lines of this package's nodes in a ROS domain, by process number."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line, environment = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
            if b"_node\0" in line and f"ROS_DOMAIN_ID={domain}".encode() in environment.split(b"\0"):
                found[int(folder.name)] = line.decode().replace("\0", " ")
    return found


def runs(process: int | str) -> bool:
    """Return whether a process runs; one that has ended but whose parent has not waited for it does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children_of(process: int) -> list[int]:
    """Return the numbers of the processes that a process has started and that still run."""
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def own_sockets(ports: range) -> list[int]:
    """Return the UDP ports of a range that this process has bound; [] where there is no /proc."""
    if not Path("/proc/net/udp").exists():
        return []
    bound = [line.split() for line in Path("/proc/net/udp").read_text().splitlines()[1:]]
    sockets = {f"socket:[{fields[9]}]": int(fields[1].split(":")[1], 16) for fields in bound}
    own = [os.readlink(file) for file in Path("/proc/self/fd").iterdir() if file.is_symlink()]
    return sorted(port for socket, port in sockets.items() if socket in own and port in ports)


URGENT = ("inverse_dynamics", "icub_simulation", "gazebo_joint_states")  # nodes that ask for real-time priority


def shy_node_command(module: str, name: str = "", parameters: dict[str, Any] | None = None, **extra: Any) -> list[str]:
    """Return the command line of a node without real-time priority, unless its parameters say otherwise."""
    shy = {"realtime_priority": 0} if module in URGENT else {}  # several urgent nodes would leave no core to others
    return node_command(module, name, {**shy, **(parameters or {})}, **extra)


class Process(contextlib.AbstractContextManager):
    """A child process with output in a file: its end ends all waits, the test or its context ends its process group."""

    def __init__(self, command: list[str], log: Path) -> None:
        self.log = log
        log.touch()
        self._process = start(command, log)
        self.pid: int = self._process.pid

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether the process has not ended yet."""
        return self._process.exitcode is None

    @property
    def output(self) -> str:
        """What it has written so far, to standard output and standard error."""
        return self.log.read_text(errors="replace")

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Wait for output that matches; the test fails if the process ends before."""

        def found() -> re.Match[str] | None:
            ended, match = not self.running, re.search(pattern, self.output)
            if ended and not match:
                pytest.fail(f"ended with {self._process.exitcode} before {pattern!r} came:\n{self.output}")
            return match

        return wait_until(found, f"{pattern!r} in the output of a process")

    def wait(self) -> int:
        """Return the exit code once the process has ended; the test fails if it runs on without a word."""
        said = None
        while self.running and said != self.output:  # on a busy machine a long demonstration takes longer than PATIENCE
            said = self.output
            self._process.join(PATIENCE)
        if self.running:
            self.send_signal(signal.SIGUSR1)
            self._process.join(1.0)
            pytest.fail(f"still running, and silent for {PATIENCE:g} s:\n{self.output}")
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def stop(self, number: int = signal.SIGINT) -> int:
        """Send a signal, kill the whole group if that does not end it within the grace time; return the exit code."""
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                self.send_signal(number)
        self._process.join(GRACE)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)  # also children that outlived their parent
        self._process.join()
        return self._process.exitcode
