"""What came of the comparison: tables, pictures and the page with both."""

import shutil
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.evaluation.judgement import geometric_mean
from icub_learning.experiments.peers.rivals import RIVALS
from icub_learning.experiments.peers.trial import AFTER, CURVE, WINDOWS
from icub_learning.reporting import plots
from icub_learning.reporting.tables import number, table

OURS, RIGID, OFF_LINE = "SP, this package", "P within it", "off-line identification"
ON_TOP = " + P"
PARTS = {"start": "2 to 10 s", "last": "last 30 %"}
MOST_SHOWN = 30.0  # of an error over time
AHEAD = 1.05  # ours over the best rival: beyond, the rival is ahead
TIME, RATIOS, CHANGE = "peers-time.png", "peers-ratios.png", "peers-change.png"
Found = Mapping[str, Any]


def name_of(rival: str, on_top: bool) -> str:
    """Return the name of a rival, alone or on top of rigid bodies."""
    return rival + ON_TOP if on_top else rival


def errors(case: Found, part: str) -> dict[str, float]:
    """Return the nMSE of each learner of a case that has one."""
    values = {name: one.get(part) for name, one in case["learners"].items() if name != RIGID}
    return {name: value for name, value in values.items() if value is not None and np.isfinite(value)}


def ratio_to_best(case: Found, part: str) -> tuple[float, str]:
    """Return ours over the best rival's error, and the rival's name."""
    found = errors(case, part)
    best = min((name for name in found if name != OURS), key=lambda name: found[name])
    return found[OURS] / found[best], best


def ranking(cases: Sequence[Found]) -> list[list[str]]:
    """Return a row for each learner: error over ours at both parts, mean rank, times first, settings, cost."""
    names = list(dict.fromkeys(name for case in cases for name in case["learners"] if name != RIGID))
    forms = (False, True)
    settings = {
        name_of(one.name, top): len(one.choices) + top + one.by_likelihood * 2 for one in RIVALS for top in forms
    }
    rows = []
    for name in names:
        cells = [name]
        for part in PARTS:
            tables = [found for case in cases if name in (found := errors(case, part))]
            ranks = [sorted(found.values()).index(found[name]) + 1 for found in tables]
            over = [found[name] / found[OURS] for found in tables]
            cells += [
                number(geometric_mean(over)),
                number(float(np.mean(ranks)) if ranks else None),
                str(ranks.count(1)),
            ]
        costs = [case["learners"][name].get("microseconds", np.nan) for case in cases if name in case["learners"]]
        told = "0" if name == OURS else str(settings.get(name, 1))
        rows.append([*cells, told, number(float(np.mean(costs)))])
    return sorted(rows, key=lambda row: float(row[4]) if row[4] != "-" else 99.0)


RANK_HEAD = ["", *("error / ours", "mean rank", "first") * 2, "settings", "us a sample"]


def beside_the_best(cases: Mapping[str, Found]) -> list[list[str]]:
    """Return a row for each recording: our error, the best rival's, and the ratio, at both parts."""
    rows = []
    for name, case in cases.items():
        cells = [name]
        for part in PARTS:
            ratio, best = ratio_to_best(case, part)
            mark = " (behind)" if ratio > AHEAD else ""
            cells += [number(errors(case, part)[OURS]), number(errors(case, part)[best]), best, number(ratio) + mark]
        rows.append(cells)
    return rows


BEST_HEAD = ["recording", *("ours", "best rival", "which", "ratio") * 2]


def after_change(case: Found) -> list[list[str]]:
    """Return a row for each learner: RMSE of force [N] and torque [N m] in windows after the change of task."""
    rows = {name: one["windows"] for name, one in case["learners"].items() if "windows" in one}
    order = sorted(rows, key=lambda name: geometric_mean([value for window in rows[name][1:] for value in window]))
    best = [[min(rows[name][k][g] for name in rows if name != OURS) for g in (0, 1)] for k in range(len(WINDOWS))]
    cells = [[name, *(" ".join(number(value) for value in window) for window in rows[name])] for name in order]
    over = [" ".join(number(rows[OURS][k][g] / best[k][g]) for g in (0, 1)) for k in range(len(WINDOWS))]
    return [*cells, ["ours / best rival", *over]]


CHANGE_HEAD = ["RMSE of force [N] and torque [N m]", *(f"{a:g} to {b:g} s" for a, b in WINDOWS)]


