"""A button, what it does, and beside it what came of it."""

from collections.abc import Callable
from typing import Any

import viser

from icub_learning.view.page import style
from icub_learning.view.shown.answers import Answer


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
