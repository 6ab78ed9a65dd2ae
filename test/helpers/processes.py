"""A child process of a test: its output in a file, waits that are bounded, and an end with the test."""

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

GRACE = 5.0  # [s], between asking a process to end and killing it


class Process:
    """A child process with its output in a file: waits are bounded, and its whole group ends with the test."""

    def __init__(self, command: list[str], log: Path) -> None:
        self.log = log
        with open(log, "wb") as output:
            self._popen = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )

    @property
    def running(self) -> bool:
        """Whether the process has not ended yet."""
        return self._popen.poll() is None

    @property
    def pid(self) -> int:
        """Its process number."""
        return self._popen.pid

    @property
    def output(self) -> str:
        """What it has written so far, to standard output and standard error."""
        return self.log.read_text(errors="replace")

    def wait_for(self, pattern: str, timeout: float = 20.0) -> re.Match[str]:
        """Wait for output that matches, at most `timeout` seconds; the test fails if the process ends before."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            ended = not self.running
            if found := re.search(pattern, self.output):
                return found
            if ended:
                pytest.fail(f"ended with {self._popen.returncode} before {pattern!r} came:\n{self.output}")
            time.sleep(0.05)
        pytest.fail(f"{pattern!r} did not come within {timeout} s:\n{self.output}")

    def wait(self, timeout: float) -> int:
        """Return the exit code; the test fails if the process does not end within `timeout` seconds."""
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            pytest.fail(f"still running after {timeout} s:\n{self.output}")

    def stop(self, number: int = signal.SIGINT) -> int:
        """Send a signal, kill the whole group if that does not end it within the grace time; return the exit code."""
        if self.running:
            self._popen.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(GRACE)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signal.SIGKILL)  # also children that outlived their parent
        return self._popen.wait()
