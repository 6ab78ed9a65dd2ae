"""Published figures of each experiment beside ours, read from what it writes with --json."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from icub_learning.experiments.falkon import PUBLISHED_NAMES
from icub_learning.experiments.measuring import slope
from icub_learning.experiments.polk.curves import SETTINGS, last_of, over_budgeted
from icub_learning.experiments.thesis.table_7_1 import N_IMB, PUBLISHED_SIZE
from icub_learning.reporting.wrench_errors import PUBLISHED, UNITS

Figures = Mapping[str, Any]
# What a published figure is held against, in the order of the page.
SAME = "on the same data"
STAND_IN = "on data that stand in for theirs, or fewer of the same"
THEORY = "of theory: bounds, rates and counts"
TIME = "times, on other machines"
KINDS = (SAME, STAND_IN, THEORY, TIME)
BETTER = {"packed": "less", "full": ""}  # times of the layouts of tensors: the full one is a rival


@dataclass(frozen=True)
class Comparison:
    """One published figure beside ours.

    Attributes:
        what: the quantity, with its unit.
        ours, published: values.
        better: "less" or "more" if one of them is better, else "".
        kind: one of KINDS.
    """

    what: str
    ours: float
    published: float
    better: str = ""
    kind: str = SAME

    @property
    def difference(self) -> float:
        """Ours minus published."""
        return self.ours - self.published

    @property
    def worse(self) -> bool:
        """Whether ours is the worse one, in as many digits as a measured figure was published with; a sign has none."""
        text = f"{self.published!r}"
        digits = 17 if self.kind == THEORY or not self.published or "e" in text else len(text.partition(".")[2])
        gap = round(self.ours, digits) - self.published
        return (self.better == "less" and gap > 0) or (self.better == "more" and gap < 0)


def compare(name: str, figures: Figures) -> list[Comparison]:
    """Return all published figures that an experiment's own can be held against.

    Args:
        name: of the experiment.
        figures: what it wrote with --json.
    """
    return list(READERS[name](figures)) if name in READERS else []


def _figure_4_1(found: Figures) -> Iterator[Comparison]:
    if "pumadyn32nh" in found:
        few, many = (row["test"] for row in found["pumadyn32nh"]["rows"][:2])
        yield Comparison("pumadyn32nh: RMSE at m 62 over that at m 1000", few / many, 1.0, "less")
        small, large = (row["seconds"] for row in found["pumadyn32nh"]["rows"][:2])
        what = "pumadyn32nh: time of training and validation at m 1000 over that at m 62"
        yield Comparison(what, large / small, 3.0, "more", TIME)
        scaled = found["pumadyn32nh"]["scales"]["of deviation 1"]
        yield Comparison("pumadyn32nh, m 62: RMSE of a target of deviation 1 (theirs: unknown)", scaled, 0.33)
    for name in ("breast-cancer", "cpuSmall"):
        for row in found[name]["rows"][:2] if name in found else ():
            what = f"{name}, m {row['m']}: test {found[name]['unit']}"
            yield Comparison(what, row["test"], float(row["published"].rstrip(" %")), "less")


def _figure_5_1(found: Figures) -> Iterator[Comparison]:
    for row in found["rows"]:
        what = f"centres for twice KRLS's risk, lambda {row['lambda']:.0e}, beside theorem 5's"
        yield Comparison(what, row["enough"], row["theorem 5"], "less", THEORY)
    for name, (risk, bound) in found["checks"].items():
        if "theorem 2" not in name:  # which is an equation
            yield Comparison(f"{name}: expected risk beside its bound", risk, bound, "less", THEORY)


def _figure_5_2(found: Figures) -> Iterator[Comparison]:
    for case in found["cases"]:
        for name, theory in case["theory"].items():
            better = "" if name == "regularization" else "less"
            yield Comparison(f"r {case['r']:.4g}: exponent of {name}", case["exponents"][name], theory, better, THEORY)


def _table_4_1(found: Figures) -> Iterator[Comparison]:
    for name, methods in found["sets"].items():
        for method, error in found["published"].get(name, {}).items():
            mean = float(np.mean([one["rmse"] for one in methods[method]]))
            # The table's CPU has 21 inputs, cpuSmall 12 of them.
            yield Comparison(f"{name}: RMSE of {method}", mean, error, "less", STAND_IN if name == "cpuSmall" else SAME)


def _table_4_3(found: Figures) -> Iterator[Comparison]:
    for name, ours in found["sets"].items():
        for method, (took, error, _) in found["published"].get(name, {}).items():
            some = ours["methods"][method]
            same = SAME if name != "adult" or method in ("NKRLS", "NYTRO") else STAND_IN  # the others take 4000 persons
            for key, what, published, kind in (("rmse", "RMSE", error, same), ("seconds", "seconds", took, TIME)):
                mean = float(np.mean([one[key] for one in some]))
                yield Comparison(f"{name}: {what} of {method}", mean, published, "less", kind)
        theirs = found["published"].get(name)
        if theirs:
            seconds = {one: float(np.mean([row["seconds"] for row in ours["methods"][one]])) for one in theirs}
            gain, published = seconds["NKRLS"] / seconds["NYTRO"], theirs["NKRLS"][0] / theirs["NYTRO"][0]
            yield Comparison(f"{name}: time of NKRLS over NYTRO's", gain, published, "more", TIME)


def _nytro(found: Figures) -> Iterator[Comparison]:
    yield Comparison("exponent of m in the time of NYTRO", found["slopes"]["nytro"], 1.0, "less", TIME)
    yield Comparison("exponent of m in the time of NKRLS", found["slopes"]["path"], 2.0, "less", TIME)


def _table_6_2(found: Figures) -> Iterator[Comparison]:
    for data, one in found["sets"].items():
        for name, trials in one["hinge, error, seconds"].items():
            ours, theirs = np.mean(trials, axis=0), found["published"][data][name.split(",")[0]]
            columns = ("hinge loss", "error [%]", "seconds")
            for what, mean, published in zip(columns, ours, theirs, strict=True):
                if published is not None:
                    kind = TIME if what == "seconds" else SAME
                    yield Comparison(f"{data}, {name}: {what}", float(mean), published[0], "less", kind)


def _corollaries_6(found: Figures) -> Iterator[Comparison]:
    for case in found["cases"]:
        what = f"{case['corollary']}, {case['loss']} loss, beta {case['beta']:g}: exponent of n"
        yield Comparison(what, case["exponents"]["average"], case["exponents"]["bound"], "less", THEORY)


def _falkon(found: Figures) -> Iterator[Comparison]:
    theory = found["theory"]
    squares = [row["falkon_error"] ** 2 for row in theory]
    yield Comparison("exponent of n in the squared error, theory's setting", slope([r["n"] for r in theory], squares),
                     -0.5, "less", THEORY)  # fmt: skip
    yield Comparison("exponent of n in the time", found["growth"], 1.5, "less", TIME)
    base = found["published"]["FALKON"][2]
    for theirs, name in PUBLISHED_NAMES.items():
        some = [row for row in found["rows"] if f"{name}_s" in row][-1]
        ours, published = some[f"{name}_s"] / some["falkon_s"], found["published"][theirs][2] / base
        yield Comparison(f"time of {theirs} over FALKON's, here at n {some['n']}", ours, published, "more", TIME)


def _table_7_1(found: Figures) -> Iterator[Comparison]:
    for data, set_up in (("mnist", "MNIST, n_bal 1000"), ("objects", "iCubWorld28, CaffeNet fc7, n_bal 700")):
        if data not in found:
            continue
        ours, published = found[data], found["published"][set_up]
        mnist = data == "mnist"
        name = "MNIST" if mnist else "rendered objects, theirs iCubWorld28"
        kind = SAME if mnist and ours["n_bal"] == PUBLISHED_SIZE[0] else STAND_IN
        for method in ("N", "RB", "RC"):
            for column, what in enumerate(("total", "imbalanced")):
                means = ours["accuracy_percent"][method][what]["mean"]
                for n, mean in zip(ours["n_imb"], means, strict=True):
                    if n in N_IMB:
                        value = published[method][N_IMB.index(n)][column]
                        better = "" if method == "N" and what == "imbalanced" else "more"
                        yield Comparison(f"{name}, {n} late: {method}, {what} accuracy [%]", mean, value, better, kind)


def _figure_8_4(found: Figures) -> Iterator[Comparison]:
    for short, errors in found["rmse"].items():
        for column, (group, unit) in enumerate(UNITS.items()):
            ours = errors[group]["steady"]
            published = _nearest(ours, [float(edge) for edge in PUBLISHED[short.split()[0]][column].split("-")])
            yield Comparison(f"{short}: RMSE of {group}, steady [{unit}]", ours, published, "less", STAND_IN)


def _nearest(value: float, edges: Sequence[float]) -> float:
    """Return the number nearest to the value between the smallest and the largest of the edges."""
    return float(np.clip(value, min(edges), max(edges)))


def _curves(found: Figures) -> Iterator[Comparison]:
    for name in SETTINGS:
        if name in found:
            risk, error = over_budgeted(found[name])
            what, kind = f"{name}, POLK hinge over BSGD with as many points", SAME if name == "multidist" else STAND_IN
            yield Comparison(f"{what}: risk (published: less)", risk, 0.0, "less", kind)
            yield Comparison(f"{what}: error [%] (published: less)", 100 * error, 0.0, "less", kind)
            for rival, better in (("LIBSVM", ""), ("L-BFGS hinge", "less")) if name == "multidist" else ():
                gap = 100 * (last_of(found[name], "POLK hinge", "error") - last_of(found[name], rival, "error"))
                yield Comparison(f"{name}, POLK hinge over {rival}: error [%]", gap, 0.0, better)
    if "multidist" in found:
        order = found["multidist"]["POLK hinge, K 0.04"]["last points"]
        yield Comparison("multidist: points of POLK, hinge, beside the number of modes", order, 15.0, "less")


def _convergence(found: Figures) -> Iterator[Comparison]:
    for name, one in found["runs"].items():
        if one["bound"] is not None:
            yield Comparison(f"{name}: distance to f*, beside its bound", one["closest"], one["bound"], "less", THEORY)
    yield Comparison("power of eta in the distance that remains", found["powers"]["remaining"], 0.5, kind=THEORY)


def _layout(found: Figures) -> Iterator[Comparison]:
    for n, published in (("10", 715), ("50", 292_825), ("100", 4_421_275)):
        yield Comparison(f"packed entries, n {n}", found["counts"][n], published, kind=THEORY)
    for kind, ours, published in zip(("packed", "full"), found["largest"], (399, 181), strict=True):
        yield Comparison(f"largest n in 8 GiB, {kind}", ours, published, "more", THEORY)


def _synthetic(found: Figures) -> Iterator[Comparison]:
    for one in found["times"]:
        for layout, (build, optimize) in found["published"].get(str(one["n"]), {}).items():
            if layout in one:
                for what, key, theirs in (("build", "build", build), ("optimize", "train", optimize)):
                    name = f"n {one['n']}, {layout}: {what} [s]"
                    yield Comparison(name, one[layout][key], theirs, BETTER[layout], TIME)
    for one in found["subsampled"]:
        packed, full = (sum(one[layout][what] for what in ("build", "train")) for layout in ("packed", "full"))
        published = found["table 4"][str(one["n"])]
        yield Comparison(f"m {one['n']}: packed, build and optimize [s]", packed, published[0], "less", TIME)
        what = f"m {one['n']}: time of the full layout over the packed one's"
        yield Comparison(what, full / packed, published[1] / published[0], "more", TIME)
    for errors in found["errors"]:
        for place, gamma in enumerate(errors["gamma"]):
            what = f"errors, row {place + 1}: best gamma, beside the nearest of the published range"
            yield Comparison(what, gamma, _nearest(gamma, found["best gamma"]))


def _selection(found: Figures) -> Iterator[Comparison]:
    for m, (true, false) in found["published"].items():
        ours = found["found"][f"m {m}, order 4"]
        yield Comparison(f"m {m}: true features found", float(np.mean(ours["true"])), true, "more")
        yield Comparison(f"m {m}: false features found", float(np.mean(ours["false"])), false, "less")


def _wpbc(found: Figures) -> Iterator[Comparison]:
    published = {60: (117.0, 20.0), 120: (1884.0, 329.0)}
    for one in found["build"]:
        for layout, theirs in zip(("full", "packed"), published[one["n"]], strict=True):
            if layout in one:
                ours = 1e3 * one[layout]["build"]
                yield Comparison(f"{one['n']} patients: build, {layout} [ms]", ours, theirs, BETTER[layout], TIME)


def _detection(found: Figures) -> Iterator[Comparison]:
    for title, (took, precision) in found["published"].items():
        ours = found["results"][title]
        yield Comparison(f"{title}: mAP [%], theirs on photographs", 100 * ours["mean"], precision, "more", STAND_IN)
        yield Comparison(f"{title}: training [s]", ours["training"], took, "less", TIME)


READERS: dict[str, Callable[[Figures], Iterator[Comparison]]] = {
    "figure-4.1": _figure_4_1,
    "figure-5.1": _figure_5_1,
    "figure-5.2": _figure_5_2,
    "table-4.1": _table_4_1,
    "table-4.3": _table_4_3,
    "nytro": _nytro,
    "table-6.2": _table_6_2,
    "corollaries-6": _corollaries_6,
    "falkon": _falkon,
    "table-7.1": _table_7_1,
    "figure-8.4": _figure_8_4,
    "polk-curves": _curves,
    "polk-convergence": _convergence,
    "tensor-layout": _layout,
    "tensor-synthetic": _synthetic,
    "tensor-selection": _selection,
    "tensor-wpbc": _wpbc,
    "detection": _detection,
}


def worse(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return those in which ours is the worse one."""
    return [one for one in comparisons if one.worse]
