"""What the demonstration is doing, for people at a terminal and at its page."""

import shutil
import sys
import time
from pathlib import Path

from icub_learning.view import STATUS


class StatusLine:
    """A line that is overwritten on a terminal; elsewhere printed when its first word changes, or every ten seconds.

    It also stands in a file of the folder, for the page.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / STATUS
        self._terminal = sys.stdout.isatty()
        self._beginning, self._written = "", 0.0

    def show(self, text: str) -> None:
        """Show `text` in place of the line before."""
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
        """Keep the line as it is."""
        if self._terminal:
            print(flush=True)
