"""The slider of a recording: where in time it is shown, and whether it runs."""

import viser

STEP = 0.05  # [s] of the slider
UNSEEN = 1e-6  # [s] by which a time differs from another that looks the same
SETTLED = 5  # updates after which the slider is taken to have been let go
SPEEDS = ("0.25 x", "0.5 x", "1 x", "2 x", "4 x")


class Player:
    """Play, pause, and a slider over the length of a recording [s]."""

    def __init__(self, server: viser.ViserServer, duration: float) -> None:
        gui = server.gui
        self._duration = max(duration, STEP)
        self._running = gui.add_checkbox("play", True, hint="whether time goes on")
        self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1 x")
        self._slider = gui.add_slider("time [s]", 0.0, round(self._duration, 2), STEP, 0.0)
        self._time, self._shown = 0.0, 0.0  # [s]; the slider shows the time rounded
        self._since_move = SETTLED  # updates

    def advance(self, seconds: float) -> float:
        """Let time pass on the wall clock; return the time in the recording [s], which starts again at its end."""
        self._since_move += 1
        if self._slider.value != self._shown:  # somebody moved it
            self._time = self._shown = float(self._slider.value)
            self._since_move = 0
        if self._running.value:
            self._time += seconds * float(self._speed.value.split()[0])
            if self._time > self._duration:
                self._time = 0.0
            self._show(round(self._time, 2))
        elif self._since_move == SETTLED:
            # What was sent before the move may have reached a slow page after it. An equal value would not be sent.
            self._show(abs(self._time - UNSEEN))
        return self._time

    def _show(self, seconds: float) -> None:
        self._shown = seconds
        self._slider.value = seconds  # type: ignore[misc]
