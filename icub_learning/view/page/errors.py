"""How well the learners do: errors over time, and the weights of P, NP and SP in what is predicted."""

import numpy as np
import viser

from icub_learning.arrays import Array
from icub_learning.reporting.colours import COLOURS, LABELS, PALE
from icub_learning.reporting.tables import number
from icub_learning.view.page import style
from icub_learning.view.page.curves import EMPTY, HEIGHT, axes, line
from icub_learning.view.shown.curves import ERROR_SPAN, ErrorCurve
from icub_learning.view.shown.state import Learner, State

MOST_LINES = 3
FLOOR = 1e-4  # smallest error of the logarithmic scale
KINDS = ("P", "NP", "SP")


class ErrorsView:
    """Errors of all learners that predict the same outputs, for the two groups of outputs that come first."""

    def __init__(self, server: viser.ViserServer) -> None:
        gui = server.gui
        self._legend = gui.add_html("")
        self._plots = [
            gui.add_uplot(
                (EMPTY,) * (MOST_LINES + 1),
                ({"label": "s"}, *(line("-", PALE, 2.0) for _ in range(MOST_LINES))),
                scales={"x": {"time": False}, "y": {"distr": 3}},
                axes=axes(""),
                title="-",
                legend={"show": False},
                height=HEIGHT,
            )
            for _ in range(2)
        ]
        self._weights = gui.add_html("")
        self._kept: dict[str, ErrorCurve] = {}
        self._names: tuple[str, ...] = ()

    def update(self, state: State, chosen: Learner | None) -> None:
        """Add a point a second, and show all."""
        if chosen is None or len(chosen.curves) < 2:
            return
        entries = lines_of(state, chosen)
        names = tuple(name for name, _, _ in entries)
        if names != self._names:
            self._names, self._kept = names, {}
            self._legend.content = style.legend([(LABELS.get(name, name), _colour(name, i)) for i, name in enumerate(names)])
            for plot in self._plots:
                series = [line(name, _colour(name, i), 2.0) for i, name in enumerate(names)]
                plot.series = ({"label": "s"}, *series, *(line("-", PALE, 0.0) for _ in range(MOST_LINES - len(series))))
        groups = list(chosen.groups().items())[:2]
        for place, plot in enumerate(self._plots):
            if plot.visible != (place < len(groups)):
                plot.visible = place < len(groups)
            if place >= len(groups):
                continue
            group, (columns, unit) = groups[place]
            row = [max(FLOOR, value) for _, one, part in entries if np.isfinite(value := one.curves.rmse(columns, part))]
            if len(row) != len(entries):
                continue
            kept = self._kept.setdefault(group, ErrorCurve())
            kept.add(chosen.curves.newest_stamp * 1e-9, row)
            title = f"error of {group}, RMSE over {ERROR_SPAN:g} s: now {', '.join(number(v, 2) for v in row)} {unit}"
            if plot.title != title:
                plot.title = title
            if len(kept.seconds) > 1:
                plot.data = _data(kept)
        self._weights.content = weights_text(chosen)


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
    return [("P", chosen, "parametric"), ("SP", chosen, "predicted")]


def weights_text(learner: Learner) -> str:
    """Return a table of the weights of P, NP and SP, by output."""
    if not learner.weights:
        return ""
    rows = [
        [output, *(f"{100.0 * weights[kind]:.0f} %" if kind in weights else "-" for kind in KINDS)]
        for output, weights in learner.weights.items()
    ]
    return style.note("what each of them adds to the prediction", style.MUTED, True) + style.table(["weights", *KINDS], rows)


def _colour(name: str, place: int) -> str:
    return COLOURS.get(name, list(COLOURS.values())[place % len(KINDS)])


def _data(kept: ErrorCurve) -> tuple[Array, ...]:
    seconds, values = np.array(kept.seconds), np.array(kept.values)
    columns = [values[:, min(place, values.shape[1] - 1)] for place in range(MOST_LINES)]
    return seconds - seconds[0], *columns
