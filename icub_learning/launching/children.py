"""Child processes that end reliably: on a signal, by force if they ignore it, and when their parent is killed."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import IO

GRACE = 5.0  # [s] between asking a process to end and killing it
PERIOD = 0.05  # [s] between two checks of the processes


def start(line: Sequence[str], environment: Mapping[str, str], output: int | IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a process in a process group of its own, with additional `environment`; stdout and stderr go to `output`.

    Signals to the group then reach its children as well, and Ctrl-C in a terminal reaches it once and not twice. Raises
    OSError if it fails.
    """
    return subprocess.Popen(
        list(line),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        # PYTHONUNBUFFERED: otherwise Python writes to pipes and files in blocks, and lines come late.
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        start_new_session=True,
        # Linux ends the child when its parent is killed: option 1 of prctl is PR_SET_PDEATHSIG.
        preexec_fn=partial(ctypes.CDLL(None).prctl, 1, signal.SIGTERM) if sys.platform == "linux" else None,
    )


def end(children: Sequence[subprocess.Popen[bytes]]) -> list[subprocess.Popen[bytes]]:
    """End processes that `start` returned, and their children, with SIGTERM; return those that had to be killed."""
    for child in children:
        # Not SIGINT: Python that is still importing answers it with a traceback, and at times misses it.
        send(child, signal.SIGTERM)
    limit = time.monotonic() + GRACE
    while any(child.poll() is None for child in children) and time.monotonic() < limit:
        time.sleep(PERIOD)
    killed = [child for child in children if child.poll() is None]
    for child in children:
        send(child, signal.SIGKILL)  # also ends what is left of its process group
        child.wait()
    return killed


def send(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a process and its group, if there still is one."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)


def describe(code: int) -> str:
    """Return an exit code of subprocess in words."""
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
