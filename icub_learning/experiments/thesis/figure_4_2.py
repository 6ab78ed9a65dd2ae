"""`reproduce figure-4.2`: model selection time: a path over the centres against separate fits (thesis 4.2.4)."""

from typing import Any

import numpy as np

from icub_learning.experiments.data.tables import PUMADYN_HELP, pumadyn, unit_interval
from icub_learning.experiments.figures import seconds, slope
from icub_learning.experiments.options import Arguments, checked_seed, options, progress
from icub_learning.experiments.panels import Panel, draw
from icub_learning.kernel_methods import IncrementalNystromKRLS, NystromKRLS
from icub_learning.reporting.tables import number, save_figures, table

DESCRIPTION = """\
Time to have solutions at L numbers of centres between 1 and m, by the incremental path and by a fit for each of them,
on pumadyn32nh (sigma 2.66, lambda 1e-5, 4096 training samples): with m growing at L = 50, as published on cpuSmall,
and with L growing at m = 1000, where separate fits grow linearly and the path not at all. The published figure has no
numbers: it shows the incremental path far below separate fits."""
LEVELS = 50
SIGMA, LAMBDA = 2.66, 1e-5
add_options = options("centres", data=PUMADYN_HELP, quick=True)


def run(args: Arguments) -> None:
    seed = checked_seed(args)
    inputs, target = pumadyn(args.data)
    n = 1000 if args.quick else 4096
    x, y = unit_interval(inputs)[:n], target[:n]
    sizes = (50, 100, 200) if args.quick else (125, 250, 500, 1000)
    counts = (5, 10, 20) if args.quick else (5, 10, 20, 50)
    n_levels = 10 if args.quick else LEVELS
    settings: dict[str, Any] = {"length_scale": SIGMA, "regularization": LAMBDA, "random_state": seed}

    def fastest(method: Any, m: int) -> float:
        return min(seconds(method(n_centers=m, **settings).fit, x, y) for _ in range(2))

    def separate(m: int, count: int) -> float:
        levels = np.linspace(m / count, m, count).astype(int)
        return sum(seconds(NystromKRLS(n_centers=int(some), **settings).fit, x, y) for some in levels)

    by_size = []
    for m in progress(sizes, "m"):
        took = {"one_fit_s": fastest(NystromKRLS, m), "path_s": fastest(IncrementalNystromKRLS, m)}
        by_size.append({"m": m, **took, "separate_s": separate(m, n_levels)})
    last, most = by_size[-1], sizes[-1]
    by_count = [
        {"levels": count, "path_s": last["path_s"],
         "separate_s": last["separate_s"] if count == n_levels else separate(most, count)}
        for count in progress(counts, "levels")
    ]  # fmt: skip
    growth, ratio = slope(counts, [row["separate_s"] for row in by_count]), last["path_s"] / last["one_fit_s"]
    rows = [
        [str(m), *map(number, (one, path, separate)), f"{separate / path:.1f}"]
        for m, one, path, separate in (row.values() for row in by_size)
    ]
    head = ["m", "one fit", f"path, {n_levels} levels of 1..m", f"{n_levels} separate fits", "ratio"]
    print(f"pumadyn32nh, n = {n}, sigma {SIGMA}, lambda {LAMBDA:g}: times [s]\n" + table(head, rows))
    rows = [[str(count), *map(number, times)] for count, *times in (row.values() for row in by_count)]
    print(f"\nm = {most}: times [s] over the number of levels\n" + table(["levels", "path", "separate fits"], rows))
    print(
        f"\nThe whole path of 1..{most} takes {ratio:.2f} times one fit at {most};"
        f" separate fits grow as L^{growth:.2f}. Published (cpuSmall, 50 levels): a figure without numbers, in which"
        " the path is far faster."
    )
    names = {"separate fits": "separate_s", "incremental path": "path_s", "one fit at m": "one_fit_s"}
    panels = []
    for title, label, at, some in ((f"{n_levels} levels up to m", "centres m", sizes, by_size),
                                   (f"m = {most}", "levels L", counts, by_count)):  # fmt: skip
        lines = {name: (at, [row[key] for row in some]) for name, key in names.items() if key in some[0]}
        panels.append(Panel(title, label, "time [s]", lines))
    draw(args.out / "figure-4.2.png", "Solutions at many numbers of centres: pumadyn32nh", panels)
    found = {"n": n, "by_size": by_size, "by_count": by_count, "growth": growth, "path_over_fit": ratio}
    save_figures(args.json, {"seed": seed, "quick": args.quick, **found})
