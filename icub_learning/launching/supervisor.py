"""Runs several processes as one: their output side by side, their end together."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from icub_learning.launching.commands import Command
from icub_learning.launching.table import AtEnd

GRACE = 5.0  # [s] between asking a process to end and killing it
PERIOD = 0.05  # [s] between looks at the processes
PR_SET_PDEATHSIG = 1  # of Linux's prctl


class Supervisor:
    """Starts processes, forwards what they write, and ends all when one of them or a signal ends the system.

    Each process leads a group of its own, so that a signal reaches what it has started as well, and Ctrl-C in a
    terminal reaches it once and not twice.
    """

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        """`write` takes lines of output, standard output if None."""
        self._write = write or (lambda line: print(line, flush=True))
        self._running: list[tuple[Command, subprocess.Popen]] = []
        self._readers: list[threading.Thread] = []
        self._asked: signal.Signals | None = None

    def run(self, commands: Sequence[Command]) -> int:
        """Run until the system ends; call it from the main thread, where Python handles signals.

        Returns:
            0 if a signal or a process that was done ended the system; 1 if a process failed, or had to be killed.
        """
        with self._signals():
            failed = not self._start(commands)
            for reader in self._readers:  # not before all are started: a process with threads must not fork into Python
                reader.start()
            while not failed and self._running and self._asked is None:
                ended, failed = self._collect()
                if ended:
                    break
                time.sleep(PERIOD)
            killed = self._stop()
        for reader in self._readers:
            reader.join(timeout=1.0)  # a grandchild may hold the pipe for ever
        return int(failed or killed)

    def _start(self, commands: Sequence[Command]) -> bool:
        for command in commands:
            try:
                process = subprocess.Popen(
                    command.line,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    # Python writes to pipes in blocks otherwise, and lines would come late.
                    env={**os.environ, "PYTHONUNBUFFERED": "1", **command.environment},
                    start_new_session=True,
                    preexec_fn=die_with_parent if sys.platform == "linux" else None,
                )
            except OSError as error:
                self._write(f"[{command.name}] cannot be started: {error}")
                return False
            self._running.append((command, process))
            self._readers.append(
                threading.Thread(target=self._forward, args=(command.name, process.stdout), daemon=True)
            )
        return True

    def _forward(self, name: str, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                self._write(f"[{name}] {line.decode(errors='replace').rstrip()}")

    def _collect(self) -> tuple[bool, bool]:
        """Take note of processes that ended by themselves: whether that ends the system, and whether as a failure."""
        for command, process in list(self._running):
            code = process.poll()
            if code is None:
                continue
            self._running.remove((command, process))
            send(process, signal.SIGKILL)  # what it has left behind in its group
            failed = code != 0 or command.at_end is AtEnd.FAIL
            self._write(f"[{command.name}] {'ended unexpectedly' if failed else 'is done'}: {describe(code)}")
            if failed or command.at_end is AtEnd.STOP:
                return True, failed
        return False, False

    def _stop(self) -> bool:
        """End what still runs; True if a process had to be killed."""
        for _, process in self._running:
            send(process, signal.SIGINT)
        limit = time.monotonic() + GRACE
        while any(process.poll() is None for _, process in self._running) and time.monotonic() < limit:
            time.sleep(PERIOD)
        killed = False
        for command, process in self._running:
            if process.poll() is None:
                self._write(f"[{command.name}] did not end within {GRACE:g} s: killed")
                killed = True
            send(process, signal.SIGKILL)  # what it has left behind in its group, too
            process.wait()
        return killed

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        def ask(number: int, _frame: object) -> None:
            self._asked = signal.Signals(number)

        previous = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


def die_with_parent() -> None:
    """Have Linux end this process when its parent is killed; for the child, between fork and exec."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def send(process: subprocess.Popen, number: signal.Signals) -> None:
    """Send a signal to a process and its group, if there still is one."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def describe(code: int) -> str:
    """Return an exit code of subprocess in words."""
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
