"""Validation errors over length scale, regularization and size, by the incremental paths, one cell after the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from icub_learning.arrays import Array, finite, integer
from icub_learning.errors import DataError, ParameterError, ShapeError
from icub_learning.kernel_methods.random_features import IncrementalRandomFeaturesKRLS
from icub_learning.kernel_methods.subsampling.nystrom import IncrementalNystromKRLS

TOLERANCE = 0.01  # by which an error may exceed the least one where it needs fewer features or centres

Result = tuple[list[float], list[float]]  # errors and losses, one for each size
Judge = Callable[[Array, "Fold"], tuple[Array, Array]]


@dataclass(frozen=True)
class Fold:
    """What is learned, and what comes later and is predicted.

    Attributes:
        inputs, targets: (n, d) and (n, T), to learn.
        later_inputs, later_targets: (k, d) and (k, T), to predict.
        share: part of the samples up to then that `inputs` are, where they were thinned out.
    """

    inputs: Array
    targets: Array
    later_inputs: Array
    later_targets: Array
    share: float = 1.0


@dataclass(frozen=True)
class Grid:
    """What is tried: every combination.

    Attributes:
        length_scales: sigma of the Gaussian kernel.
        regularizations: lambda of the learner on line, which adds it to Z^T Z once: lambda n of the batch methods.
        sizes: numbers of random features or of centres, rising.

    Raises:
        ParameterError, ShapeError, NotFiniteError: a list is empty, or holds what is not above zero, or twice.
    """

    length_scales: tuple[float, ...]
    regularizations: tuple[float, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        for name in ("length_scales", "regularizations"):
            object.__setattr__(self, name, tuple(_rising(name, getattr(self, name)).tolist()))
        sizes = [integer("sizes", size, 1) for size in self.sizes]
        object.__setattr__(self, "sizes", tuple(int(size) for size in _rising("sizes", sizes)))

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many of each."""
        return len(self.length_scales), len(self.regularizations), len(self.sizes)


@dataclass(frozen=True)
class Cell:
    """One path: of a fold, a length scale and a regularization, over all sizes."""

    fold: int
    length_scale: float
    regularization: float

    @property
    def key(self) -> str:
        """Its name in a file of results."""
        return f"{self.fold} {self.length_scale!r} {self.regularization!r}"


@dataclass(frozen=True)
class Choice:
    """One point of the grid, and its error."""

    length_scale: float
    regularization: float
    size: int
    error: float


@dataclass(frozen=True)
class Surface:
    """Errors over the grid.

    Attributes:
        grid: what was tried.
        errors: (length scales, regularizations, sizes), a mean over the folds; infinite where lambda was too small.
        losses: likewise; of equal errors the one with the smaller loss is the better.
        fold_errors: (folds, length scales, regularizations, sizes).
    """

    grid: Grid
    errors: Array
    losses: Array
    fold_errors: Array

    def best(self) -> Choice:
        """The least error, or one up to 1 % above it that needs fewer features or centres.

        Raises:
            DataError: no point of the grid has a finite error.
        """
        least = self.errors.min()
        if not np.isfinite(least):
            raise DataError(
                "no lambda of the grid is large enough: all normal equations are singular to working precision",
                name="regularizations",
                value=self.grid.regularizations,
                bound="a larger one",
            )
        enough = self.errors <= (1 + TOLERANCE) * least
        size = int(np.argmax(enough.any(axis=(0, 1))))
        errors, losses = self.errors[:, :, size].ravel(), self.losses[:, :, size].ravel()
        place = int(np.lexsort((losses, errors))[0])
        i, j = np.unravel_index(place, self.errors.shape[:2])
        return self.at(int(i), int(j), size)

    def at(self, i: int, j: int, k: int) -> Choice:
        """One point."""
        grid = self.grid
        return Choice(grid.length_scales[i], grid.regularizations[j], grid.sizes[k], float(self.errors[i, j, k]))


