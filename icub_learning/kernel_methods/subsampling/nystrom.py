"""Nyström kernel regularized least squares: on a fixed set of centres, and along a path of growing sets."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_is_fitted

from icub_learning.arrays import Array, integer
from icub_learning.kernel_methods.estimator import check_counts, check_levels, check_regularization
from icub_learning.kernel_methods.kernels import Kernel, blocks
from icub_learning.kernel_methods.rows import ArrayRows, StreamingRegressor, TrainingRows
from icub_learning.kernel_methods.subsampling.centers import (
    CenterBasis,
    CenterRegressor,
    border,
    border_inverse,
    check_centers,
    echelon_cholesky,
)
from icub_learning.kernel_methods.subsampling.least_squares import (
    BasisFeatures,
    GrowingLeastSquares,
    NormalEquations,
    solve_ridge_path,
)

PANEL = 128  # centres in one block


@dataclass(kw_only=True, eq=False, repr=False)
class NystromKRLS(CenterRegressor, StreamingRegressor):
    """Least squares on the span of m centres: alpha = (K_nm^T K_nm + lambda n K_mm)^+ K_nm^T Y, in its stable form.

    With R R^T = K_mm^+ and A = K_nm R, alpha = R (A^T A + lambda n I)^-1 A^T Y (thesis eq. 4.6, 4.27); R comes from a
    Cholesky factorization that leaves out centres which depend on earlier ones; their coefficients are zero. A^T A is
    summed over blocks of rows: n m^2 in time, O(m^2) and one block in memory. Accuracy falls with lambda and where K_mm
    is nearly singular, see docs/decisions/2026-11-21-kernel-methods.md. X and y may be memory-mapped (float64 or
    float32) or Dask arrays. `path`: further lambdas, strictly monotonic, for `predict_path`. See `CenterRegressor`.
    """

    path: Sequence[float] | None = None

    def _fit_rows(self, rows: TrainingRows, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        levels = check_levels("path", self.path, [level])
        self.centers_, _ = self._sample_centers(rows, kernel)
        basis = CenterBasis(kernel, self.centers_)
        self.n_kept_ = len(basis.kept)
        gram, moment = rows.sum(NormalEquations(BasisFeatures(basis), rows.n_targets))
        solution, path = solve_ridge_path(gram, moment, rows.n, level, None if self.path is None else levels)
        self._coefficients = basis.to_coefficients(solution)
        self._path = np.stack([basis.to_coefficients(one) for one in path])
        self.path_levels_ = levels


@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalNystromKRLS(CenterRegressor):
    """Nyström KRLS for every number of centres 1..m, at the cost of one fit with m (thesis algorithm 1).

    The stable form's triangular factors are bordered by blocks of centres; the solution for the first t centres follows
    from their leading blocks. A centre that depends on earlier ones to working precision, where the downdates of
    algorithm 1 break down, leaves the solution unchanged. The features of the n samples stay in memory, n m numbers.
    `path`: numbers of centres, strictly monotonic, for `predict_path`, by default 1..m. See `CenterRegressor`.
    """

    path: Sequence[int] | None = None

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        centers, _ = self._sample_centers(ArrayRows(samples, targets), kernel)
        check_counts(self.path, len(centers))
        self._samples = samples
        self._squares = GrowingLeastSquares(targets, level * len(samples), len(centers))
        self.centers_ = np.zeros((0, samples.shape[1]))
        self._kept = np.zeros(0, dtype=np.intp)
        self._triangle = np.zeros((0, 0))  # T of the kept centres
        self._inverse = np.zeros((0, 0))  # T^-1
        for some in blocks(len(centers), PANEL):
            self._border(centers[some], kernel)
        self._finish()

    def add_centers(self, centers: ArrayLike) -> "IncrementalNystromKRLS":
        """Add further centres (b, d): O(n (m + b) b). Raises NotFittedError, ShapeError, NotFiniteError."""
        check_is_fitted(self, "_coefficients")
        self._border(check_centers(centers, self.n_features_in_), self.kernel_)
        self._finish()
        return self

    def coefficients_at(self, n_centers: int) -> Array:
        """Return coefficients (m, T) of the solution on the first `n_centers` centres; those of the others are zero."""
        check_is_fitted(self, "_coefficients")
        n_centers = integer("n_centers", n_centers, 1, len(self.centers_), "the number of centres, ")
        count = int(np.searchsorted(self._kept, n_centers))
        coefficients = np.zeros((len(self.centers_), self._squares.targets.shape[1]))
        coefficients[self._kept[:count]] = self._inverse[:count, :count] @ self._squares.solution(count)
        return coefficients

    def predict_path(self, X: ArrayLike) -> Array:
        """Predict with the first t centres for every t of `path_levels_`: (levels, n, T), O(n m^2) for all levels."""
        samples = self._check_samples(X)
        against = self.kernel_.against(self.centers_[self._kept])
        counts = np.searchsorted(self._kept, self.path_levels_)
        return self._squares.predict(against, samples, counts, self._inverse)

    def _border(self, centers: Array, kernel: Kernel) -> None:
        m, old = len(self.centers_), self.centers_[self._kept]
        grown = np.vstack([self.centers_, centers])
        across = np.zeros((0, len(centers)))
        if len(old):
            across = solve_triangular(self._triangle, kernel(old, centers), trans="T", check_finite=False)
        gram = kernel.gram(centers)
        root, kept = echelon_cholesky(gram - across.T @ across, np.diag(gram), len(grown))
        if not len(kept):
            self.centers_ = grown
            return
        corner, across = root[:, kept], across[:, kept]
        features = kernel(self._samples, centers[kept])
        features -= self._squares.columns[:, : len(old)] @ across
        self._squares.extend(solve_triangular(corner, features.T, trans="T", check_finite=False).T)
        self._inverse = border_inverse(self._inverse, across, corner)
        self._triangle = border(self._triangle, across, corner)
        self.centers_, self._kept = grown, np.concatenate([self._kept, m + kept])

    def _finish(self) -> None:
        m = len(self.centers_)
        self.n_kept_ = len(self._kept)
        self._coefficients = np.zeros((m, self._squares.targets.shape[1]))
        self._coefficients = self.coefficients_at(m)
        self.path_levels_ = check_counts(self.path, m)