def summary(cases: Sequence[Found]) -> str:
    """Return the result in one line."""
    parts = []
    for part, words in PARTS.items():
        tables = [errors(case, part) for case in cases]
        everywhere = set.intersection(*map(set, tables)) - {OURS}
        over = {name: geometric_mean([found[OURS] / found[name] for found in tables]) for name in everywhere}
        best = max(over, key=lambda name: over[name])
        each = [ratio_to_best(case, part)[0] for case in cases]
        parts.append(
            f"{words}: SP has {number(over[best])} times the error of the best rival over all recordings ({best}) and "
            f"{number(geometric_mean(each))} times that of the best on each; it is the best, or within 5 % of it, on "
            f"{sum(value <= AHEAD for value in each)} of {len(each)}"
        )
    return "; ".join(parts) + "."


def sections(figures: Found) -> list[tuple[str, str, list[str], list[list[str]]]]:
    """Return heading, text, head and rows of each table."""
    cases: Mapping[str, Found] = figures.get("learners", {})
    plain = {name: case for name, case in cases.items() if case["kind"] != "change"}
    found: list[tuple[str, str, list[str], list[list[str]]]] = []
    if plain:
        over = "Error over ours: geometric mean. The first three columns: 2 to 10 s; the next three: last 30 %."
        found.append(("Ranks", over, RANK_HEAD, ranking(list(plain.values()))))
        found.append(
            ("Each recording", "nMSE from 2 to 10 s, then in the last 30 %.", BEST_HEAD, beside_the_best(plain))
        )
    for name, case in cases.items():
        if case["kind"] == "change":
            text = "Simulated arm; seconds after the change. Learning goes on all the time."
            found.append((f"Change of task, {name.removeprefix('change ')}", text, CHANGE_HEAD, after_change(case)))
    for part in ("contacts", "loads"):
        if part in figures:
            found += [tuple(one) for one in figures[part]["tables"]]
    return found


def show(figures: Found, out: Path, page: Path | None) -> None:
    """Print the tables, draw the pictures, and write the page if a path is given."""
    cases: Mapping[str, Found] = figures.get("learners", {})
    plain = [case for case in cases.values() if case["kind"] != "change"]
    result = summary(plain) if plain else ""
    print(result)
    for heading, text, head, rows in sections(figures):
        print(f"\n{heading}. {text}\n{table(head, rows)}")
    pictures = draw(cases, out) if cases else []
    if page is not None:
        _write(page, figures, result, pictures)


