"""Kernel regularized least squares, by Cholesky; and spectral cut-off."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.estimator import check_levels, check_regularization
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.spectral.spectrum import SpectralRegressor, eigendecomposition


class KRLS(SpectralRegressor):
    """Kernel regularized least squares: alpha = (K + lambda n I)^-1 Y, filter 1 / (sigma + lambda n).

    One Cholesky factorization, n^3 / 3; or, where a path is asked for, one eigendecomposition, from which every further
    lambda costs n^2 T (thesis 3.1-3.2).

    Args:
        kernel, length_scale, degree: see `Kernel`.
        regularization: lambda > 0.
        random_state: taken for uniformity and not used.
        path: further values of lambda, strictly monotonic, at which `predict_path` predicts.

    Attributes:
        dual_coef_: (n,) or (n, T), at `regularization`.
        centers_: the training samples, (n, d).
        path_levels_: the values of `path`, or `regularization` alone.
    """

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        length_scale: float = 1.0,
        degree: int = 3,
        regularization: float = 1e-6,
        random_state: Any = None,
        path: Sequence[float] | None = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.degree = degree
        self.regularization = regularization
        self.random_state = random_state
        self.path = path

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        levels = check_levels("path", self.path, [level])
        self.centers_, self._n, self._level = samples, len(samples), level
        gram = kernel.gram(samples)
        if self.path is None:
            self._coefficients = _solve(gram, level * len(samples), targets)
            self._path = self._coefficients[None]
        else:
            values, vectors = eigendecomposition(gram)
            moments = vectors.T @ targets
            self._coefficients = vectors @ (self._filter(values, level)[:, None] * moments)
            self._path = np.stack([vectors @ (self._filter(values, one)[:, None] * moments) for one in levels])
        self.path_levels_ = levels

    def _filter(self, eigenvalues: Array, level: float) -> Array:
        return 1.0 / (eigenvalues + level * self._n)


class SpectralCutoff(SpectralRegressor):
    """Spectral cut-off (truncated SVD): filter 1 / sigma where sigma >= lambda n, else 0.

    Equal to least squares on the principal components of kernel PCA (without centering) whose eigenvalue is lambda n at
    least (thesis 3.3). One eigendecomposition serves every lambda.

    Args:
        kernel, length_scale, degree: see `Kernel`.
        regularization: lambda > 0.
        random_state: taken for uniformity and not used.
        path: further values of lambda, strictly monotonic, at which `predict_path` predicts.

    Attributes:
        dual_coef_: (n,) or (n, T), at `regularization`.
        centers_: the training samples, (n, d).
        n_components_: how many eigenvalues are kept at `regularization`.
        path_levels_: the values of `path`, or `regularization` alone.
    """

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        length_scale: float = 1.0,
        degree: int = 3,
        regularization: float = 1e-6,
        random_state: Any = None,
        path: Sequence[float] | None = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.degree = degree
        self.regularization = regularization
        self.random_state = random_state
        self.path = path

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        levels = check_levels("path", self.path, [level])
        self.centers_, self._n, self._level = samples, len(samples), level
        values, vectors = eigendecomposition(kernel.gram(samples))
        # Below this, eigenvalues are rounding: their reciprocals must never enter, whatever lambda is.
        self._floor = values[-1] * len(values) * np.finfo(float).eps
        if max(level, levels.min()) * self._n > values[-1]:
            bound = f"at most the largest eigenvalue of K / n, {values[-1] / self._n:g}: nothing is left above it"
            raise ParameterError("regularization", level, bound)
        moments = vectors.T @ targets
        self._coefficients = vectors @ (self._filter(values, level)[:, None] * moments)
        self._path = np.stack([vectors @ (self._filter(values, one)[:, None] * moments) for one in levels])
        self.n_components_ = int(np.count_nonzero(self._filter(values, level)))
        self.path_levels_ = levels

    def _filter(self, eigenvalues: Array, level: float) -> Array:
        kept = (eigenvalues >= level * self._n) & (eigenvalues > self._floor)
        return np.where(kept, 1.0 / np.where(kept, eigenvalues, 1.0), 0.0)


def _solve(gram: Array, ridge: float, targets: Array) -> Array:
    """(gram + ridge I)^-1 targets; overwrites `gram`. Raises ParameterError if it is singular to working precision."""
    diagonal = np.einsum("ii->i", gram)
    largest = float(diagonal.max(initial=0.0))
    diagonal += ridge
    try:
        factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        needed = 10 * largest * np.finfo(float).eps
        bound = f"larger, some {needed:.1e}: K + lambda n I is singular to working precision"
        raise ParameterError("regularization", ridge / len(gram), bound) from None
    return cho_solve(factor, targets, check_finite=False)
