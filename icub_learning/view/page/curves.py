"""Scrolling curves: what is measured, predicted with its band, and external, of some outputs at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import viser

from icub_learning.arrays import Array
from icub_learning.reporting.colours import COLOURS, GREEN, RED
from icub_learning.view.page import style
from icub_learning.view.shown.curves import SIGMAS, SPAN, Curves
from icub_learning.view.shown.state import TOGETHER, Learner

BAND = "rgba(42, 157, 92, 0.18)"  # GREEN
HEIGHT = 120  # [px] of one plot
SECONDS = {"label": "s"}  # the series of the lower axis


def plot(server: viser.ViserServer, start: float, end: float, lines: Sequence[dict[str, Any]], **options: Any) -> Any:
    """Add a plot of lines over seconds.

    Its title stands above it as HTML: viser draws a plot anew, and loses its place in time, when anything but its data
    changes.

    Args:
        server: of the page.
        start, end: of the lower axis, before there are data [s].
        lines: made by `line`.
        options: further ones of add_uplot.
    """
    x = np.array([start, end])
    return server.gui.add_uplot(
        (x, *(np.full(2, np.nan) for _ in lines)),
        (SECONDS, *lines),
        axes=({"size": 28}, {"size": 44, "space": 22}),
        legend={"show": False},
        height=HEIGHT,
        **options,
    )


def line(name: str, colour: str, width: float = 1.5, dash: tuple[float, ...] = ()) -> dict[str, Any]:
    """Return one series of a plot."""
    made: dict[str, Any] = {"label": name, "stroke": colour, "width": width, "points": {"show": False}}
    return {**made, "dash": dash} if dash else made


class CurvesView:
    """A choice of outputs, and a plot for each of them."""

    def __init__(self, server: viser.ViserServer) -> None:
        gui = server.gui
        self._group = gui.add_dropdown("outputs", ("-",), hint="which curves are shown")
        gui.add_html(
            style.legend([("measured", COLOURS["measured"]), (f"predicted, ± {SIGMAS:g}σ", GREEN), ("external", RED)])
        )
        lines = (
            line("-2σ", "rgba(42,157,92,0.35)", 0.5),
            line("+2σ", "rgba(42,157,92,0.35)", 0.5),
            line("measured", COLOURS["measured"]),
            line("predicted", GREEN),
            line("external", RED, 1.2, (4, 3)),
        )
        self._titles, self._plots = [], []
        for _ in range(TOGETHER):
            self._titles.append(gui.add_html(""))
            self._plots.append(
                plot(
                    server,
                    -SPAN,
                    0.0,
                    lines,
                    bands=({"series": (2, 1), "fill": BAND},),
                    scales={"x": {"time": False}, "y": {"auto": True}},
                )
            )

    def update(self, learner: Learner | None) -> None:
        """Show the newest seconds of a learner."""
        if learner is None or len(learner.curves) < 2:
            return
        groups = learner.groups()
        if self._group.options != tuple(groups):
            self._group.options = tuple(groups)
        columns, unit = groups.get(self._group.value) or next(iter(groups.values()))
        names = learner.outputs[columns]
        seconds = learner.curves.seconds - learner.curves.seconds[-1]
        for place, (title, drawn) in enumerate(zip(self._titles, self._plots, strict=True)):
            content = style.note(f"{names[place]} [{unit}]", style.INK, True) if place < len(names) else ""
            if title.content != content:
                title.content, drawn.visible = content, bool(content)
            if content:
                drawn.data = data_of(learner.curves, seconds, columns.start + place)


def data_of(curves: Curves, seconds: Array, column: int) -> tuple[Array, ...]:
    """Return what one plot shows: seconds before now, edges of the band, measured, predicted and external.

    The first point is always SPAN ago, so that the axis stays where it is as long as the curves are shorter.
    """
    half = SIGMAS * curves.deviation[:, column]
    predicted = curves.predicted[:, column]
    lines = predicted - half, predicted + half, curves.measured[:, column], predicted, curves.external[:, column]
    if seconds[0] <= -SPAN:
        return seconds, *lines
    return np.append(-SPAN, seconds), *(np.append(np.nan, one) for one in lines)
