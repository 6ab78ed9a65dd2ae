"""Results of the comparison: tables, pictures and the page with both."""

import shutil
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.evaluation.judgement import geometric_mean
from icub_learning.experiments import panels
from icub_learning.experiments.peers.rivals import RIVALS, RigidBodies
from icub_learning.experiments.peers.trial import AFTER, CURVE, WINDOWS
from icub_learning.reporting.page import describe_machine
from icub_learning.reporting.tables import number, table

OURS, RIGID, OFF_LINE = "SP, this package", "P within it", "off-line identification"
LEAST_SQUARES = next(one.name for one in RIVALS if one.kind is RigidBodies)  # costs what the rigid bodies below cost
ON_TOP = " + P"  # follows the name of a rival on top of rigid bodies
PARTS = {"start": "2 to 10 s", "last": "last 30 %"}
MOST_SHOWN = 30.0  # largest error that pictures over time show; larger ones are drawn at it
AHEAD = 1.05  # ratio of our error to the best rival's above which the rival is ahead
RANK_HEAD = ["", *("error / ours", "mean rank", "first") * 2, "settings", "µs a sample"]
GROUP_HEAD = ["recordings", "number", *("ours / best rival", "which") * 2]
BEST_HEAD = ["recording", *("ours", "best rival", "which", "ratio") * 2]
OVER_TIME = "Error since learners began, as long as all recordings last: SP is 1, rivals in their better form"
AFTER_CHANGE = "Error after a sudden change of task, of a simulated arm: ours in solid red, rivals in their better form"
CHANGE_HEAD = ["RMSE of force [N] and torque [N m]", *(f"{a:g} to {b:g} s" for a, b in WINDOWS)]
Found = Mapping[str, Any]
Section = tuple[str, str, list[str], list[list[str]]]  # heading, text, head and rows of a table


def errors(case: Found, part: str) -> dict[str, float]:
    """Return the nMSE in a part of a case by learner, for all but RIGID that have one."""
    values = {name: one.get(part) for name, one in case["learners"].items() if name != RIGID}
    return {name: value for name, value in values.items() if value is not None and np.isfinite(value)}


def ratio_to_best(case: Found, part: str) -> tuple[float, str]:
    """Return the ratio of our error to that of the best rival, and the rival's name."""
    found = errors(case, part)
    best = min((name for name in found if name != OURS), key=lambda name: found[name])
    return found[OURS] / found[best], best


def over_all(cases: Sequence[Found], part: str) -> tuple[float, str]:
    """Return our error over that of the rival that is best over all cases, in the geometric mean, and its name."""
    tables = [errors(case, part) for case in cases]
    everywhere = [name for name in tables[0] if name != OURS and all(name in found for found in tables)]
    ratios = {name: geometric_mean([found[OURS] / found[name] for found in tables]) for name in everywhere}
    best = max(ratios, key=lambda name: ratios[name])
    return ratios[best], best


def over_groups(cases: Mapping[str, Found]) -> list[list[str]]:
    """Return a row for each group of recordings: its name and size and, for the seconds 2 to 10 and the last 30 %, our
    error over that of the group's best rival, and that rival's name."""
    kinds = sorted({case["kind"] for case in cases.values()})
    groups = {"all": list(cases)} | {kind: [name for name in cases if cases[name]["kind"] == kind] for kind in kinds}
    if len(cases) > 1:
        left = {name: [other for other in cases if other != name] for name in cases}
        kindest = max(left, key=lambda name: over_all([cases[one] for one in left[name]], "start")[0])
        groups[f"all but {kindest}"] = left[kindest]
    rows = []
    for group, names in groups.items():
        found = [over_all([cases[name] for name in names], part) for part in PARTS]
        rows.append([group, str(len(names)), *(cell for ratio, best in found for cell in (number(ratio), best))])
    return rows


