"""Which of several nodes, or objects, the page is about."""

from collections.abc import Sequence
from typing import Any

import viser

NONE = "none is running"
NODE = "the node that is shown, and whose services are called"


class Choice:
    """A dropdown with what there is, at the top of what it decides."""

    def __init__(self, server: viser.ViserServer, label: str, hint: str = NODE, none: str = NONE) -> None:
        self._none = none
        self._box = server.gui.add_dropdown(label, (none,), hint=hint)
        self.names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The chosen name; "" as long as there is none."""
        return "" if self._box.value == self._none else str(self._box.value)

    def offer(self, names: Sequence[str], preferred: int = -1) -> None:
        """Offer these names; the choice stays as long as it is among them, else the one at `preferred` is taken."""
        offered = tuple(names) or (self._none,)
        if offered == self.names:
            return
        before, self.names = self._box.value, offered
        self._box.options = offered
        self._box.value = before if before in offered else offered[preferred]  # type: ignore[misc]


def show(visible: bool, *parts: Any) -> None:
    """Show or hide parts of the page; what does not change is not sent."""
    for part in parts:
        if part.visible != visible:
            part.visible = visible
