"""What shows the progress of the demonstration: a line at the terminal, and `icub-learning view` as a process."""

import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from icub_learning.clients.processes import Processes
from icub_learning.view import STATUS

HOST = "127.0.0.1"
TRIED = 20  # ports that are tried


class StatusLine:
    """A line that is overwritten on a terminal; elsewhere printed when its first word changes, or every ten seconds.

    It is also written to a file of the folder, for the page."""

    def __init__(self, folder: Path) -> None:
        self._file, self._terminal = folder / STATUS, sys.stdout.isatty()
        self._beginning, self._written = "", 0.0

    def show(self, text: str) -> None:
        beginning, now = text.partition(" ")[0], time.monotonic()
        self.note(text)
        if self._terminal:
            room = shutil.get_terminal_size().columns - 1  # a line that wraps cannot be written over
            print(f"\r\x1b[K{text[:room]}", end="", flush=True)
        elif beginning != self._beginning or now - self._written >= 10.0:
            self._beginning, self._written = beginning, now
            print(text, flush=True)

    def note(self, text: str) -> None:
        """Show `text` on the page alone."""
        self._file.write_text(text, encoding="utf-8")

    def end(self) -> None:
        if self._terminal:
            print(flush=True)


@contextmanager
def page(folder: Path, port: int) -> Iterator[str]:
    """Serve the page of a folder of results while the context lasts, print its address and yield it."""
    (folder / STATUS).write_text("starting", encoding="utf-8")
    port = free_port(port)
    options = ["--port", str(port), "--host", HOST, "--follow", str(folder)]
    with Processes(folder / "log") as processes:
        processes.start("view", [sys.executable, "-m", "icub_learning.cli", "view", *options], {})
        address = f"http://{HOST}:{port}/"
        print(f"Watch it in a browser: {address}  (VIEW=0 make demo, or --no-view: without)\n", flush=True)
        yield address


def free_port(first: int) -> int:
    """Return the first port from `first` on that nobody listens on, or any free one."""
    for port in (*range(first, min(first + TRIED, 65536)), 0):
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
            return int(probe.getsockname()[1])
    return 0
