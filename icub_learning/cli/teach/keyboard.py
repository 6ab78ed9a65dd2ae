"""Lines of standard input, read without waiting for them."""

import os
import select
import sys


class Keyboard:
    """Lines of standard input, which may be a terminal, a file or a pipe."""

    def __init__(self) -> None:
        self._waiting, self._ended = b"", False

    def ready(self) -> bool:
        """Take in what has been typed; return whether a line has come, or the end."""
        while not self._ended and b"\n" not in self._waiting and select.select([sys.stdin], [], [], 0)[0]:
            content = os.read(sys.stdin.fileno(), 4096)
            self._waiting += content
            self._ended = not content
        return self._ended or b"\n" in self._waiting

    def line(self) -> str | None:
        """Return the next line without surrounding blanks; None at the end."""
        line, newline, self._waiting = self._waiting.partition(b"\n")
        return line.decode(errors="replace").strip() if line or newline else None
