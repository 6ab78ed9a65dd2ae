"""Ranking of input channels by their importance for an output: sparse regression, repeated on parts of the data."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from icub_learning.arrays import Array, finite, integer, real, vector
from icub_learning.errors import DataError, ShapeError
from icub_learning.kernel_methods.estimator import check_choice
from icub_learning.kernel_methods.tensor.regressor import READ_OUT, TensorKernelRegressor

FOLDS = 5  # intervals of time that are held out in turn
GAMMAS_N = np.logspace(-1, 5, 13)  # candidate values of gamma n, of which cross-validation chooses one
MOST_SAMPLES = {"linear": 4000, "polynomial": 60, "exponential": 60}  # samples a fit; tensors grow with their 4th power
SHARE = 0.5  # share of the intervals of time that one resample keeps
INTERVALS = 20  # intervals of time that are resampled as a whole, since consecutive samples are alike
SHORTEST_SHIFT = 0.1  # least shift of a decoy, as a share of the length of the data

MakeModel = Callable[[float, int], TensorKernelRegressor]  # makes a model from gamma n and the number of samples n


@dataclass(frozen=True)
class ChannelRanking:
    """Channels ranked by importance."""

    names: tuple[str, ...]  # most important first
    importance: Array  # (d,) mean importance of each, as a fraction of their sum
    spread: Array  # (d,) standard deviation of the importance over the resamples
    frequency: Array  # (d,) share of the resamples in which the channel stood out from the decoys
    matters: NDArray[np.bool_]  # (d,) bool, whether `frequency` reaches the threshold
    explained: float  # share of the output's variance that all channels explain in held-out intervals of time
    explained_by_chosen: float  # the same with the channels that matter alone; 0 if there is none
    gamma_n: float  # gamma times the number of samples, chosen on the held-out intervals
    n_resamples: int

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the channels that matter, most important first."""
        return tuple(name for name, matters in zip(self.names, self.matters, strict=True) if matters)


