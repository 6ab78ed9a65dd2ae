"""Data, options and clocks that the experiments on kernel methods share."""

import argparse
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from icub_learning.arrays import Array, integer
from icub_learning.errors import RecordingError
from icub_learning.reporting.tables import add_json_option

PUMADYN = Path("pumadyn32nh", "Prototask.data.gz")


def add_common_options(parser: argparse.ArgumentParser, data: bool = False) -> None:
    """Add --quick, --seed, --out and --json, and --data where a file is needed."""
    if data:
        parser.add_argument(
            "--data",
            type=Path,
            metavar="PATH",
            help="pumadyn32nh: Prototask.data.gz, or a folder that holds pumadyn32nh/Prototask.data.gz"
            " (default: $ICUB_LEARNING_DATA, or ../shared/data)",
        )
    parser.add_argument("--quick", action="store_true", help="a small version that takes seconds")
    parser.add_argument("--seed", type=int, default=0, help="of splits, centres and noise (default: 0)")
    parser.add_argument(
        "--out", type=Path, default=Path("out"), metavar="FOLDER", help="for the picture (default: out)"
    )
    add_json_option(parser)


def check_common(args: argparse.Namespace) -> int:
    """The seed. Raises ParameterError."""
    return integer("--seed", args.seed, 0)


def pumadyn(given: Path | None) -> tuple[Array, Array]:
    """The 8192 samples of pumadyn32nh as they are in the file: inputs (8192, 32), target (8192,).

    Raises:
        RecordingError: there is no such file, or it is another one.
    """
    folder = os.environ.get("ICUB_LEARNING_DATA")
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    roots = [given] if given else [Path(folder)] if folder else [Path("..", "shared", "data"), beside]
    candidates = [path for root in roots for path in (root / PUMADYN, root / PUMADYN.name, root) if path.is_file()]
    if not candidates:
        text = f"no {PUMADYN} in {' or '.join(map(str, roots))}: give the file of the DELVE data set with --data"
        raise RecordingError(text, name="data", value=str(roots[0]), bound=str(PUMADYN))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an empty file, which the check below names
            table = np.loadtxt(candidates[0], ndmin=2)
    except (OSError, ValueError, EOFError) as error:
        raise RecordingError(f"cannot read {candidates[0]}: {error}", name="data", value=str(candidates[0])) from error
    if table.shape[1] != 33 or len(table) < 100 or not np.isfinite(table).all():
        text = f"{candidates[0]} holds a table {table.shape}, not 8192 rows of 33 numbers"
        raise RecordingError(text, name="data", value=str(candidates[0]), bound="(8192, 33)")
    return table[:, :-1], table[:, -1]


def breast_cancer() -> tuple[Array, Array]:
    """The 569 tumours of the Wisconsin diagnostic data, inputs (569, 30) and -1 or +1, from scikit-learn."""
    from sklearn.datasets import load_breast_cancer

    inputs, labels = load_breast_cancer(return_X_y=True)
    return inputs, np.where(labels > 0, 1.0, -1.0)


def unit_interval(inputs: Array) -> Array:
    """Each column scaled to [0, 1]; one that stands still becomes 0."""
    span = np.ptp(inputs, axis=0)
    return (inputs - inputs.min(axis=0)) / np.where(span > 0, span, 1.0)


def seconds(work: Callable[..., object], *arguments: Any) -> float:
    """How long a call takes [s]."""
    start = perf_counter()
    work(*arguments)
    return perf_counter() - start


def slope(x: Any, y: Any) -> float:
    """Exponent of a power law through the points."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])
