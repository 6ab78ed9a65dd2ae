"""Validation errors over length scale, regularization and number of centres, by incremental paths over the number."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from icub_learning.arrays import Array, finite, integer
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.kernel_methods.subsampling.nystrom import IncrementalNystromKRLS

TOLERANCE = 0.01  # by which an error may exceed the least one, relatively, to need fewer centres

Result = tuple[list[float], list[float]]  # errors and losses, one for each size
Judge = Callable[[Array, "Fold"], tuple[Array, Array]]


@dataclass(frozen=True)
class Fold:
    """Samples to learn, and later samples to predict."""

    inputs: Array  # (n, d), to learn
    targets: Array  # (n, T), to learn
    later_inputs: Array  # (k, d), to predict
    later_targets: Array  # (k, T), to predict


@dataclass(frozen=True)
class Grid:
    """Values to try, in every combination. Raises ParameterError, ShapeError, NotFiniteError: a list is empty, has a
    value twice or one that is not above zero.
    """

    length_scales: tuple[float, ...]  # values of sigma of the Gaussian kernel
    # values of lambda of the online learner, which adds it to Z^T Z: lambda n of the batch methods
    regularizations: tuple[float, ...]
    sizes: tuple[int, ...]  # numbers of centres, increasing

    def __post_init__(self) -> None:
        for name in ("length_scales", "regularizations"):
            object.__setattr__(self, name, tuple(_increasing(name, getattr(self, name)).tolist()))
        sizes = [integer("sizes", size, 1) for size in self.sizes]
        object.__setattr__(self, "sizes", tuple(int(size) for size in _increasing("sizes", sizes)))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of length scales, regularizations and sizes."""
        return len(self.length_scales), len(self.regularizations), len(self.sizes)


@dataclass(frozen=True)
class Cell:
    """One path over all sizes: a fold, a length scale and a regularization."""

    fold: int
    length_scale: float
    regularization: float

    @property
    def key(self) -> str:
        """Key of this path in a file of results."""
        return f"{self.fold} {self.length_scale!r} {self.regularization!r}"


@dataclass(frozen=True)
class Choice:
    """A point of the grid with its error."""

    length_scale: float
    regularization: float
    size: int
    error: float


@dataclass(frozen=True)
class Surface:
    """Errors over the grid."""

    grid: Grid  # the values tried
    errors: Array  # (length scales, regularizations, sizes), a mean over the folds
    losses: Array  # likewise; of equal errors the one with the smaller loss is better
    fold_errors: Array  # (folds, length scales, regularizations, sizes)

    def best(self) -> Choice:
        """Return the point of least error, or one up to 1 % above it that needs fewer centres."""
        enough = self.errors <= (1 + TOLERANCE) * self.errors.min()
        size = int(np.argmax(enough.any(axis=(0, 1))))
        errors, losses = self.errors[:, :, size].ravel(), self.losses[:, :, size].ravel()
        place = int(np.lexsort((losses, errors))[0])
        i, j = np.unravel_index(place, self.errors.shape[:2])
        return self.at(int(i), int(j), size)

    def at(self, i: int, j: int, k: int) -> Choice:
        """Return the point with these indices."""
        grid = self.grid
        return Choice(grid.length_scales[i], grid.regularizations[j], grid.sizes[k], float(self.errors[i, j, k]))


class PathExplorer:
    """Validation errors on all points of a grid, by paths of `IncrementalNystromKRLS` over the number of centres.

    `judge` returns errors (sizes,) and losses (sizes,) of predictions (sizes, k, T) for a fold of `forward_folds`.
    Raises ParameterError: a fold has fewer samples than the largest number of centres.
    """

    def __init__(self, grid: Grid, folds: Sequence[Fold], judge: Judge, seed: int) -> None:
        fewest = min(len(fold.inputs) for fold in folds)
        if grid.sizes[-1] > fewest:
            bound = f"at most {fewest}, the number of samples in the smallest fold to learn"
            raise ParameterError("sizes", grid.sizes[-1], bound)
        self.grid = grid
        self._folds = folds
        self._judge = judge
        self._seed = seed

    def cells(self) -> list[Cell]:
        """Return all paths that are needed."""
        return [
            Cell(fold, scale, regularization)
            for fold in range(len(self._folds))
            for scale in self.grid.length_scales
            for regularization in self.grid.regularizations
        ]

    def measure(self, cell: Cell) -> Result:
        """Return errors and losses of one path at all sizes."""
        fold = self._folds[cell.fold]
        model = IncrementalNystromKRLS(
            length_scale=cell.length_scale,
            regularization=cell.regularization / len(fold.inputs),
            n_centers=self.grid.sizes[-1],
            random_state=self._seed,
            path=self.grid.sizes,
        )
        model.fit(fold.inputs, fold.targets)
        errors, losses = self._judge(model.predict_path(fold.later_inputs), fold)
        return errors.tolist(), losses.tolist()

    def surface(self, results: Mapping[str, Result]) -> Surface:
        """Return the surface from the results of all cells by their keys. Raises KeyError if one is missing."""
        shape = (len(self._folds), *self.grid.shape)
        errors, losses = np.empty(shape), np.empty(shape)
        for place in np.ndindex(shape[:3]):
            fold, i, j = place
            cell = Cell(fold, self.grid.length_scales[i], self.grid.regularizations[j])
            errors[place], losses[place] = results[cell.key]
        return Surface(self.grid, errors.mean(axis=0), losses.mean(axis=0), errors)


def forward_folds(n: int, n_folds: int, gap: int) -> list[tuple[slice, slice]]:
    """Return slices (to learn, to predict) of n samples in order of time, the first growing, with a gap between.

    The later half is cut into `n_folds` equal intervals. A fold learns all samples before its interval and predicts
    those of it after the first `gap`, which belong to neither part because consecutive samples are alike. Raises
    ParameterError: there are too few samples.
    """
    folds, gap = integer("n_folds", n_folds, 1), integer("gap", gap, 0)
    edges = np.linspace(n // 2, n, folds + 1).astype(int).tolist()
    intervals = list(pairwise(edges))
    if min(stop - start for start, stop in intervals) <= gap or n < 4:
        bound = f"smaller: half of {n} samples makes intervals of {(n - n // 2) // folds}, with a gap of {gap} in each"
        raise ParameterError("n_folds", folds, bound)
    return [(slice(0, start), slice(start + gap, stop)) for start, stop in intervals]


def _increasing(name: str, values: Iterable[float]) -> Array:
    array = np.sort(finite(name, list(values)))
    if array.ndim != 1 or not array.size:
        raise ShapeError(name, array.shape, "at least one number")
    if array[0] <= 0 or (np.diff(array) <= 0).any():
        raise ParameterError(name, array.tolist(), "different numbers above 0")
    return array
