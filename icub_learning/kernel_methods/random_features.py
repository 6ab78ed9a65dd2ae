"""Regularized least squares on random features: on a fixed number of them, and along a path of growing numbers."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from icub_learning.arrays import Array, integer
from icub_learning.errors import ParameterError
from icub_learning.features.fastfood import FastfoodProjection
from icub_learning.kernel_methods.estimator import (
    KernelRegressor,
    apply_by_blocks,
    check_choice,
    check_counts,
    check_levels,
    check_regularization,
)
from icub_learning.kernel_methods.kernels import Kernel, Seed, blocks, check_seed, sample_rows
from icub_learning.kernel_methods.rows import StreamingRegressor, TrainingRows
from icub_learning.kernel_methods.subsampling.centers import SAMPLINGS
from icub_learning.kernel_methods.subsampling.least_squares import (
    GrowingLeastSquares,
    NormalEquations,
    solve_ridge_path,
)

PANEL = 128  # features added at a time
POOL = 4  # candidate features for each one that is drawn by leverage scores
ROWS = 4  # samples from which leverage scores are estimated, for each candidate feature


class CosineFeatures:
    """x -> sqrt(2 / scale_by) cos(omega_j^T x + b_j), (r, d) to (r, n_features).

    Inner products of rows are unbiased for the kernel if scale_by = n_features: omega ~ N(0, sigma^-2 I) for the
    Gaussian kernel and a multivariate t with three degrees of freedom for "matern", b uniform on [0, 2 pi] (thesis
    5.3). A vector with this t distribution is one of N(0, sigma^-2 I) times sqrt(3 / chi^2), for Fastfood too. A map
    with fewer features has the first features of a larger map. Features are "fourier" (independent frequencies) or
    "fastfood" (`FastfoodProjection`), drawn with three seeds. Raises ParameterError: the kernel has no such features.
    """

    def __init__(
        self, kernel: Kernel, features: str, n_inputs: int, n_features: int, seeds: NDArray[np.int64], scale_by: int
    ) -> None:
        check_choice("features", features, ("fourier", "fastfood"))
        check_choice("kernel", kernel.kernel, ("gaussian", "matern"), ", for random features")
        self.n_features, self.scale_by = n_features, scale_by
        self._phases = np.random.default_rng(seeds[0]).uniform(0.0, 2 * np.pi, n_features)
        self._gains: Array | None = None
        radii = np.random.default_rng(seeds[2]).chisquare(3.0, n_features) if kernel.kernel == "matern" else None
        self._spread = None if radii is None else np.sqrt(3.0 / radii)
        self._fastfood: FastfoodProjection | None = None
        if features == "fastfood":
            self._fastfood = FastfoodProjection(n_inputs, n_features, kernel.length_scale, int(seeds[1]))
            return
        frequencies = np.random.default_rng(seeds[1]).standard_normal((n_features, n_inputs)) / kernel.length_scale
        self._frequencies = np.ascontiguousarray(frequencies.T)

    def subset(self, chosen: NDArray[np.intp], gains: Array) -> "CosineFeatures":
        """Return a map of the `chosen` features (indices), times gains (len(chosen),); for "fourier" features only."""
        part = copy(self)
        part.n_features, part._gains = len(chosen), gains
        part._phases, part._frequencies = self._phases[chosen], np.ascontiguousarray(self._frequencies[:, chosen])
        part._spread = None if self._spread is None else self._spread[chosen]
        return part

    def __call__(self, samples: Array, first: int = 0) -> Array:
        """Return the features from index `first` on, (r, n_features - first), for rows (r, d)."""
        products = samples @ self._frequencies if self._fastfood is None else self._fastfood(samples)
        if self._spread is not None:
            products *= self._spread
        out: Array = products[:, first:] + self._phases[first:]
        np.cos(out, out=out)
        out *= np.sqrt(2.0 / self.scale_by)
        if self._gains is not None:
            out *= self._gains[first:]
        return out


@dataclass(kw_only=True, eq=False, repr=False)
class RandomFeatureRegressor(KernelRegressor):
    """Base of regressors on m random features; see `CosineFeatures`, `KernelRegressor`. `degree` is unused."""

    n_features: int = 100
    features: str = "fourier"
    feature_map_: CosineFeatures = field(init=False)

    def _apply(self, samples: Array, coefficients: Array) -> Array:
        return apply_by_blocks(self.feature_map_, samples, coefficients)


@dataclass(kw_only=True, eq=False, repr=False)
class RandomFeaturesKRLS(RandomFeatureRegressor, StreamingRegressor):
    """Least squares on m random features: alpha = (S^T S + lambda I)^-1 S^T Y / sqrt(n), S = psi / sqrt(n m).

    f(x) = sum_j psi(omega_j, x) alpha_j / sqrt(m) with psi = sqrt(2) cos(omega^T x + b) (thesis 5.3, eq. 5.6). S^T S is
    summed over blocks of rows: n m^2 in time, O(m^2) and a block in memory. X and y may be memory-mapped or of Dask.

    With sampling "leverage" the m features are drawn from four times as many by their leverage scores (S^T S (S^T S +
    lambda I)^-1)_jj, estimated on a part of the samples, and weighted so that the kernel stays unbiased (the
    data-dependent distribution of Bach, "On the equivalence between kernel quadrature rules and random feature
    expansions", 2017; thesis 5.3, remark on non-uniform sampling); for "fourier" features only. `path` holds further
    values of lambda, strictly monotonic, at which `predict_path` predicts. See `RandomFeatureRegressor`.
    """

    sampling: str = "uniform"
    path: Sequence[float] | None = None

    def _fit_rows(self, rows: TrainingRows, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        levels = check_levels("path", self.path, [level])
        m = integer("n_features", self.n_features, 1)
        check_choice("sampling", self.sampling, SAMPLINGS)
        seeds = draw_seeds(self.random_state)
        if self.sampling == "uniform":
            self.feature_map_ = CosineFeatures(kernel, self.features, rows.n_inputs, m, seeds, m)
        else:
            self.feature_map_ = self._draw_by_leverage(rows, kernel, m, level, seeds)
        gram, moment = rows.sum(NormalEquations(self.feature_map_, rows.n_targets))
        solution, path = solve_ridge_path(gram, moment, rows.n, level, None if self.path is None else levels)
        self._coefficients, self._path, self.path_levels_ = solution, np.stack(path), levels

    def _draw_by_leverage(
        self, rows: TrainingRows, kernel: Kernel, m: int, level: float, seeds: NDArray[np.int64]
    ) -> CosineFeatures:
        if self.features != "fourier":
            raise ParameterError("features", self.features, "fourier, for sampling by leverage scores")
        size = POOL * m
        pool = CosineFeatures(kernel, self.features, rows.n_inputs, size, seeds, size)
        random = np.random.RandomState(seeds[0] % 2**31)
        count = min(rows.n, ROWS * size)
        some = pool(np.asarray(rows.take(sample_rows(random, rows.n, count)), dtype=np.float64))
        gram = some.T @ some / count
        scores = np.clip(1.0 - level * np.diagonal(np.linalg.inv(gram + level * np.eye(size))), 1e-12, 1.0)
        chances = scores / scores.sum()
        chosen = random.choice(size, size=m, replace=True, p=chances)
        return pool.subset(chosen, np.sqrt(1.0 / (m * chances[chosen])))


@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalRandomFeaturesKRLS(RandomFeatureRegressor):
    """Random features KRLS for every number of features 1..m, at the cost of one fit with m (thesis appendix C).

    This is the recurrence with c_t = A_{t-1}^T a_t and gamma_t = a_t^T a_t + lambda n, in blocks; its printed u and v,
    both for updates, are a misprint. All features carry the factor m^(-1/2) of the last level, so that the penalty does
    not change along the path: level t is `RandomFeaturesKRLS` on the first t features with lambda m / t. `path`:
    numbers of features, strictly monotonic, for `predict_path`, by default 1..m. See `RandomFeatureRegressor`.
    """

    path: Sequence[int] | None = None

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        m = integer("n_features", self.n_features, 1)
        check_counts(self.path, m)
        self._seeds, self._scale_by, self._samples = draw_seeds(self.random_state), m, samples
        self._kind, self._squares = self.features, GrowingLeastSquares(targets, level * len(samples), m)
        self._grow(m, kernel)

    def add_features(self, count: int) -> "IncrementalRandomFeaturesKRLS":
        """Add `count` further features, O(n (m + count) count). Raises NotFittedError, ParameterError."""
        check_is_fitted(self, "_coefficients")
        self._grow(len(self._squares) + integer("count", count, 1), self.kernel_)
        return self

    def coefficients_at(self, n_features: int) -> Array:
        """Return the coefficients (n_features, T) of the solution on the first `n_features` features."""
        check_is_fitted(self, "_coefficients")
        return self._squares.solution(integer("n_features", n_features, 1, len(self._squares), "the number drawn, "))

    def predict_path(self, X: ArrayLike) -> Array:
        """Predict with the first t features for every t of `path_levels_`: (levels, n, T), O(n m^2) for all levels."""
        return self._squares.predict(self.feature_map_, self._check_samples(X), self.path_levels_)

    def _grow(self, m: int, kernel: Kernel) -> None:
        feature_map = CosineFeatures(kernel, self._kind, self.n_features_in_, m, self._seeds, self._scale_by)
        first = len(self._squares)
        columns = feature_map(self._samples, first)
        for some in blocks(m - first, PANEL):
            self._squares.extend(columns[:, some])
        self.feature_map_, self._coefficients = feature_map, self._squares.solution(m)
        self.path_levels_ = check_counts(self.path, m)


def draw_seeds(random_state: Seed) -> NDArray[np.int64]:
    """Return three seeds, so that each kind of draw has its own stream, whatever the number of features."""
    return np.asarray(check_seed(random_state).randint(2**31 - 1, size=3))
