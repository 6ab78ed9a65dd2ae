"""Controls of the page: a button with the answer that it got, a choice, and the slider of a recording."""

from collections.abc import Callable, Sequence
from typing import Any

import viser

from icub_learning.view.page import style
from icub_learning.view.shown.state import Answer

NODE = "the node that is shown, and whose services are called"
STEP = 0.05  # [s] step of the slider
SPEEDS = ("0.25 x", "0.5 x", "1 x", "2 x", "4 x")


class Action:
    """A button that calls a service; the answer, or the refusal, appears below it.

    `do` is called in a thread of its own when the button is pressed; `asking` returns what is shown until it returns.
    """

    def __init__(
        self, server: viser.ViserServer, label: str, do: Callable[[], Answer], hint: str = "",
        asking: Callable[[], str] = lambda: "asking",
    ) -> None:  # fmt: skip
        self._do, self._asking = do, asking
        self.button = server.gui.add_button(label, hint=hint or None)
        self.answer = server.gui.add_html("")
        self.button.on_click(self.press)

    def press(self, _event: Any = None) -> None:
        if self.button.disabled:  # it was pressed twice
            return
        self.button.disabled = True
        self.answer.content = style.answer(self._asking(), None)
        try:
            found = self._do()
        except Exception as error:  # any error is shown below the button
            found = Answer(False, str(error) or type(error).__name__)
        self.answer.content = style.answer(found.message or ("done" if found.success else "refused"), found.success)
        self.button.disabled = False


class Choice:
    """A dropdown of the names that are available, above the parts of the page that depend on it."""

    def __init__(self, server: viser.ViserServer, label: str, hint: str = NODE, none: str = "none is running") -> None:
        self._none = (none,)
        self._box = server.gui.add_dropdown(label, (none,), hint=hint)
        self.names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The chosen name; "" as long as there is none."""
        return str(self._box.value) if self.names else ""

    def offer(self, names: Sequence[str], preferred: int = -1) -> None:
        """Offer these names; the choice stays as long as it is among them, else the one at `preferred` is taken."""
        if tuple(names) == self.names:
            return
        before, self.names = self._box.value, tuple(names)
        offered = self.names or self._none
        self._box.options = offered
        self._box.value = before if before in offered else offered[preferred]  # type: ignore[misc]


def show(visible: bool, *parts: Any) -> None:
    """Show or hide parts of the page; what does not change is not sent."""
    for part in parts:
        part.visible = visible


class Player:
    """Play, pause, and a slider over the length of a recording [s].

    One slider is seen while the recording is played, and another in its place while it is not: the page moves the
    former only. Its times may reach a slow browser late, and would undo what somebody did to a slider that stands.
    """

    def __init__(self, server: viser.ViserServer, duration: float) -> None:
        gui, self._duration = server.gui, max(duration, STEP)
        self._running = gui.add_checkbox("play", True, hint="whether time goes on")
        self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1 x")
        times = ("time [s]", 0.0, round(self._duration, 2), STEP, 0.0)
        self._stopped, self._moving = gui.add_slider(*times, visible=False), gui.add_slider(*times)
        self._slider = self._moving  # the one that is seen
        self._time, self._shown = 0.0, 0.0  # [s]; the slider shows the time rounded

    def advance(self, seconds: float) -> float:
        """Advance by `seconds` of wall-clock time; return the time in the recording [s], which restarts at its end."""
        if self._slider.value != self._shown:  # somebody moved it
            self._time = self._shown = float(self._slider.value)
        running = self._running.value
        if running:
            self._time += seconds * float(self._speed.value.split()[0])
            if self._time > self._duration:
                self._time = 0.0
        other, slider = (self._stopped, self._moving) if running else (self._moving, self._stopped)
        if running or slider is not self._slider:
            self._slider, self._shown = slider, round(self._time, 2)
            slider.value = self._shown  # type: ignore[misc]
            show(False, other)
            show(True, slider)
        return self._time
