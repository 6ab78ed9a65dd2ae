"""Lines of standard input, read without waiting for them."""

import os
import select
import sys


class Keyboard:
    """Lines of standard input, which may be a terminal, a file or a pipe, until it has `ended`."""

    def __init__(self) -> None:
        self._waiting = b""
        self.ended = False

    def line(self) -> str | None:
        """Return the next line without surrounding blanks, or None if there is none yet."""
        while not self.ended and b"\n" not in self._waiting and select.select([sys.stdin], [], [], 0)[0]:
            content = os.read(sys.stdin.fileno(), 4096)
            self._waiting += content
            self.ended = not content
        line, newline, rest = self._waiting.partition(b"\n")
        if not newline and not (self.ended and line):
            return None
        self._waiting = rest
        return line.decode(errors="replace").strip()
