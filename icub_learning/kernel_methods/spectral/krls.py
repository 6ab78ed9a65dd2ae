"""Kernel regularized least squares, spectral cut-off, and the base of methods on the full kernel matrix."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.estimator import KernelRegressor, check_levels, check_regularization
from icub_learning.kernel_methods.kernels import Kernel, indefinite


@dataclass(kw_only=True, eq=False, repr=False)
class SpectralRegressor(KernelRegressor):
    """Base of methods on the full kernel matrix K = Q Sigma Q^T: alpha = Q g(Sigma) Q^T Y with a filter g of lambda.

    `path` holds further values of lambda, strictly monotonic, at which `predict_path` predicts; `random_state` is
    unused. A subclass defines `_filter(eigenvalues, level)`. See `KernelRegressor`.
    """

    path: Sequence[float] | None = None

    def _read_levels(self, samples: Array) -> None:
        self._level = check_regularization(self.regularization)
        self.path_levels_ = check_levels("path", self.path, [self._level])
        self.centers_, self._n = samples, len(samples)

    def _filter(self, eigenvalues: Array, level: float) -> Array:
        raise NotImplementedError

    def _solve_path(self, values: Array, vectors: Array, targets: Array) -> None:
        """Set the coefficients at all levels from the eigenvalues (n,) and eigenvectors of the kernel matrix."""
        moments = vectors.T @ targets
        levels = self._level, *self.path_levels_
        self._coefficients, *path = (vectors @ (self._filter(values, one)[:, None] * moments) for one in levels)
        self._path = np.stack(path)


@dataclass(kw_only=True, eq=False, repr=False)
class KRLS(SpectralRegressor):
    """Kernel regularized least squares: alpha = (K + lambda n I)^-1 Y, filter 1 / (sigma + lambda n).

    The cost is one Cholesky factorization, n^3 / 3, or, if a path is given, one eigendecomposition, after which every
    lambda costs n^2 T (thesis 3.1-3.2). See `SpectralRegressor`.
    """

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        self._read_levels(samples)
        gram = kernel.gram(samples)
        if self.path is None:
            self._coefficients = solve_ridge(gram, self._level * len(samples), targets)
            self._path = self._coefficients[None]
        else:
            self._solve_path(*eigendecomposition(gram), targets)

    def _filter(self, eigenvalues: Array, level: float) -> Array:
        return 1.0 / (eigenvalues + level * self._n)


@dataclass(kw_only=True, eq=False, repr=False)
class SpectralCutoff(SpectralRegressor):
    """Spectral cut-off (truncated SVD): filter 1 / sigma where sigma >= lambda n, else 0.

    Least squares on the `n_components_` principal components of kernel PCA (without centering) with eigenvalues of at
    least lambda n (thesis 3.3). One eigendecomposition serves every lambda. See `SpectralRegressor`.
    """

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        self._read_levels(samples)
        values, vectors = eigendecomposition(kernel.gram(samples))
        # Below this, eigenvalues are rounding: their reciprocals must never enter, whatever lambda is.
        self._floor = values[-1] * len(values) * np.finfo(float).eps
        level = max(self._level, float(self.path_levels_.min()))
        if level * self._n > values[-1]:
            bound = f"at most the largest eigenvalue of K / n, {values[-1] / self._n:g}: nothing is left above it"
            raise ParameterError("regularization", level, bound)
        self._solve_path(values, vectors, targets)
        self.n_components_ = int(np.count_nonzero(self._filter(values, self._level)))

    def _filter(self, eigenvalues: Array, level: float) -> Array:
        kept = (eigenvalues >= level * self._n) & (eigenvalues > self._floor)
        return np.where(kept, 1.0 / np.where(kept, eigenvalues, 1.0), 0.0)


def eigendecomposition(gram: Array) -> tuple[Array, Array]:
    """Return eigenvalues, none below zero, and eigenvectors of a kernel matrix, which is overwritten."""
    values, vectors = eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
    return np.maximum(values, 0.0), vectors


def solve_ridge(gram: Array, ridge: float, targets: Array) -> Array:
    """Return (gram + ridge I)^-1 targets; overwrites `gram`. Raises ParameterError: singular or indefinite."""
    diagonal = np.einsum("ii->i", gram)
    largest = float(diagonal.max(initial=0.0))
    diagonal += ridge
    try:
        factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        level, needed = ridge / len(gram), 10 * largest * np.finfo(float).eps
        bound = f"larger, some {needed:.1e}: K + lambda n I is singular to working precision"
        raise (indefinite() if level > needed else ParameterError("regularization", level, bound)) from None
    return np.asarray(cho_solve(factor, targets, check_finite=False))
