"""Runs several processes together: forwards their output, and ends all of them when one ends the system."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO

from icub_learning.launching import children
from icub_learning.launching.commands import Command
from icub_learning.signals import stop_signals


class Supervisor:
    """Starts processes, hands their output to `write` (None: print), and ends all when one ends or a signal comes."""

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        self._write = write or (lambda line: print(line, flush=True))
        self._running: list[tuple[Command, subprocess.Popen[bytes]]] = []
        self._readers: list[threading.Thread] = []

    def run(self, commands: Sequence[Command]) -> int:
        """Run until the system ends; call it from the main thread, where Python handles signals. Returns 0 if a signal
        or a finished process ended the system; 1 if a process failed, or had to be killed."""
        with stop_signals() as stopped:
            failed = not self._start(commands)
            for reader in self._readers:  # once all have started: Python with threads must not run after a fork
                reader.start()
            ended = False
            while not (failed or ended or stopped()):
                time.sleep(children.PERIOD)
                ended, failed = self._collect()
            killed = children.end([process for _, process in self._running])
            for command, process in self._running:
                if process in killed:
                    self._write(f"[{command.name}] did not end within {children.GRACE:g} s: killed")
        for reader in self._readers:
            reader.join(timeout=1.0)  # a grandchild may keep the pipe open for ever
        return int(failed or bool(killed))

    def _start(self, commands: Sequence[Command]) -> bool:
        for command in commands:
            try:
                process = children.start(command.line, command.environment, subprocess.PIPE)
            except OSError as error:
                self._write(f"[{command.name}] cannot be started: {error}")
                return False
            self._running.append((command, process))
            given = (command.name, process.stdout)
            self._readers.append(threading.Thread(target=self._forward, args=given, daemon=True))
        return True

    def _forward(self, name: str, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                self._write(f"[{name}] {line.decode(errors='replace').rstrip()}")

    def _collect(self) -> tuple[bool, bool]:
        """Remove one process that has ended; return whether there was one, and whether its end is a failure."""
        for command, process in self._running:
            if (code := process.poll()) is not None:
                self._running.remove((command, process))
                children.send(process, signal.SIGKILL)  # ends what is left of its process group
                failed = code != 0 or not command.finishes
                how = "ended unexpectedly" if failed else "is done"
                self._write(f"[{command.name}] {how}: {children.describe(code)}")
                return True, failed
        return False, False