def ranking(cases: Sequence[Found]) -> list[list[str]]:
    """Return a row for each learner: in both parts error over ours, mean rank, times first; then settings and cost."""
    settings = {OURS: 0}
    for one in RIVALS:
        settings[one.name] = len(one.choices) + 2 * one.by_likelihood
        settings[one.name + ON_TOP] = settings[one.name] + 1
    rows = []
    for name in dict.fromkeys(name for case in cases for name in case["learners"] if name != RIGID):
        cells = [name]
        for part in PARTS:
            tables = [found for case in cases if name in (found := errors(case, part))]
            ranks = [sorted(found.values()).index(found[name]) + 1 for found in tables]
            over = [found[name] / found[OURS] for found in tables]
            mean_rank = float(np.mean(ranks)) if ranks else None
            cells += [number(geometric_mean(over)), number(mean_rank), str(ranks.count(1))]
        counted = (name, LEAST_SQUARES) if name.endswith(ON_TOP) else (name,)  # with the rigid bodies below it
        taking = [case["learners"] for case in cases if name in case["learners"]]
        costs = [sum(found.get(one, {}).get("microseconds", np.nan) for one in counted) for found in taking]  # [us]
        rows.append([*cells, str(settings.get(name, 1)), number(float(np.mean(costs)))])
    return sorted(rows, key=lambda row: float(row[4]) if row[4] != "-" else 99.0)


def beside_the_best(cases: Mapping[str, Found]) -> list[list[str]]:
    """Return a row for each recording: our error, the best rival's, and the ratio, at both parts."""
    rows = []
    for name, case in cases.items():
        cells = [name]
        for part in PARTS:
            found, (ratio, best) = errors(case, part), ratio_to_best(case, part)
            mark = " (behind)" if ratio > AHEAD else ""
            cells += [number(found[OURS]), number(found[best]), best, number(ratio) + mark]
        rows.append(cells)
    return rows


def after_change(case: Found) -> list[list[str]]:
    """Return a row for each learner: RMSE of force [N] and torque [N m] in windows after the change of task."""
    rows = {name: np.array(one["windows"]) for name, one in case["learners"].items() if "windows" in one}
    order = sorted(rows, key=lambda name: geometric_mean(rows[name][1:].ravel()))
    best = np.min([values for name, values in rows.items() if name != OURS], axis=0)
    shown = {**{name: rows[name] for name in order}, "ours / best rival": rows[OURS] / best}
    return [[name, *(" ".join(map(number, window)) for window in values.tolist())] for name, values in shown.items()]


def summary(cases: Sequence[Found]) -> str:
    parts = []
    for part, words in PARTS.items():
        ratio, best = over_all(cases, part)
        each = [ratio_to_best(case, part)[0] for case in cases]
        mean, median = geometric_mean(each), float(np.median(each))
        parts.append(
            f"{words}: SP has {number(ratio)} times the error of the best rival over all recordings ({best}) and "
            f"{number(mean)} times that of the best on each, {number(median)} in the median; it is the best, or within "
            f"5 % of it, on {sum(value <= AHEAD for value in each)} of {len(each)}"
        )
    return "; ".join(parts) + "."


def sections(figures: Found, plain: Mapping[str, Found], changes: Mapping[str, Found]) -> list[Section]:
    """Return the tables of recordings without and with a change of task, and of contacts and loads."""
    found: list[Section] = []
    if plain:
        over = "Error over ours: geometric mean. The first three columns: 2 to 10 s; the next three: last 30 %. "
        over += "Settings: how many are searched. Microseconds: to predict and learn a sample, all outputs, in Python."
        found.append(("Ranks", over, RANK_HEAD, ranking(list(plain.values()))))
        groups = "Our error over that of the rival that is best over the group, from 2 to 10 s, then in the last 30 %. "
        groups += "The last row leaves out the recording that favours ours most from 2 to 10 s."
        found.append(("Groups of recordings", groups, GROUP_HEAD, over_groups(plain)))
        beside = "nMSE from 2 to 10 s, then in the last 30 %."
        found.append(("Each recording", beside, BEST_HEAD, beside_the_best(plain)))
    for name, case in changes.items():
        text = "Simulated arm; seconds after the change. Learning goes on all the time."
        found.append((f"Change of task, {name.removeprefix('change ')}", text, CHANGE_HEAD, after_change(case)))
    return found + [tuple(one) for part in ("contacts", "loads") if part in figures for one in figures[part]["tables"]]


