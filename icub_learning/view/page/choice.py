"""Which of several nodes of a kind the page is about."""

from collections.abc import Sequence

import viser

NONE = "none is running"


class Choice:
    """A dropdown with the learners that are running, at the top of what it decides.

    Attributes:
        learner: name of the chosen node; "" as long as there is none.
    """

    def __init__(self, server: viser.ViserServer, label: str) -> None:
        self._box = server.gui.add_dropdown(label, (NONE,), hint="the node that is shown, and whose services are called")
        self._names: tuple[str, ...] = ()

    @property
    def learner(self) -> str:
        """Name of the chosen node."""
        return "" if self._box.value == NONE else self._box.value

    def offer(self, names: Sequence[str]) -> None:
        """Offer these names; the choice stays as long as it is among them, else the last one is taken."""
        offered = tuple(names) or (NONE,)
        if offered == self._names:
            return
        before, self._names = self._box.value, offered
        self._box.options = offered
        self._box.value = before if before in offered else offered[-1]