class PathExplorer:
    """Validation errors on all points of a grid, by paths over the size.

    "features": `IncrementalRandomFeaturesKRLS`. Its levels share the penalty of the last one, M features, so level m
    with lambda comes from the path with lambda m / M; with sizes and lambdas in powers of one number, paths serve
    several points. "centers": `IncrementalNystromKRLS`, one path for each lambda.

    Args:
        method: "features" or "centers".
        grid: what is tried.
        folds: see `forward_folds`.
        judge: of predictions (sizes, k, T) for a fold: errors (sizes,) and losses (sizes,).
        seed: of features or centres.

    Raises:
        ParameterError: a fold has fewer samples than the largest number of centres.
    """

    def __init__(self, method: str, grid: Grid, folds: Sequence[Fold], judge: Judge, seed: int) -> None:
        if method not in ("features", "centers"):
            raise ParameterError("method", method, "'features' or 'centers'")
        fewest = min(len(fold.inputs) for fold in folds)
        if method == "centers" and grid.sizes[-1] > fewest:
            bound = f"at most {fewest}, the samples of the shortest part that is learned from"
            raise ParameterError("sizes", grid.sizes[-1], bound)
        self.grid = grid
        self._method = method
        self._folds = folds
        self._judge = judge
        self._seed = seed

    def cells(self) -> list[Cell]:
        """All paths that are needed."""
        strengths = sorted({self._path_strength(one, m) for one in self.grid.regularizations for m in self.grid.sizes})
        return [
            Cell(fold, scale, strength)
            for fold in range(len(self._folds))
            for scale in self.grid.length_scales
            for strength in strengths
        ]

    def measure(self, cell: Cell) -> Result:
        """Errors and losses of one path at all sizes; infinite where its lambda is too small for any solution."""
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
        """The surface from the results of all cells.

        Args:
            results: by key of the cell.
            mean: over the folds: "arithmetic", or "geometric", which weighs ratios of errors and so keeps a fold that
                is much harder than the others from deciding alone.

        Raises:
            KeyError: the result of a cell is missing.
        """
        shape = (len(self._folds), *self.grid.shape)
        errors, losses = np.empty(shape), np.empty(shape)
        for place in np.ndindex(shape):
            fold, i, j, k = place
            strength = self._path_strength(self.grid.regularizations[j], self.grid.sizes[k])
            found = results[Cell(fold, self.grid.length_scales[i], strength).key]
            errors[place], losses[place] = found[0][k], found[1][k]
        if mean == "geometric":
            with np.errstate(divide="ignore"):
                mean_errors, mean_losses = (np.exp(np.log(one).mean(axis=0)) for one in (errors, losses))
            return Surface(self.grid, mean_errors, mean_losses, errors)
        return Surface(self.grid, errors.mean(axis=0), losses.mean(axis=0), errors)

    def _path_strength(self, regularization: float, size: int) -> float:
        """lambda of the path on which `size` comes with `regularization`; rounded, so that equal ones are equal."""
        if self._method == "centers":
            return regularization
        return float(f"{regularization * size / self.grid.sizes[-1]:.12g}")


def forward_folds(n: int, n_folds: int, gap: int, horizon: int | None = None) -> list[tuple[slice, slice]]:
    """Parts of n samples in the order of time: (to learn, to predict), the first ever longer, with a gap between.

    The later half is cut into `n_folds` equal stretches. A fold learns all that lies before its stretch, and predicts
    of the stretch `horizon` samples (all, if None) after the first `gap`, which are in neither part: neighbours in time
    are alike.

    Raises:
        ParameterError: there are too few samples.
    """
    folds, gap = integer("n_folds", n_folds, 1), integer("gap", gap, 0)
    longest = n if horizon is None else integer("horizon", horizon, 1)
    edges = np.linspace(n // 2, n, folds + 1).astype(int).tolist()
    stretches = list(pairwise(edges))
    if min(stop - start for start, stop in stretches) <= gap or n < 4:
        bound = f"smaller: half of {n} samples makes stretches of {(n - n // 2) // folds}, with a gap of {gap} in each"
        raise ParameterError("n_folds", folds, bound)
    return [(slice(0, start), slice(start + gap, min(stop, start + gap + longest))) for start, stop in stretches]


def _rising(name: str, values: Any) -> Array:
    array = np.sort(finite(name, list(values)))
    if array.ndim != 1 or not array.size:
        raise ShapeError(name, array.shape, "at least one number")
    if array[0] <= 0 or (np.diff(array) <= 0).any():
        raise ParameterError(name, array.tolist(), "different numbers above 0")
    return array
