"""Validation errors over length scale, regularization and size, by incremental paths over the size."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from icub_learning.arrays import Array, finite, integer
from icub_learning.errors import DataError, ParameterError, ShapeError
from icub_learning.kernel_methods.random_features import IncrementalRandomFeaturesKRLS
from icub_learning.kernel_methods.subsampling.nystrom import IncrementalNystromKRLS

TOLERANCE = 0.01  # by which an error may exceed the least one, relatively, to need fewer features or centres

Result = tuple[list[float], list[float]]  # errors and losses, one for each size
Judge = Callable[[Array, "Fold"], tuple[Array, Array]]


@dataclass(frozen=True)
class Fold:
    """Samples to learn, and later samples to predict.

    Attributes:
        inputs, targets: (n, d) and (n, T), to learn.
        later_inputs, later_targets: (k, d) and (k, T), to predict.
        share: part of the samples of that time that `inputs` holds, if they were thinned out.
    """

    inputs: Array
    targets: Array
    later_inputs: Array
    later_targets: Array
    share: float = 1.0


@dataclass(frozen=True)
class Grid:
    """Values to try, in every combination.

    Attributes:
        length_scales: values of sigma of the Gaussian kernel.
        regularizations: values of lambda of the online learner, which adds it to Z^T Z: lambda n of the batch methods.
        sizes: numbers of random features or of centres, increasing.

    Raises:
        ParameterError, ShapeError, NotFiniteError: a list is empty, has a value twice or one that is not above zero.
    """

    length_scales: tuple[float, ...]
    regularizations: tuple[float, ...]
    sizes: tuple[int, ...]

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
    """Errors over the grid.

    Attributes:
        grid: the values tried.
        errors: (length scales, regularizations, sizes), a mean over the folds; infinite if lambda was too small.
        losses: likewise; of equal errors the one with the smaller loss is better.
        fold_errors: (folds, length scales, regularizations, sizes).
    """

    grid: Grid
    errors: Array
    losses: Array
    fold_errors: Array

    def best(self) -> Choice:
        """Return the point of least error, or one up to 1 % above it that needs fewer features or centres.

        Raises:
            DataError: no point of the grid has a finite error.
        """
        least = self.errors.min()
        if not np.isfinite(least):
            text = "no lambda of the grid is large enough: all normal equations are singular to working precision"
            raise DataError(text, name="regularizations", value=self.grid.regularizations, bound="a larger one")
        enough = self.errors <= (1 + TOLERANCE) * least
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
    """Validation errors on all points of a grid, by paths over the size.

    * "features": `IncrementalRandomFeaturesKRLS`. Its levels share the penalty of the last one, M features, so level m
      with lambda comes from the path with lambda m / M; if sizes and lambdas are powers of one number, a path serves
      several points.
    * "centers": `IncrementalNystromKRLS`, one path for each lambda.

    Args:
        method: "features" or "centers".
        grid: the values to try.
        folds: see `forward_folds`.
        judge: returns errors (sizes,) and losses (sizes,) of predictions (sizes, k, T) for a fold.
        seed: seed of features or centres.

    Raises:
        ParameterError: a fold has fewer samples than the largest number of centres.
    """

    def __init__(self, method: str, grid: Grid, folds: Sequence[Fold], judge: Judge, seed: int) -> None:
        if method not in ("features", "centers"):
            raise ParameterError("method", method, "'features' or 'centers'")
        fewest = min(len(fold.inputs) for fold in folds)
        if method == "centers" and grid.sizes[-1] > fewest:
            bound = f"at most {fewest}, the number of samples in the smallest fold to learn"
            raise ParameterError("sizes", grid.sizes[-1], bound)
        self.grid = grid
        self._method = method
        self._folds = folds
        self._judge = judge
        self._seed = seed

    def cells(self) -> list[Cell]:
        """Return all paths that are needed."""
        pairs = product(self.grid.regularizations, self.grid.sizes)
        regularizations = sorted({self._path_regularization(*pair) for pair in pairs})
        return [
            Cell(fold, scale, regularization)
            for fold in range(len(self._folds))
            for scale in self.grid.length_scales
            for regularization in regularizations
        ]

    def measure(self, cell: Cell) -> Result:
        """Return errors and losses of one path at all sizes; infinite if its lambda is too small for any solution."""
        fold = self._folds[cell.fold]
        settings: dict[str, Any] = {
            "length_scale": cell.length_scale,
            "regularization": cell.regularization * fold.share / len(fold.inputs),
            "random_state": self._seed,
            "path": self.grid.sizes,
        }
        most = self.grid.sizes[-1]
        model = (
            IncrementalRandomFeaturesKRLS(n_features=most, **settings)
            if self._method == "features"
            else IncrementalNystromKRLS(n_centers=most, **settings)
        )
        try:
            model.fit(fold.inputs, fold.targets)
        except ParameterError as error:
            if error.name != "regularization":
                raise
            return [np.inf] * len(self.grid.sizes), [np.inf] * len(self.grid.sizes)
        errors, losses = self._judge(model.predict_path(fold.later_inputs), fold)
        return errors.tolist(), losses.tolist()

    def surface(self, results: Mapping[str, Result], mean: str = "arithmetic") -> Surface:
        """Return the surface from the results of all cells.

        Args:
            results: by key of the cell.
            mean: "arithmetic" over the folds, or "geometric", with which a fold that is much harder than the others
                does not decide alone.

        Raises:
            KeyError: the result of a cell is missing.
        """
        shape = (len(self._folds), *self.grid.shape)
        errors, losses = np.empty(shape), np.empty(shape)
        for place in np.ndindex(shape):
            fold, i, j, k = place
            regularization = self._path_regularization(self.grid.regularizations[j], self.grid.sizes[k])
            found = results[Cell(fold, self.grid.length_scales[i], regularization).key]
            errors[place], losses[place] = found[0][k], found[1][k]
        if mean == "geometric":
            with np.errstate(divide="ignore"):
                mean_errors, mean_losses = (np.exp(np.log(one).mean(axis=0)) for one in (errors, losses))
            return Surface(self.grid, mean_errors, mean_losses, errors)
        return Surface(self.grid, errors.mean(axis=0), losses.mean(axis=0), errors)

    def _path_regularization(self, regularization: float, size: int) -> float:
        """Return lambda of the path on which `size` has `regularization`, rounded to make equal values identical."""
        if self._method == "centers":
            return regularization
        return float(f"{regularization * size / self.grid.sizes[-1]:.12g}")


def forward_folds(n: int, n_folds: int, gap: int, horizon: int | None = None) -> list[tuple[slice, slice]]:
    """Return slices (to learn, to predict) of n samples in order of time, the first growing, with a gap between.

    The later half is cut into `n_folds` equal intervals. A fold learns all samples before its interval and predicts
    `horizon` samples (all, if None) of it after the first `gap`, which belong to neither part because consecutive
    samples are alike.

    Raises:
        ParameterError: there are too few samples.
    """
    folds, gap = integer("n_folds", n_folds, 1), integer("gap", gap, 0)
    longest = n if horizon is None else integer("horizon", horizon, 1)
    edges = np.linspace(n // 2, n, folds + 1).astype(int).tolist()
    intervals = list(pairwise(edges))
    if min(stop - start for start, stop in intervals) <= gap or n < 4:
        bound = f"smaller: half of {n} samples makes intervals of {(n - n // 2) // folds}, with a gap of {gap} in each"
        raise ParameterError("n_folds", folds, bound)
    return [(slice(0, start), slice(start + gap, min(stop, start + gap + longest))) for start, stop in intervals]


def _increasing(name: str, values: Iterable[float]) -> Array:
    array = np.sort(finite(name, list(values)))
    if array.ndim != 1 or not array.size:
        raise ShapeError(name, array.shape, "at least one number")
    if array[0] <= 0 or (np.diff(array) <= 0).any():
        raise ParameterError(name, array.tolist(), "different numbers above 0")
    return array
