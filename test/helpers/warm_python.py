"""Python programs without the seconds that their imports take: forks of a process that has imported everything already.

A node imports NumPy, Pinocchio and ROS 2 before its first line runs, and tests start hundreds of nodes. So each pytest
process starts one interpreter that imports what nodes and commands import, has no threads, and forks for each program:
`python -m MODULE ARGUMENTS` or `python FILE.py ARGUMENTS`, in a session and environment of its own, as a new
interpreter would run it, but with patience for a busy machine (helpers.limits).
"""

import contextlib
import ctypes
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

IMPORTED = (
    *(f"icub_learning.nodes.{name}.node" for name in ("inverse_dynamics", "object_recognition", "icub_simulation")),
    "icub_learning.nodes.gazebo_controller.node",
    "icub_learning.evaluation",
    "icub_learning.simulation.arm.recordings",
)


class WarmProgram:
    """A program that was forked: what `subprocess.Popen` has of `pid`, `poll`, `wait` and `returncode`."""

    def __init__(self, server: "WarmPython", pid: int) -> None:
        self._server, self.pid, self.returncode = server, pid, None
        self._exit = os.pidfd_open(pid)  # its parent tells the exit code, but may be busy with the next fork

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, or None while the program runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code as soon as it is there; TimeoutExpired after `timeout` seconds."""
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._exit, selectors.EVENT_READ)
                if not selector.select(timeout):
                    raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            self.returncode = self._server.ask(reap=self.pid)
            os.close(self._exit)
        return self.returncode


class WarmPython:
    """The interpreter that forks; it starts with the first program and ends with this process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, program: str, arguments: list[str], log: Path) -> WarmProgram:
        """Run a module or FILE.py in the folder and environment of this process, its output in `log`."""
        if self._process is None:
            ours, theirs = socket.socketpair()
            environment = {name: text for name, text in os.environ.items() if name != "COVERAGE_PROCESS_START"}
            line = [sys.executable, __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(line, pass_fds=[theirs.fileno()], env=environment, start_new_session=True)
            theirs.close()
            self._channel = ours.makefile("rw")
        request = {"program": program, "arguments": arguments, "log": str(log)}
        return WarmProgram(self, self.ask(**request, folder=os.getcwd(), environment=dict(os.environ)))

    def ask(self, **request: Any) -> int:
        """Send a request and return the answer: a process number, or an exit code."""
        self._channel.write(json.dumps(request) + "\n")
        self._channel.flush()
        return int(self._channel.readline())


def serve(channel: Any) -> dict[str, Any]:
    """Answer requests until the other side is gone; in each forked child, return what it has to run."""
    for name in IMPORTED:
        importlib.import_module(name)
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    importlib.import_module("helpers.limits").set_limits()
    sys.path.pop(0)
    # A fork has this thread alone. The others here are ROS's tracing, asleep until somebody traces.
    assert len(os.listdir("/proc/self/task")) <= 3, "an import started a thread, which no fork would have"
    for line in channel:
        request = json.loads(line)
        if "reap" in request:
            answer = os.waitstatus_to_exitcode(os.waitpid(request["reap"], 0)[1])
        elif (answer := os.fork()) == 0:
            return request
        channel.write(f"{answer}\n")
        channel.flush()
    os._exit(0)


def become(request: dict[str, Any]) -> None:
    """Make this forked process what a new interpreter would be, its output in the log."""
    libc = ctypes.CDLL(None)
    libc.on_exit(libc._exit, None)  # ROS's tracing would end its threads, which are the parent's
    os.setsid()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    for target, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        opened = os.open(path, flags, 0o644)
        os.dup2(opened, target)
        os.close(opened)
    os.dup2(1, 2)
    program = request["program"]
    sys.argv = [program, *request["arguments"]]
    sys.path[0] = os.path.dirname(program) if program.endswith(".py") else request["folder"]
    sys.modules.pop(program, None)
    if "COVERAGE_PROCESS_START" in os.environ:
        import coverage

        coverage.process_startup()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest, which closes the channel when it ends
    with socket.socket(fileno=int(sys.argv[1])) as connection, connection.makefile("rw") as messages:
        task = serve(messages)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    become(task)
    if task["program"].endswith(".py"):
        runpy.run_path(task["program"], run_name="__main__")
    else:
        runpy.run_module(task["program"], run_name="__main__", alter_sys=True)
