"""The slider of a recording: where in time it is shown, and whether it runs."""

import viser

STEP = 0.05  # [s] of the slider
SPEEDS = ("0.25 x", "0.5 x", "1 x", "2 x", "4 x")


class Player:
    """Play, pause, and a slider over the length of a recording.

    Args:
        server: of the page.
        duration: length of the recording [s].
    """

    def __init__(self, server: viser.ViserServer, duration: float) -> None:
        gui = server.gui
        self._duration = max(duration, STEP)
        self._running = gui.add_checkbox("play", True, hint="whether time goes on")
        self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1 x")
        self._slider = gui.add_slider("time [s]", 0.0, round(self._duration, 2), STEP, 0.0)
        self._time, self._shown = 0.0, 0.0  # [s]; the slider shows the time rounded

    def advance(self, seconds: float) -> float:
        """Let time pass on the wall clock; return the time in the recording [s], which starts again at its end."""
        if self._slider.value != self._shown:  # somebody moved it
            self._time = self._shown = float(self._slider.value)
        if self._running.value:
            self._time += seconds * float(self._speed.value.split()[0])
            if self._time > self._duration:
                self._time = 0.0
            self._shown = round(self._time, 2)
            self._slider.value = self._shown  # type: ignore[misc]
        return self._time
