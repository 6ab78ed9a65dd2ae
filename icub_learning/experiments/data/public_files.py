"""Sets that no package carries, read from their public files: cpuSmall, CT slices and YearPredictionMSD."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from icub_learning.arrays import Array
from icub_learning.experiments.data.fetching import find_file, unreadable


@dataclass(frozen=True)
class PublicFile:
    """Where a set is public, and how its source divides it."""

    names: tuple[str, ...]  # of the file, in LIBSVM's format or with a sample of comma-separated numbers in each line
    share: float  # of the samples that are learned from
    target: int = 0  # column of the target, where there are commas
    unused: int = 0  # number of columns before the inputs, there


PUBLIC = {
    "cpuSmall": PublicFile(("cpusmall", "cpusmall.txt"), 6554 / 8192),  # LIBSVM's collection
    "ct-slices": PublicFile(("slice_localization_data.csv",), 42_800 / 53_500, -1, 1),  # UCI
    "year-prediction": PublicFile(("YearPredictionMSD.txt",), 463_715 / 515_345),  # UCI; the first are learned from
}
PUBLIC_HELP = ", ".join(f"{name}: {one.names[0]}" for name, one in PUBLIC.items())


def load_public(name: str, given: Path | None) -> tuple[Array, Array]:
    """Return inputs (n, d) and targets (n,) of one of PUBLIC as they are in its file, which is found in `given`. Raises
    RecordingError: the file is not there or cannot be read.
    """
    one = PUBLIC[name]
    return read_samples(find_file(given, *one.names), None, one.target, one.unused)


def read_samples(path: Path, n_inputs: int | None = None, target: int = 0, unused: int = 0) -> tuple[Array, Array]:
    """Read inputs (n, d) and targets (n,) from a file in LIBSVM's format, or of comma-separated numbers (`target`,
    `unused`: see PublicFile).

    In LIBSVM's format d is the largest number of an input that is named, or `n_inputs` where the last ones may all be
    zero. Raises RecordingError: the file cannot be read.
    """
    try:
        with path.open() as file:
            first = file.readline()
        if "," not in first:
            inputs, targets = load_svmlight_file(str(path), n_features=n_inputs)
            return inputs.toarray(), targets
        rows = np.loadtxt(path, delimiter=",", skiprows=int(first[0].isalpha()), ndmin=2)
        return np.delete(rows, [*range(unused), target], axis=1), rows[:, target]
    except (OSError, ValueError, IndexError) as error:
        raise unreadable(path, error) from error