def show(figures: Found, out: Path, page: Path | None) -> None:
    """Print the tables, draw the pictures, and write the page if a path is given."""
    cases: Mapping[str, Found] = figures.get("learners", {})
    plain = {name: case for name, case in cases.items() if case["kind"] != "change"}
    changes = {name: case for name, case in cases.items() if case["kind"] == "change"}
    result = summary(list(plain.values())) if plain else ""
    print(result)
    found = sections(figures, plain, changes)
    for heading, text, head, rows in found:
        print(f"\n{heading}. {text}\n{table(head, rows)}")
    pictures = {}
    if plain:
        pictures[OVER_TIME] = out / "peers-time.png"
        _draw(pictures[OVER_TIME], list(plain.values()), "curve", CURVE, "seconds since the start", OVER_TIME)
    if changes:
        pictures[AFTER_CHANGE] = out / "peers-change.png"
        _draw(pictures[AFTER_CHANGE], list(changes.values()), "after", AFTER, "seconds since the change", AFTER_CHANGE)
    if page is not None:
        _write(page, figures, result, pictures, found)


def _write(page: Path, figures: Found, result: str, pictures: Mapping[str, Path], found: Sequence[Section]) -> None:
    lines = ["# Beside those who came before", "", result, ""]
    for caption, path in pictures.items():
        (page.parent / "pictures").mkdir(parents=True, exist_ok=True)
        shutil.copy(path, page.parent / "pictures" / path.name)
        lines += [f"![{caption}](pictures/{path.name})", "", f"*{caption}*", ""]
    for heading, text, head, rows in found:
        lines += [f"## {heading}", "", text, "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in rows] + [""]
    given = {name: figures[name] for name in ("command", "seconds")} | describe_machine()
    lines += [NOTES.format(date=date.today().isoformat(), **given)]
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(lines))
    print(f"page: {page}")


NOTES = """\
## How it is measured

`{command}`,
{date}, {cores} cores of {processor}. Each learner predicts a sample before it learns it; all learn the
same samples, at the same moment, from the same motions, derived without delay. Ours is SP with its defaults, and is
told the robot's URDF, joints and kind of output. Rivals are told means and deviations of motions and outputs over the
whole recording besides. Their settings are searched on its first 30 %, one after the other, twice (quick form: once,
and two values of each); length scales and noise of Gaussian processes, shared by all outputs, are first found by
likelihood there. On top of P means: what P of this package predicts at each moment is taken away, and the rival learns
the rest, after a wait that is searched too. Off-line identification has learned the first 70 %, filtered from both
sides in time, and predicts the rest from motions that are not. The efforts of `ur10` are smoothed: a line through the
last two foretells the next to a millionth of their variance, better than any learner here. Simulated robots move for
{seconds:g} s. Costs are processor time of Python with NumPy; ours, I-SSGPR and least squares use the compiled core of
this package. On top of P, the cost of rigid-body RLS is added. Ours is without the motion filter, which all share.

The rivals were written from their papers; they are not their authors' programs. Checked in `test/experiments/peers`:
I-SSGPR is ridge regression on its features, a tree with one leaf and a streaming process with all inputs are exact
Gaussian processes, and LoG-GP is within 10 % of its authors' lgrt4gps 0.0.2. LWPR follows the slope of its cost, but on
the cross function of its paper it has an nMSE of about 0.05 after 12 000 samples, where the paper has about 0.02: read
its figures here as those of a weaker form.
"""


def _mean_curve(cases: Sequence[Found], name: str, key: str) -> Array:
    """Return the geometric mean over cases of an error over time; NaN at times that one of them lacks."""
    logarithms = np.log(np.array([case["learners"][name][key] for case in cases], float))  # None becomes NaN
    return np.asarray(np.exp(logarithms.mean(axis=0)))


def _draw(path: Path, cases: Sequence[Found], key: str, edges: Sequence[float], label: str, title: str) -> None:
    """Draw the errors over time of SP, of P within it, and of each rival's better form."""
    curves = {name: _mean_curve(cases, name, key) for name, one in cases[0]["learners"].items() if key in one}
    if key == "curve":
        curves = {name: curve / curves[OURS] for name, curve in curves.items()}
    names = [OURS, RIGID]
    for rival in RIVALS:
        forms = [name for name in (rival.name, rival.name + ON_TOP) if name in curves]
        names += sorted(forms, key=lambda name: float(np.nanmean(np.log(curves[name]))))[:1]
    middle = np.sqrt(np.multiply(edges[:-1], edges[1:]))
    over = "that of SP" if key == "curve" else "the variance of the output"
    what = f"mean squared error / {over}; {MOST_SHOWN:g} and more is drawn at {MOST_SHOWN:g}"
    lines = {name: (middle, np.minimum(curves[name], MOST_SHOWN)) for name in names}
    panels.draw(path, title, [panels.Panel("", label, what, lines)], size=1.5)
