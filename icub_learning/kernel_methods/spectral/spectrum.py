"""Regularization by a filter of the kernel matrix's spectrum: alpha = Q g(Sigma) Q^T Y with K = Q Sigma Q^T."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from sklearn.utils.validation import check_is_fitted

from icub_learning.arrays import Array, finite
from icub_learning.kernel_methods.estimator import KernelRegressor


class SpectralRegressor(KernelRegressor):
    """Base of methods on the full kernel matrix K whose solution is a filter g of its eigenvalues.

    A subclass sets `_level`, that of `dual_coef_`, and `_n`, the number of samples, and defines
    `_filter(eigenvalues, level)`.
    """

    _level: float
    _n: int

    def filter_function(self, eigenvalues: ArrayLike, level: float | None = None) -> Array:
        """Return g(sigma), by which the fitted method multiplies the coordinate of y on an eigenvector of K.

        Args:
            eigenvalues: sigma >= 0 of the (n, n) kernel matrix, any shape.
            level: a level as in `path_levels_`; by default that of `dual_coef_`.
        """
        check_is_fitted(self, "_coefficients")
        return self._filter(finite("eigenvalues", eigenvalues), self._level if level is None else level)

    def _filter(self, eigenvalues: Array, level: float) -> Array:
        raise NotImplementedError


def eigendecomposition(gram: Array) -> tuple[Array, Array]:
    """Return eigenvalues, none below zero, and eigenvectors of a kernel matrix, which is overwritten."""
    values, vectors = eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
    return np.maximum(values, 0.0), vectors
