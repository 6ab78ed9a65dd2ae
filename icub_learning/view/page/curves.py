"""Curves of measurements and predictions that scroll, of errors over minutes, and weights of P, NP and SP."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import viser

from icub_learning.reporting.colours import COLOURS, GREEN, LABELS, RED
from icub_learning.reporting.tables import number
from icub_learning.view.page import style
from icub_learning.view.shown.state import ERROR_SPAN, SIGMAS, TOGETHER, ErrorCurve, Learner, State

BAND = "rgba(42, 157, 92, 0.18)"  # GREEN, translucent
EDGE = "rgba(42, 157, 92, 0.35)"
HEIGHT = 120  # [px] height of one plot
SECONDS: Any = {"label": "s"}  # series of the horizontal axis
MOST_LINES = 3  # most lines of one plot that the eye can tell apart
FLOOR = 1e-4  # smallest error on the logarithmic scale
KINDS = ("P", "NP", "SP")


def plot(server: viser.ViserServer, lines: Sequence[Any], y: Any, **options: Any) -> tuple[Any, Any]:
    """Add a title and a plot of lines over seconds, with a scale `y` and further options of add_uplot; return both.

    The title is HTML: viser draws a plot anew, and loses its place in time, when more than its data changes.
    """
    x = np.zeros(1)  # no line goes through a single point
    title = server.gui.add_html("")
    return title, server.gui.add_uplot(
        (x, *(x + 1.0 for _ in lines)),  # positive, for logarithmic scales
        (SECONDS, *lines), scales={"x": {"time": False}, "y": y}, axes=({"size": 28}, {"size": 44, "space": 22}),
        legend={"show": False}, height=HEIGHT, padding=(8, 12, 0, 0), **options,
    )  # fmt: skip


def line(name: str, colour: str, width: float = 1.5, dash: tuple[float, ...] = ()) -> dict[str, Any]:
    """Return the name and the look of one curve in a plot, as viser takes them."""
    made: dict[str, Any] = {"label": name, "stroke": colour, "width": width, "points": {"show": False}}
    return {**made, "dash": dash} if dash else made


class CurvesView:
    """A choice of outputs, and a plot of the measurements of each, with the predictions if there are any."""

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
        made = [plot(server, lines, {"auto": True}, **options) for _ in range(TOGETHER)]
        self.titles, self.plots = zip(*made, strict=True)

    def update(self, learner: Learner | None) -> None:
        if learner is None or not len(learner.curves):
            return
        groups = learner.groups()
        if self.group.options != tuple(groups):
            self.group.options = tuple(groups)
        columns, unit = groups.get(self.group.value) or next(iter(groups.values()))
        curves, names = learner.curves, learner.outputs[columns]
        half = SIGMAS * curves.deviation
        lines = [curves.predicted - half, curves.predicted + half, curves.measured, curves.predicted, curves.external]
        for place, (title, drawn) in enumerate(zip(self.titles, self.plots, strict=True)):
            content = style.note(f"{names[place]} [{unit}]", style.INK, True) if place < len(names) else ""
            title.content, drawn.visible = content, bool(content)
            if content:
                shown = lines if self._predicted else [curves.measured]
                drawn.data = (curves.seconds, *(values[:, columns.start + place] for values in shown))


class ErrorsView:
    """Errors of all learners that predict the same outputs, for the first two groups of outputs."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._folder = server.gui.add_folder("Errors")
        with self._folder:
            self.legend = server.gui.add_html("")
        self.titles: dict[str, viser.GuiHtmlHandle] = {}
        self.plots: dict[str, viser.GuiUplotHandle] = {}
        self._kept: dict[str, ErrorCurve] = {}
        self._drawn: list[str] = []

    def update(self, state: State, chosen: Learner | None) -> None:
        if chosen is None or len(chosen.curves) < 2:
            return
        entries, groups = lines_of(state, chosen), dict(list(chosen.groups().items())[:2])
        names = [name for name, _, _ in entries]
        if [*names, *groups] != self._drawn:
            self._drawn = [*names, *groups]
            self._make(names, groups)
        for group, (columns, unit) in groups.items():
            row, kept = [one.curves.rmse(columns, part) for _, one, part in entries], self._kept[group]
            seconds, shown = chosen.curves.newest_stamp * 1e-9, [max(FLOOR, value) for value in row]
            if not np.isfinite(row).all() or not kept.add(seconds, shown):
                continue
            now = ", ".join(f"{name} {number(value, 2)}" for name, value in zip(names, row, strict=True))
            self.titles[group].content = style.note(f"error of {group} [{unit}]: now {now}", style.INK, True)
            self.plots[group].data = (np.array(kept.seconds) - kept.seconds[0], *np.array(kept.values).T)

    def _make(self, lines: list[str], groups: Mapping[str, tuple[slice, str]]) -> None:
        for part in (*self.plots.values(), *self.titles.values()):
            part.remove()
        self.plots, self.titles = {}, {}
        self._kept = {group: ErrorCurve() for group in groups}
        spare = list(COLOURS.values())[: len(KINDS)]
        colours = [COLOURS.get(name, spare[place % len(spare)]) for place, name in enumerate(lines)]
        entries = [(LABELS.get(name, name), colour) for name, colour in zip(lines, colours, strict=True)]
        self.legend.content = style.note(f"RMSE over {ERROR_SPAN:g} s") + style.legend(entries)
        drawn = [line(name, colour, 2.0) for name, colour in zip(lines, colours, strict=True)]
        with self._folder:
            for group in groups:
                self.titles[group], self.plots[group] = plot(self._server, drawn, {"distr": 3})


class WeightsView:
    """The weights of P, NP and SP in the predictions."""

    def __init__(self, server: viser.ViserServer) -> None:
        with server.gui.add_folder("Weights"):
            self.content = server.gui.add_html(style.note("known after some seconds, of a learner that weighs experts"))

    def update(self, learner: Learner | None) -> None:
        if learner is None or not learner.weights:
            return
        rows = [
            [output, *(f"{100.0 * weights[kind]:.0f} %" if kind in weights else "-" for kind in KINDS)]
            for output, weights in learner.weights.items()
        ]
        self.content.content = style.table(["in the prediction", *KINDS], rows)


def lines_of(state: State, chosen: Learner) -> list[tuple[str, Learner, str]]:
    """Return (name, learner, part) of each curve of errors.

    Several nodes that predict the same outputs get one line each; a single one, its rigid-body part and the whole.
    """
    alike = [one for one in state.learners.values() if one.outputs == chosen.outputs and one.alive and len(one.curves)]
    if len(alike) > 1:
        alike.sort(key=lambda one: (KINDS.index(one.short) if one.short in KINDS else len(KINDS), one.name))
        return [(one.short, one, "predicted") for one in alike[:MOST_LINES]]
    estimator = str(chosen.settings.get("estimator", "semiparametric"))
    if "." in estimator:  # a class of the user's, which has no parts
        return [(estimator.rpartition(".")[2], chosen, "predicted")]
    if estimator in ("parametric", "nonparametric"):
        return [("P" if estimator == "parametric" else "NP", chosen, "predicted")]
    return [("P", chosen, "parametric"), ("SP", chosen, "predicted")]
