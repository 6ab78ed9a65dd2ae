"""Tables of samples: pumadyn32nh, breast cancer data of Wisconsin, and sets that are read from their public files."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_svmlight_file

from icub_learning.arrays import Array
from icub_learning.errors import RecordingError
from icub_learning.experiments.data.fetching import debian, find_file, readable
from icub_learning.experiments.data.r_packages import LIBRARY, read_database

PUMADYN = "pumadyn32nh/Prototask.data.gz"
PUMADYN_HELP = f"pumadyn32nh: {PUMADYN}, or a folder that holds {PUMADYN} (default: $ICUB_LEARNING_DATA)"
WPBC_PACKAGE = "r-cran-th.data"  # Debian and Ubuntu, GPL-3
WPBC_FOLDER = Path("TH.data/data")  # folder in the library of R
WPBC, TIME, STATUS = "wpbc", "time", "status"  # the table and two of its columns
RECURRED = "R"  # status of a recurrence; the other one is N


@dataclass(frozen=True)
class PublicFile:
    """Where a set is public, and how its source divides it."""

    names: tuple[str, ...]  # possible names of the file, in LIBSVM's format or with one comma-separated sample a line
    share: float  # share of the samples that are learned from
    target: int = 0  # column of the target, in a comma-separated file
    unused: int = 0  # number of columns before the inputs, in such a file


PUBLIC = {
    "cpuSmall": PublicFile(("cpusmall", "cpusmall.txt"), 6554 / 8192),  # LIBSVM's collection
    "ct-slices": PublicFile(("slice_localization_data.csv",), 42_800 / 53_500, -1, 1),  # UCI
    "year-prediction": PublicFile(("YearPredictionMSD.txt",), 463_715 / 515_345),  # UCI; the first are for training
}
PUBLIC_HELP = ", ".join(f"{name}: {one.names[0]}" for name, one in PUBLIC.items())


def pumadyn(given: Path | None) -> tuple[Array, Array]:
    """Read pumadyn32nh (DELVE): inputs (8192, 32), target (8192,); `given`: see `find_file`. Raises RecordingError."""
    path = find_file(given, PUMADYN)
    with readable(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warning of an empty file, which the check below reports
        table = np.loadtxt(path, ndmin=2)
    if table.shape[1] != 33 or len(table) < 100 or not np.isfinite(table).all():
        text = f"{path} holds a table {table.shape}, not 8192 rows of 33 numbers"
        raise RecordingError(text, name="data", value=str(path), bound="(8192, 33)")
    return table[:, :-1], table[:, -1]


def samples(name: str, given: Path | None) -> tuple[Array, Array]:
    """Return inputs (n, d), scaled to [0, 1] each, and targets (n,) of pumadyn32nh, breast-cancer or one of PUBLIC,
    whose files are found in `given`. Raises RecordingError: there is no such file, or it is something else."""
    if name == "breast-cancer":  # the diagnostic data, 569 tumours with 30 inputs and -1 or +1
        inputs, labels = load_breast_cancer(return_X_y=True)
        target = np.where(labels > 0, 1.0, -1.0)
    else:
        inputs, target = pumadyn(given) if name == "pumadyn32nh" else load_public(name, given)
    return unit_interval(inputs), target


def unit_interval(inputs: Array, n: int | None = None) -> Array:
    """Return columns scaled so that the first n rows of each, by default all, run from 0 to 1; or are 0 if constant."""
    low, span = inputs[:n].min(axis=0), np.ptp(inputs[:n], axis=0)
    return (inputs - low) / np.where(span > 0, span, 1.0)


@dataclass(frozen=True)
class Prognosis:
    """Prognostic data of Wisconsin: features (n, 32), months to recurrence or without it, +1 (recurred) or -1."""

    features: Array
    time: Array
    recurred: Array


def load_wpbc(path: Path | None) -> Prognosis:
    """Return the 194 patients of the prognostic data of which all features are known.

    Four of the 198 lack the number of positive nodes and are left out. `path` is Debian's r-cran-th.data as .deb or
    installed (the folder with Rdata.rdb), or a .csv of the same columns; None: fetched once. Raises RecordingError.
    """
    path = path or debian(WPBC_PACKAGE, LIBRARY / WPBC_FOLDER)
    columns = _read_csv(path) if path.suffix == ".csv" else read_database(path, WPBC)
    for name in (TIME, STATUS):
        if name not in columns:
            raise RecordingError(f"{path} has no column {name!r}", name="data", value=str(path))
    with readable(path):
        x = np.column_stack([np.asarray(one, float) for name, one in columns.items() if name not in (TIME, STATUS)])
        time = np.asarray(columns[TIME], float)
    recurred = np.where(np.asarray(columns[STATUS]).astype(str) == RECURRED, 1.0, -1.0)
    whole = np.isfinite(x).all(axis=1) & np.isfinite(time)
    if len(np.unique(recurred[whole])) < 2:
        raise RecordingError(f"{path}: all patients have one status", name="data", value=str(path), bound="N and R")
    return Prognosis(x[whole], time[whole], recurred[whole])


def _read_csv(path: Path) -> dict[str, Any]:
    with readable(path):
        table = np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8", missing_values="NA")
        return {name: table[name] for name in table.dtype.names or ()}


def load_public(name: str, given: Path | None) -> tuple[Array, Array]:
    """Return inputs (n, d) and targets (n,) of one of PUBLIC, as in its file in `given`. Raises RecordingError."""
    one = PUBLIC[name]
    return read_samples(find_file(given, *one.names), None, one.target, one.unused)


def read_samples(path: Path, n_inputs: int | None = None, target: int = 0, unused: int = 0) -> tuple[Array, Array]:
    """Read inputs (n, d) and targets (n,) from a file in LIBSVM's format, or comma-separated (see PublicFile).

    In LIBSVM's format d is the largest index of an input in the file, or `n_inputs` if the last inputs may all be
    zero. Raises RecordingError: the file cannot be read.
    """
    with readable(path):
        with path.open() as file:
            first = file.readline()
        if "," not in first:
            inputs, targets = load_svmlight_file(str(path), n_features=n_inputs)
            return inputs.toarray(), targets
        rows = np.loadtxt(path, delimiter=",", skiprows=int(first[0].isalpha()), ndmin=2)
        return np.delete(rows, [*range(unused), target], axis=1), rows[:, target]