def _write(page: Path, figures: Found, result: str, pictures: Sequence[tuple[Path, str]]) -> None:
    lines = ["# Beside those who came before", "", result, ""]
    for path, caption in pictures:
        (page.parent / "pictures").mkdir(parents=True, exist_ok=True)
        shutil.copy(path, page.parent / "pictures" / path.name)
        lines += [f"![{caption}](pictures/{path.name})", "", f"*{caption}*", ""]
    for heading, text, head, rows in sections(figures):
        lines += [f"## {heading}", "", text, "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in rows] + [""]
    lines += [NOTES.format(command=figures["command"], date=date.today().isoformat(), seconds=figures["seconds"])]
    page.write_text("\n".join(lines))
    print(f"page: {page}")


NOTES = """\
## How it is measured

`{command}`,
{date}, 2 virtual processors sharing about one core. Each learner predicts a sample before it learns it; all learn the
same samples, at the same moment, from the same motions, derived without delay. Ours is SP with its defaults, and is
told the robot's URDF, joints and kind of output. Rivals are told means and deviations of motions and outputs over the
whole recording besides. Their settings are searched on its first 30 %, one after the other, twice (quick form: once,
and two values of each); length scales and noise of Gaussian processes, shared by all outputs, are first found by
likelihood there. On top of P means: what P of this package predicts at each moment is taken away, and the rival learns
the rest, after a wait that is searched too. Off-line identification has learned the first 70 %, filtered from both
sides in time, and predicts the rest from motions that are not. Simulated robots move for {seconds:g} s. Costs are
processor time of Python with NumPy; ours, I-SSGPR and least squares use the compiled core of this package. Ours is
without the motion filter, which all share.

The rivals were written from their papers; they are not their authors' programs. Checked in `test/experiments/peers`:
I-SSGPR is ridge regression on its features, a tree with one leaf and a streaming process with all inputs are exact
Gaussian processes, and LoG-GP is within 10 % of its authors' lgrt4gps 0.0.2. LWPR follows the slope of its cost, but on
the cross function of its paper it has an nMSE of about 0.05 after 12 000 samples, where the paper has about 0.02: read
its figures here as those of a weaker form.
"""


def draw(cases: Mapping[str, Found], out: Path) -> list[tuple[Path, str]]:
    """Draw the pictures; return their paths with what they show."""
    plain = {name: case for name, case in cases.items() if case["kind"] != "change"}
    changes = {name: case for name, case in cases.items() if case["kind"] == "change"}
    made: list[tuple[Path, str]] = []
    if plain:
        caption = (
            "Error over the time since learners began from nothing: SP is 1, each rival is shown in its better form"
        )
        _draw_time(list(plain.values()), "curve", CURVE, "seconds since the start", out / TIME, caption)
        made.append((out / TIME, caption))
        caption = "Error of SP over that of the best rival on each recording: left of the line ours is better"
        _draw_ratios(plain, out / RATIOS, caption)
        made.append((out / RATIOS, caption))
    if changes:
        caption = "Error after a sudden change of task, of a simulated arm: ours in red, each rival in its better form"
        _draw_time(list(changes.values()), "after", AFTER, "seconds since the change", out / CHANGE, caption)
        made.append((out / CHANGE, caption))
    return made


def _mean_curve(cases: Sequence[Found], name: str, key: str) -> Array:
    curves = [[np.nan if value is None else value for value in case["learners"][name][key]] for case in cases]
    logarithms = np.log(curves)
    count = np.isfinite(logarithms).sum(axis=0)
    return np.asarray(np.exp(np.nansum(logarithms, axis=0) / np.where(count, count, np.nan)))


def _level(curve: Array) -> float:
    return float(np.nanmean(np.log(curve)))


def _draw_time(cases: Sequence[Found], key: str, edges: Sequence[float], label: str, path: Path, title: str) -> None:
    figure = plots.new_figure(9, 5)
    axes = figure.add_subplot()
    middle = np.sqrt(np.multiply(edges[:-1], edges[1:]))
    curves = {name: _mean_curve(cases, name, key) for name in cases[0]["learners"] if key in cases[0]["learners"][name]}
    if key == "curve":
        curves = {name: curve / curves[OURS] for name, curve in curves.items()}
    shown = {OURS: curves[OURS], RIGID: curves[RIGID]}
    for rival in RIVALS:
        forms = [curves[name] for top in (False, True) if (name := name_of(rival.name, top)) in curves]
        if forms:
            best = min(forms, key=_level)
            shown[next(name for name, curve in curves.items() if curve is best)] = best
    colours = (
        plots.RED,
        plots.INK,
        plots.GREY,
        plots.YELLOW,
        plots.GREEN,
        plots.BLUE,
        plots.BLUE,
        plots.INK,
        plots.GREY,
    )
    dashes = ("-", ":", "-", "-", "-", "-", "--", "--", "--")
    for (name, curve), colour, dash in zip(shown.items(), colours, dashes, strict=False):
        axes.plot(
            middle, np.minimum(curve, MOST_SHOWN), dash, color=colour, linewidth=3 if name == OURS else 1.4, label=name
        )
    plots.log_scale(axes, "x")
    plots.log_scale(axes, "y")
    over = "that of SP" if key == "curve" else "the variance of the output"
    plots.style(axes, f"mean squared error / {over}; {MOST_SHOWN:g} and more is drawn at {MOST_SHOWN:g}", "", label)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    plots.save(figure, path, title)


def _draw_ratios(cases: Mapping[str, Found], path: Path, title: str) -> None:
    figure = plots.new_figure(9, 1.5 + 0.35 * len(cases))
    grid = figure.subplots(1, 2, sharey=True)
    for axes, (part, words) in zip(grid, PARTS.items(), strict=True):
        found = [ratio_to_best(case, part) for case in cases.values()]
        places = -np.arange(len(found))
        colours = [plots.RED if ratio > AHEAD else plots.GREEN for ratio, _ in found]
        axes.barh(places, [np.log2(ratio) for ratio, _ in found], color=colours, height=0.7)
        for place, (ratio, best) in zip(places, found, strict=True):
            axes.text(
                0.03 if ratio < 1 else -0.03, place, best, fontsize=7, va="center", ha="left" if ratio < 1 else "right"
            )
        axes.axvline(0.0, color=plots.INK, linewidth=1)
        axes.set_yticks(places, list(cases))
        limit = max(1.0, float(np.ceil(max(abs(np.log2(ratio)) for ratio, _ in found))))
        axes.set_xlim(-limit, limit)
        ticks = np.arange(-limit, limit + 1)
        axes.set_xticks(ticks, [f"{2.0**tick:g}" for tick in ticks])
        plots.style(axes, words, "", "our error / that of the best rival, named beside the bar")
    plots.save(figure, path, title)
