"""How well the learners do: errors over time, and the weights of P, NP and SP in what is predicted."""

from collections.abc import Mapping

import numpy as np
import viser

from icub_learning.reporting.colours import COLOURS, LABELS
from icub_learning.reporting.tables import number
from icub_learning.view.page import style
from icub_learning.view.page.curves import line, plot
from icub_learning.view.shown.curves import ERROR_SPAN, ErrorCurve
from icub_learning.view.shown.state import Learner, State

MOST_LINES = 3  # of one picture, which the eye tells apart
FLOOR = 1e-4  # smallest error of the logarithmic scale
KINDS = ("P", "NP", "SP")


class ErrorsView:
    """Errors of all learners that predict the same outputs, for the two groups of outputs that come first."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._folder = server.gui.add_folder("Errors")
        with self._folder:
            self.legend = server.gui.add_html("")
        self.titles: dict[str, viser.GuiHtmlHandle] = {}
        self.plots: dict[str, viser.GuiUplotHandle] = {}
        self._kept: dict[str, ErrorCurve] = {}
        self.names: tuple[str, ...] = ()

    def update(self, state: State, chosen: Learner | None) -> None:
        """Add a point a second, and show all."""
        if chosen is None or len(chosen.curves) < 2:
            return
        entries = lines_of(state, chosen)
        groups = dict(list(chosen.groups().items())[:2])
        names = (*(name for name, _, _ in entries), *groups)
        if names != self.names:
            self.names = names
            self._make([name for name, _, _ in entries], groups)
        for group, (columns, unit) in groups.items():
            row = [one.curves.rmse(columns, part) for _, one, part in entries]
            if not np.isfinite(row).all():
                continue
            kept = self._kept[group]
            if not kept.add(chosen.curves.newest_stamp * 1e-9, [max(FLOOR, value) for value in row]):
                continue
            now = ", ".join(f"{name} {number(value, 2)}" for (name, _, _), value in zip(entries, row, strict=True))
            self.titles[group].content = style.note(f"error of {group} [{unit}]: now {now}", style.INK, True)
            seconds = np.array(kept.seconds) - kept.seconds[0]
            self.plots[group].data = (seconds, *np.array(kept.values).T)

    def _make(self, lines: list[str], groups: Mapping[str, tuple[slice, str]]) -> None:
        for part in (*self.plots.values(), *self.titles.values()):
            part.remove()
        self.plots, self.titles = {}, {}
        self._kept = {group: ErrorCurve() for group in groups}
        entries = [(LABELS.get(name, name), _colour(name, place)) for place, name in enumerate(lines)]
        self.legend.content = style.note(f"RMSE over {ERROR_SPAN:g} s") + style.legend(entries)
        drawn = [line(name, _colour(name, place), 2.0) for place, name in enumerate(lines)]
        with self._folder:
            for group in groups:
                self.titles[group] = self._server.gui.add_html("")
                self.plots[group] = plot(self._server, drawn, scales={"x": {"time": False}, "y": {"distr": 3}})


class WeightsView:
    """The weights of P, NP and SP in what is predicted."""

    def __init__(self, server: viser.ViserServer) -> None:
        with server.gui.add_folder("Weights"):
            self.content = server.gui.add_html(style.note("known after some seconds, of a learner that weighs experts"))

    def update(self, learner: Learner | None) -> None:
        """Show those of a learner."""
        content = weights_text(learner) if learner is not None else ""
        if content and content != self.content.content:
            self.content.content = content


def lines_of(state: State, chosen: Learner) -> list[tuple[str, Learner, str]]:
    """Return (name, learner, part) of each curve of errors.

    Of several nodes that predict the same, one line each; of a single one its rigid-body part and all of it.
    """
    alike = [one for one in state.learners.values() if one.outputs == chosen.outputs and one.alive and len(one.curves)]
    if len(alike) > 1:
        order = {name: place for place, name in enumerate(KINDS)}
        alike.sort(key=lambda one: (order.get(one.short, len(order)), one.name))
        return [(one.short, one, "predicted") for one in alike[:MOST_LINES]]
    estimator = str(chosen.settings.get("estimator", "semiparametric"))
    if estimator == "parametric":
        return [("P", chosen, "predicted")]
    if estimator == "nonparametric":
        return [("NP", chosen, "predicted")]
    if "." in estimator:  # a class of the user's, which has no parts
        return [(estimator.rpartition(".")[2], chosen, "predicted")]
    return [("P", chosen, "parametric"), ("SP", chosen, "predicted")]


def weights_text(learner: Learner) -> str:
    """Return a table of the weights of P, NP and SP, by output."""
    if not learner.weights:
        return ""
    rows = [
        [output, *(f"{100.0 * weights[kind]:.0f} %" if kind in weights else "-" for kind in KINDS)]
        for output, weights in learner.weights.items()
    ]
    return style.table(["in the prediction", *KINDS], rows)


def _colour(name: str, place: int) -> str:
    return COLOURS.get(name, list(COLOURS.values())[place % len(KINDS)])
