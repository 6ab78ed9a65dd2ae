"""`icub-learning reproduce nytro`: early stopping and Tikhonov on Nyström centres (NYTRO paper, fig. 2, table 2)."""

import argparse
from typing import Any

from icub_learning.cli.kernel_data import add_common_options, check_common, pumadyn, rmse, seconds, slope, unit_interval
from icub_learning.cli.report import number, table, write_json

SUMMARY = "NYTRO against Nyström KRLS: model selection time over the number of centres, and test errors"
DESCRIPTION = """\
Model selection on pumadyn32nh, 6554 samples for training as cpuSmall has them, a fifth of them held out, sigma 2.66:
NYTRO for 500 iterations, all of which it validates, against Nyström KRLS with 100 values of lambda in [1e-15, 1]. Times
over the number of centres m, and errors on the other 1638 samples. Published: linear in m against quadratic (fig. 2, on
cpuSmall), and table 2, on other data.

Here all 100 lambda of Nyström KRLS cost one eigendecomposition, O(m^3), after O(n m^2); the paper's cost a solution
each. Below it is given at 100 values and at one.

example:
  icub-learning reproduce nytro --json out/nytro.json"""
# Seconds and RMSE of NKRLS and NYTRO (table 2).
PUBLISHED = {
    "InsuranceCompany, m 2000": ((20.32, 0.4651), (5.49, 0.4651)),
    "Adult, m 1000": ((5.95, 0.6462), (0.85, 0.6873)),
    "Ijcnn, m 5000": ((160.28, 0.469), (80.9, 0.457)),
    "YearPredictionMSD, m 10000": ((1188.0, 0.1015), (887.0, 0.1149)),
    "Covertype, m 10000": ((1235.0, 1.204), (92.69, 0.918)),
}
ITERATIONS, GUESSES, SIGMA = 500, 100, 2.66
METHODS = {
    "nytro": "NYTRO",
    "rule": "NYTRO, stopped by its rule",
    "path": "NKRLS, 100 lambda",
    "one": "NKRLS, one lambda",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    add_common_options(parser, data=True)


def run(args: argparse.Namespace) -> int:
    """Measure, print and draw."""
    import numpy as np
    from tqdm import tqdm

    from icub_learning.cli import reproduce_lines
    from icub_learning.kernel_methods import NYTRO, NystromKRLS

    seed = check_common(args)
    inputs, target = pumadyn(args.data)
    inputs, target = unit_interval(inputs), target / target.std()
    order = np.random.default_rng(seed).permutation(len(inputs))
    n_train = 800 if args.quick else 6554
    sizes = (50, 100, 200) if args.quick else (250, 500, 1000, 2000)
    iterations = 50 if args.quick else ITERATIONS
    train, test = order[:n_train], order[n_train : n_train + (500 if args.quick else len(order))]
    n_learned = int(0.8 * n_train)
    learned, held = train[:n_learned], train[n_learned:]
    rows: list[dict[str, Any]] = []
    for m in tqdm(sizes, "m", disable=None, leave=False):
        shared: dict[str, Any] = {"length_scale": SIGMA, "n_centers": m, "random_state": seed}
        row: dict[str, Any] = {"m": m}
        models: dict[str, Any] = {
            "nytro": NYTRO(max_iter=iterations, tol=0.0, **shared),
            "rule": NYTRO(max_iter=iterations, tol=0.0, stopping="simple", shuffle=False, **shared),
            "path": NystromKRLS(regularization=1e-3, path=np.logspace(-15, 0, GUESSES).tolist(), **shared),
            "one": NystromKRLS(regularization=1e-3, **shared),
        }

        def select(model: Any) -> None:
            """Fit and find the level with the least validation error."""
            model.fit(inputs[learned], target[learned])
            predicted = model.predict_path(inputs[held])[..., 0]
            model.best = int(np.mean((predicted - target[held]) ** 2, axis=1).argmin())

        for name, model in models.items():
            if name == "rule":  # which holds out its own part of the training samples
                row["rule_s"] = seconds(model.fit, inputs[train], target[train])
                row["rule_error"], row["rule_level"] = rmse(model.predict(inputs[test]), target[test]), model.n_iter_
                continue
            row[f"{name}_s"] = seconds(select, model)
            row[f"{name}_level"] = float(model.path_levels_[model.best])
            row[f"{name}_error"] = rmse(model.predict_path(inputs[test])[model.best, :, 0], target[test])
        rows.append(row)
    slopes = {name: slope(sizes, [row[f"{name}_s"] for row in rows]) for name in METHODS}
    cells = [
        [str(row["m"]), *(number(row[f"{name}_s"]) for name in METHODS), *(number(row[f"{name}_error"], 4) for name in METHODS)]  # noqa: E501
        for row in rows
    ]  # fmt: skip
    cells.append(["time ~ m^", *(f"{value:.2f}" for value in slopes.values()), *[""] * len(METHODS)])
    head = ["m", *[short for _ in range(2) for short in ("NYTRO", "by rule", "100 lambda", "one lambda")]]
    print(f"pumadyn32nh, {n_train} training samples, sigma {SIGMA}, target of deviation 1, t = {iterations}\n")
    print(table(head, cells, [("model selection [s]", 4), ("test RMSE", 4)]))
    last = rows[-1]
    levels = ", ".join(f"{METHODS[name]} {number(last[f'{name}_level'])}" for name in ("nytro", "rule", "path"))
    print(f"\nchosen at m = {last['m']} (t or lambda): {levels}")
    published = [
        [name, number(a[0], 4), number(b[0], 4), f"{a[0] / b[0]:.1f}", number(a[1], 4), number(b[1], 4)]
        for name, (a, b) in PUBLISHED.items()
    ]
    head = ["published", "NKRLS", "NYTRO", "ratio", "NKRLS", "NYTRO"]
    print("\n" + table(head, published, [("model selection [s]", 3), ("test RMSE", 2)]))
    ratio = last["path_s"] / last["nytro_s"]
    print(
        f"\nAt m = {last['m']} NYTRO with {iterations} iterations takes {number(1 / ratio)} times as long as NKRLS with"
        f" {GUESSES} lambda: " + ("worse than published, where it is faster." if ratio < 1 else "faster, as published.")
        + f" Its error is {last['nytro_error'] / last['path_error']:.3f} times NKRLS's."
    )  # fmt: skip
    picture = args.out / "nytro.png"
    times = {METHODS[name]: (sizes, [row[f"{name}_s"] for row in rows]) for name in METHODS}
    middle = np.array(sizes, float) / sizes[0]
    start = rows[0]["nytro_s"], rows[0]["one_s"]
    panels = [
        reproduce_lines.Panel(
            f"model selection, n = {n_learned}",
            "centres m",
            "time [s]",
            times,
            {"linear": (sizes, start[0] * middle), "quadratic": (sizes, start[1] * middle**2)},
        ),
        reproduce_lines.Panel(
            "test error",
            "centres m",
            "RMSE / deviation of the target",
            {METHODS[name]: (sizes, [row[f"{name}_error"] for row in rows]) for name in METHODS if name != "one"},
            linear_y=True,
        ),
    ]
    reproduce_lines.draw(picture, "NYTRO and Nyström KRLS on pumadyn32nh", panels)
    print(f"picture: {picture}")
    if args.json is not None:
        figures = {"seed": seed, "n_train": n_train, "rows": rows, "slopes": slopes, "published": PUBLISHED}
        write_json(args.json, figures)
        print(f"figures: {args.json}")
    return 0
