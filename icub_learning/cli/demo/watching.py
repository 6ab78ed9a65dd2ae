"""The page on which the demonstration is watched: `icub-learning view` as a process beside it."""

import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from icub_learning.clients.processes import Processes
from icub_learning.view import STATUS

HOST = "127.0.0.1"
TRIED = 20  # ports


class Page:
    """Starts the page of a folder of results and prints its address; it ends with this context, and alone."""

    def __init__(self, folder: Path, port: int, environment: Mapping[str, str]) -> None:
        self._processes = Processes(folder / "log")
        (folder / STATUS).write_text("starting", encoding="utf-8")
        port = free_port(port)
        options = ["--port", str(port), "--host", HOST, "--follow", str(folder)]
        self._processes.start("view", [sys.executable, "-m", "icub_learning.cli", "view", *options], environment)
        self.address = f"http://{HOST}:{port}/"
        print(f"Watch it in a browser: {self.address}  (VIEW=0 make demo, or --no-view: without)\n", flush=True)

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.stop()

    def wait(self) -> None:
        """Keep the page until Ctrl-C, for the pictures at its end."""
        print(f"The page stays at {self.address} until Ctrl-C.", flush=True)
        try:
            while True:
                time.sleep(1.0)
        except KeyboardInterrupt:
            print()


def free_port(first: int) -> int:
    """Return the first port from `first` on that nobody listens on, or any free one."""
    for port in (*range(first, min(first + TRIED, 65536)), 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    return 0
