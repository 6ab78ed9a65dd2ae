"""What people press and choose: a button with what came of it, and a choice of a node or an object."""

from collections.abc import Callable, Sequence
from typing import Any

import viser

from icub_learning.view.page import style
from icub_learning.view.shown.state import Answer

NODE = "the node that is shown, and whose services are called"


class Action:
    """A button that asks a service; the answer, or the refusal, appears below it.

    `do` is called in a thread of its own when the button is pressed; `asking` returns what is shown until then.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        label: str,
        do: Callable[[], Answer],
        hint: str = "",
        asking: Callable[[], str] = lambda: "asking",
    ) -> None:
        self._do, self._asking = do, asking
        self.button = server.gui.add_button(label, hint=hint or None)
        self.answer = server.gui.add_html("")
        self.button.on_click(self.press)

    def press(self, _event: Any = None) -> None:
        """Ask, and show what was answered."""
        if self.button.disabled:  # pressed twice
            return
        self.button.disabled = True
        self.answer.content = style.answer(self._asking(), None)
        try:
            found = self._do()
        except Exception as error:  # whatever it is, people see it where they pressed
            found = Answer(False, str(error) or type(error).__name__)
        self.answer.content = style.answer(found.message or ("done" if found.success else "refused"), found.success)
        self.button.disabled = False


class Choice:
    """A dropdown with what there is, at the top of what it decides."""

    def __init__(self, server: viser.ViserServer, label: str, hint: str = NODE, none: str = "none is running") -> None:
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
