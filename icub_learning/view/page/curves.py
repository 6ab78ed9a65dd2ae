"""Scrolling curves: what is measured, predicted with its band, and external, of some outputs at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import viser

from icub_learning.arrays import Array
from icub_learning.reporting.colours import COLOURS, GREEN, RED
from icub_learning.view.page import style
from icub_learning.view.shown.curves import SIGMAS, Curves
from icub_learning.view.shown.state import TOGETHER, Learner

BAND = "rgba(42, 157, 92, 0.18)"  # GREEN
EDGE = "rgba(42, 157, 92, 0.35)"
HEIGHT = 120  # [px] of one plot
SECONDS: Any = {"label": "s"}  # the series of the lower axis


def plot(server: viser.ViserServer, lines: Sequence[Any], **options: Any) -> Any:
    """Add a plot of lines over seconds, with further options of add_uplot.

    Its title stands above it as HTML: viser draws a plot anew, and loses its place in time, when more than its data
    changes.
    """
    x = np.array([0.0, 1.0])
    return server.gui.add_uplot(
        (x, *(x + 1.0 for _ in lines)),  # positive, for logarithmic scales
        (SECONDS, *lines),
        axes=({"size": 28}, {"size": 44, "space": 22}),
        legend={"show": False},
        height=HEIGHT,
        padding=(8, 12, 0, 0),
        **options,
    )


def line(name: str, colour: str, width: float = 1.5, dash: tuple[float, ...] = ()) -> dict[str, Any]:
    """Return the name and the look of one curve in a plot, as viser takes them."""
    made: dict[str, Any] = {"label": name, "stroke": colour, "width": width, "points": {"show": False}}
    return {**made, "dash": dash} if dash else made


class CurvesView:
    """A choice of outputs, and a plot for each of them, of predictions too where there are some."""

    def __init__(self, server: viser.ViserServer, predicted: bool = True) -> None:
        gui = server.gui
        self.group = gui.add_dropdown("outputs", ("-",), hint="which curves are shown")
        lines, entries = [line("measured", COLOURS["measured"])], [("measured", COLOURS["measured"])]
        options: dict[str, Any] = {}
        if predicted:
            entries += [(f"predicted, ± {SIGMAS:g}σ", GREEN), ("external", RED)]
            edges = [line(name, EDGE, 0.5) for name in ("-2σ", "+2σ")]
            lines = [*edges, *lines, line("predicted", GREEN), line("external", RED, 1.2, (4, 3))]
            options["bands"] = ({"series": (2, 1), "fill": BAND},)
        gui.add_html(style.legend(entries))
        self._predicted = predicted
        self.titles, self.plots = [], []
        for _ in range(TOGETHER):
            self.titles.append(gui.add_html(""))
            self.plots.append(plot(server, lines, scales={"x": {"time": False}, "y": {"auto": True}}, **options))

    def update(self, learner: Learner | None) -> None:
        """Show the newest seconds of a learner."""
        if learner is None or not len(learner.curves):
            return
        groups = learner.groups()
        if self.group.options != tuple(groups):
            self.group.options = tuple(groups)
        columns, unit = groups.get(self.group.value) or next(iter(groups.values()))
        names = learner.outputs[columns]
        for place, (title, drawn) in enumerate(zip(self.titles, self.plots, strict=True)):
            content = style.note(f"{names[place]} [{unit}]", style.INK, True) if place < len(names) else ""
            if title.content != content:
                title.content, drawn.visible = content, bool(content)
            if content:
                drawn.data = data_of(learner.curves, columns.start + place, self._predicted)


def data_of(curves: Curves, column: int, predicted: bool) -> tuple[Array, ...]:
    """Return what one plot shows: seconds; edges of the band, measured, predicted and external, or measured alone."""
    measured = curves.measured[:, column]
    if not predicted:
        return curves.seconds, measured
    middle, half = curves.predicted[:, column], SIGMAS * curves.deviation[:, column]
    return curves.seconds, middle - half, middle + half, measured, middle, curves.external[:, column]
