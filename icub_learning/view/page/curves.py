"""Scrolling curves: what is measured, predicted with its band, and external, of some outputs at a time."""

from typing import Any

import numpy as np
import viser

from icub_learning.arrays import Array
from icub_learning.reporting.colours import COLOURS, GREEN, RED
from icub_learning.view.page import style
from icub_learning.view.shown.curves import SIGMAS
from icub_learning.view.shown.state import TOGETHER, Learner

BAND = "rgba(42, 157, 92, 0.18)"  # GREEN
EMPTY = np.array([0.0, 1.0])
HEIGHT = 150  # [px] of one plot


def axes(unit: str) -> tuple[Any, ...]:
    """Return both axes of a plot over time, with the unit beside the upright one."""
    return ({"size": 30}, {"size": 46, "label": unit, "labelSize": 16, "labelGap": 0})


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
            {"label": "s"},
            line("-2σ", "rgba(42,157,92,0.35)", 0.5),
            line("+2σ", "rgba(42,157,92,0.35)", 0.5),
            line("measured", COLOURS["measured"]),
            line("predicted", GREEN),
            line("external", RED, 1.2, (4, 3)),
        )
        self._plots = [
            gui.add_uplot(
                (EMPTY,) * 6,
                lines,
                bands=({"series": (2, 1), "fill": BAND},),
                scales={"x": {"time": False}, "y": {"auto": True}},
                axes=axes(""),
                title="-",
                legend={"show": False},
                height=HEIGHT,
            )
            for _ in range(TOGETHER)
        ]

    def update(self, learner: Learner | None) -> None:
        """Show the newest seconds of a learner."""
        if learner is None or len(learner.curves) < 2:
            return
        groups = learner.groups()
        if self._group.options != tuple(groups):
            self._group.options = tuple(groups)
        columns, unit = groups.get(self._group.value) or next(iter(groups.values()))
        names = learner.outputs[columns]
        curves = learner.curves
        for place, plot in enumerate(self._plots):
            if plot.visible != (place < len(names)):
                plot.visible = place < len(names)
            if place >= len(names):
                continue
            column = columns.start + place
            title = f"{names[place]} [{unit}]"
            if plot.title != title:
                plot.title = title
            plot.data = _data(curves.seconds, *(one[:, column] for one in (
                curves.measured, curves.predicted, curves.deviation, curves.external)))  # fmt: skip


def _data(seconds: Array, measured: Array, predicted: Array, deviation: Array, external: Array) -> tuple[Array, ...]:
    half = SIGMAS * deviation
    return seconds, predicted - half, predicted + half, measured, predicted, external