def rank_channels(
    values: Array, output: Array, names: Sequence[str], *, kernel: str = "linear", degree: int = 2, order: int = 4,
    n_resamples: int = 20, threshold: float = 0.8, seed: int = 0,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> ChannelRanking:  # fmt: skip
    """Rank channels, columns of `values` (n, d) in order of time, for an output (n,): see TensorKernelRegressor.

    Each fit, one per resample, also gets as many decoys: the same channels, shifted in time by random amounts. A
    channel stands out if its weight exceeds two standard deviations of the decoys' weights (the sources' read-out), and
    matters if it does so in a share `threshold` of the resamples. `progress` wraps the iteration over them. Raises
    ShapeError, NotFiniteError, ParameterError; DataError: there is nothing to explain, or there are too few samples.
    """
    values, names = finite("values", values), tuple(names)
    if values.ndim != 2 or values.shape[1] != len(names) or not len(names):
        raise ShapeError("values", values.shape, f"(n, {len(names)}) with at least one channel")
    output = vector("output", output, len(values))
    integer("n_resamples", n_resamples, 2)
    real("threshold", threshold, 0.0, 1.0, low_open=True)
    check_choice("kernel", kernel, tuple(MOST_SAMPLES))
    if len(values) < 10 * FOLDS:
        text = f"{len(values)} samples, but at least {10 * FOLDS} are needed"
        raise DataError(text, name="output", value=len(values))
    moving = np.ptp(values, axis=0) > 1e-12 * np.abs(values).max(axis=0)
    if np.ptp(output) <= 1e-12 * np.abs(output).max() or not moving.any():
        raise DataError("the output, or every channel, is constant: there is nothing to explain", name="output")
    random = np.random.default_rng(seed)

    def model(gamma_n: float, n: int) -> TensorKernelRegressor:
        return TensorKernelRegressor(order=order, kernel=kernel, degree=degree, gamma=gamma_n / n, tol=1e-6)

    moved = np.flatnonzero(moving)
    scaled, target = _standardize(values[:, moved]), _standardize(output)
    if kernel == "exponential":
        scaled *= (2 * len(moved)) ** (-1.0 / order)  # keeps sums of products of channels and decoys near 1
    most = MOST_SAMPLES[kernel]
    gamma_n, explained = _choose_gamma(model, scaled, target, most)
    d = len(moved)
    importances, counts = np.zeros((n_resamples, len(names))), np.zeros((n_resamples, len(names)), dtype=bool)
    edges = np.linspace(0, len(scaled), INTERVALS + 1).astype(int)  # intervals of time, of which a half is drawn
    for k in progress(range(n_resamples)):
        kept = np.sort(random.choice(INTERVALS, size=round(SHARE * INTERVALS), replace=False))
        rows = _thin(np.concatenate([np.arange(edges[k], edges[k + 1]) for k in kept]), most)
        offered = np.column_stack([scaled, _decoys(scaled, random)])[rows]
        found = _fit(model, gamma_n, offered, target[rows]).feature_importances_
        importances[k, moved] = found[:d]
        counts[k, moved] = found[:d] > READ_OUT * np.sqrt(np.mean(found[d:] ** 2))
    importances /= np.maximum(importances.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    frequency = counts.mean(axis=0)
    ranked = np.lexsort((-importances.mean(axis=0), -np.round(frequency * n_resamples)))
    matters = frequency >= threshold - 1e-12
    chosen = [place for place, column in enumerate(moved) if matters[column]]
    return ChannelRanking(
        names=tuple(names[place] for place in ranked), importance=importances.mean(axis=0)[ranked],
        spread=importances.std(axis=0)[ranked], frequency=frequency[ranked], matters=matters[ranked],
        explained=explained,
        explained_by_chosen=_choose_gamma(model, scaled[:, chosen], target, most)[1] if chosen else 0.0,
        gamma_n=gamma_n, n_resamples=n_resamples,
    )  # fmt: skip


def _standardize(values: Array) -> Array:
    return np.asarray((values - values.mean(axis=0)) / values.std(axis=0))


def _fit(model: MakeModel, gamma_n: float, x: Array, y: Array) -> TensorKernelRegressor:
    """Fit centered data, without warnings: a fit that stops early still ranks."""
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)
        return model(gamma_n, len(x)).fit(x - x.mean(axis=0), y - y.mean())


def _choose_gamma(model: MakeModel, x: Array, y: Array, most: int) -> tuple[float, float]:
    """Return the gamma n of least error in held-out intervals of time, and the share of variance that it explains."""
    n = len(x)
    edges = np.linspace(0, n, FOLDS + 1).astype(int)
    folds = []
    for start, stop in pairwise(edges):
        held = np.arange(start, stop)
        folds.append((_thin(np.setdiff1d(np.arange(n), held), most), _thin(held, most)))
    errors = np.zeros(len(GAMMAS_N))
    for place, gamma_n in enumerate(GAMMAS_N):
        for train, test in folds:
            fitted = _fit(model, gamma_n, x[train], y[train])
            predicted = fitted.predict(x[test] - x[train].mean(axis=0)) + y[train].mean()
            errors[place] += np.mean((predicted - y[test]) ** 2) / FOLDS
    best = int(errors.argmin())
    return float(GAMMAS_N[best]), float(1.0 - errors[best] / y.var())


def _thin(rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return at most `most` of the rows, evenly spaced."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(int)]


def _decoys(x: Array, random: np.random.Generator) -> Array:
    """Return decoys: each channel shifted in time cyclically, by a random amount of its own."""
    n = len(x)
    low = max(1, int(SHORTEST_SHIFT * n))
    shifts = [int(random.integers(low, n - low + 1)) for _ in range(x.shape[1])]
    return np.column_stack([np.roll(x[:, j], shift) for j, shift in enumerate(shifts)])
