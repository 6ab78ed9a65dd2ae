"""Nyström kernel regularized least squares: on a fixed set of centres, and along a path of growing sets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_is_fitted

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.estimator import KernelRegressor, check_centers, check_levels, check_regularization
from icub_learning.kernel_methods.kernels import Kernel, blocks, rows_per_block
from icub_learning.kernel_methods.rows import ArrayRows
from icub_learning.kernel_methods.spectral.spectrum import eigendecomposition
from icub_learning.kernel_methods.streaming import StreamingRegressor, TrainingRows
from icub_learning.kernel_methods.subsampling.basis import CenterBasis, echelon_cholesky, invert_triangle
from icub_learning.kernel_methods.subsampling.centers import choose_centers
from icub_learning.kernel_methods.subsampling.least_squares import (
    BasisFeatures,
    GrowingLeastSquares,
    NormalEquations,
    border,
    solve_ridge,
)

PANEL = 128  # centres bordered at a time where their number is known


class NystromKRLS(StreamingRegressor):
    """Least squares on the span of m centres: alpha = (K_nm^T K_nm + lambda n K_mm)^+ K_nm^T Y, in its stable form.

    With R R^T = K_mm^+ and A = K_nm R, alpha = R (A^T A + lambda n I)^-1 A^T Y (thesis 4.1, eq. 4.6); R comes from a
    Cholesky factorization that leaves out centres which depend on earlier ones, and whose coefficient is zero. A^T A is
    summed over blocks of rows: n m^2 in time, O(m^2) and one block in memory. X and y may be memory-mapped arrays
    (float64 or float32) or Dask arrays, which are reduced block by block where they lie.

    Args:
        kernel, length_scale, degree: see `Kernel`.
        regularization: lambda > 0. Forming A^T A costs relative accuracy of about 1e-16 / lambda.
        n_centers: m <= n, drawn from the samples; the default becomes n where there are fewer.
        centers: (m, d), used as given and in their order, or None.
        sampling: "uniform" without replacement, or "leverage": with replacement by approximate leverage scores.
        random_state: of the draw.
        path: further values of lambda, strictly monotonic, at which `predict_path` predicts.

    Attributes:
        dual_coef_: (m,) or (m, T), at `regularization`.
        centers_: (m, d).
        n_kept_: centres that are independent to working precision.
        path_levels_: the values of `path`, or `regularization` alone.
    """

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        length_scale: float = 1.0,
        degree: int = 3,
        regularization: float = 1e-6,
        n_centers: int = 100,
        centers: ArrayLike | None = None,
        sampling: str = "uniform",
        random_state: Any = None,
        path: Sequence[float] | None = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.degree = degree
        self.regularization = regularization
        self.n_centers = n_centers
        self.centers = centers
        self.sampling = sampling
        self.random_state = random_state
        self.path = path

    def _fit_rows(self, rows: TrainingRows, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        levels = check_levels("path", self.path, [level])
        self.centers_, _ = choose_centers(
            rows,
            kernel,
            level,
            n_centers=self.n_centers,
            centers=self.centers,
            sampling=self.sampling,
            random_state=self.random_state,
        )
        basis = CenterBasis(kernel, self.centers_)
        self.n_kept_ = len(basis.kept)
        gram, moment = rows.sum(NormalEquations(BasisFeatures(kernel, basis), rows.n_targets))
        if self.path is None:
            self._coefficients = basis.to_coefficients(solve_ridge(gram, moment, level * rows.n, rows.n))
            self._path = self._coefficients[None]
        else:
            values, vectors = eigendecomposition(np.triu(gram) + np.triu(gram, 1).T)
            moment = vectors.T @ moment
            solutions = [vectors @ (moment / (values + one * rows.n)[:, None]) for one in (level, *levels)]
            self._coefficients, *path = (basis.to_coefficients(solution) for solution in solutions)
            self._path = np.stack(path)
        self.path_levels_ = levels


class IncrementalNystromKRLS(KernelRegressor):
    """Nyström KRLS for every number of centres 1..m, for the price of one fit with m (thesis algorithm 1).

    Centre by centre the stable form's triangular factors are bordered, in blocks; the solution for the first t centres
    follows from their leading blocks. A centre that depends on earlier ones to working precision, where the downdates
    of algorithm 1 break down, leaves the solution as it was. `add_centers` goes on where m was not known. The features
    of the n samples stay in memory, n m numbers, as in algorithm 1.

    Args:
        kernel, length_scale, degree: see `Kernel`.
        regularization: lambda > 0.
        n_centers, centers, sampling, random_state: see `NystromKRLS`.
        path: the numbers of centres at which `predict_path` predicts, strictly monotonic; by default 1..m.

    Attributes:
        dual_coef_: (m,) or (m, T), with all centres.
        centers_: (m, d).
        n_kept_: centres that are independent to working precision.
        path_levels_: the numbers of centres of the path.
    """

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        length_scale: float = 1.0,
        degree: int = 3,
        regularization: float = 1e-6,
        n_centers: int = 100,
        centers: ArrayLike | None = None,
        sampling: str = "uniform",
        random_state: Any = None,
        path: Sequence[int] | None = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.degree = degree
        self.regularization = regularization
        self.n_centers = n_centers
        self.centers = centers
        self.sampling = sampling
        self.random_state = random_state
        self.path = path

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        centers, _ = choose_centers(
            ArrayRows(samples, targets),
            kernel,
            level,
            n_centers=self.n_centers,
            centers=self.centers,
            sampling=self.sampling,
            random_state=self.random_state,
        )
        check_level_counts(self.path, len(centers))
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
        """Go on with further centres (b, d): O(n (m + b) b). `path_levels_` then goes up to all, if `path` is None.

        Raises:
            NotFittedError, ShapeError, NotFiniteError.
        """
        check_is_fitted(self, "_coefficients")
        self._border(check_centers(centers, self.n_features_in_), self._make_kernel())
        self._finish()
        return self

    def coefficients_at(self, n_centers: int) -> Array:
        """The coefficients (m, T) of the solution on the first `n_centers` centres; the others' are zero."""
        check_is_fitted(self, "_coefficients")
        count = int(np.searchsorted(self._kept, n_centers))
        coefficients = np.zeros((len(self.centers_), self._squares.targets.shape[1]))
        solution = self._inverse[:count, :count] @ self._squares.solution(count)
        coefficients[self._kept[:count]] = solution
        return coefficients

    def predict_path(self, X: ArrayLike) -> Array:
        """Predict with the first t centres for every t of `path_levels_`: (levels, n, T), T = 1 for a 1-D target.

        All levels cost O(n m^2) together: each is the last one and one column of the inverse factor more.
        """
        samples = self._check_samples(X)
        counts = np.searchsorted(self._kept, self.path_levels_)
        against = self._make_kernel().against(self.centers_[self._kept])
        weights = self._inverse @ self._squares.inverse
        moments = self._squares.moments
        out = np.zeros((len(counts), len(samples), moments.shape[1]))
        for rows in blocks(len(samples), rows_per_block(len(self._kept))):
            steps = against(samples[rows]) @ weights
            for target in range(moments.shape[1]):
                sums = np.cumsum(steps * moments[:, target], axis=1)
                out[:, rows, target] = np.where(counts > 0, sums[:, np.maximum(counts - 1, 0)], 0.0).T
        return out

    def _border(self, centers: Array, kernel: Kernel) -> None:
        m, old = len(self.centers_), self.centers_[self._kept]
        self.centers_ = np.vstack([self.centers_, centers])
        across = kernel(old, centers) if len(old) else np.zeros((0, len(centers)))
        if len(old):
            across = solve_triangular(self._triangle, across, trans="T", check_finite=False)
        gram = kernel.gram(centers)
        root, kept = echelon_cholesky(gram - across.T @ across, np.diag(gram), len(self.centers_))
        if not len(kept):
            return
        corner, across = root[:, kept], across[:, kept]
        features = kernel(self._samples, centers[kept])
        features -= self._squares.columns[:, : len(old)] @ across
        self._squares.extend(solve_triangular(corner, features.T, trans="T", check_finite=False).T)
        corner_inverse = invert_triangle(corner)
        self._inverse = border(self._inverse, -(self._inverse @ across) @ corner_inverse, corner_inverse)
        self._triangle = border(self._triangle, across, corner)
        self._kept = np.concatenate([self._kept, m + kept])

    def _finish(self) -> None:
        m = len(self.centers_)
        self.n_kept_ = len(self._kept)
        self._coefficients = np.zeros((m, self._squares.targets.shape[1]))
        self._coefficients = self.coefficients_at(m)
        self.path_levels_ = check_level_counts(self.path, m)


def check_level_counts(path: Any, most: int) -> Array:
    """Numbers of centres or features, by default 1..most. Raises ParameterError, ShapeError."""
    levels = check_levels("path", path, np.arange(1, most + 1))
    if levels.max() > most or (levels != np.round(levels)).any():
        raise ParameterError("path", levels.tolist(), f"whole numbers from 1 to {most}")
    return levels.astype(np.int64)
