"""Nyström features: coordinates in the span of the Gaussian kernel's functions at given centres."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from icub_learning.arrays import Array, finite, real, rows
from icub_learning.errors import ShapeError
from icub_learning.features.gaussian_kernel import GaussianKernel


class NystromFeatures:
    """Maps x to the coordinates of its Gaussian-kernel feature in the span of given centres.

    A row is k(x, centres) K_mm^(-1/2) with K_mm the kernel of the centres, so that inner products of rows are the
    Nyström approximation K_nm K_mm^-1 K_mn, exact between centres (thesis 4.2.2). Directions in which K_mm is singular
    to working precision are dropped: n_features, the length of a row, is the numerical rank of K_mm.

    Args:
        centers: (m, n_inputs), at least one, in the unit of x; for example a random subset of a recording's samples.
        length_scale: sigma > 0 in exp(-||x - x'||^2 / 2 sigma^2), in the unit of x.

    Raises:
        ParameterError, ShapeError, NotFiniteError: an argument is outside its range.
    """

    def __init__(self, centers: ArrayLike, length_scale: float = 1.0) -> None:
        self.centers = finite("centers", centers).copy()
        if self.centers.ndim != 2 or not self.centers.size:
            raise ShapeError("centers", self.centers.shape, "(m, n_inputs) with m >= 1")
        self.length_scale = real("length_scale", length_scale, 0.0, low_open=True)
        self.n_inputs = self.centers.shape[1]
        self._kernel = GaussianKernel(self.centers, self.length_scale)
        values, vectors = eigh(self._kernel(self.centers))
        kept = values > values[-1] * len(values) * np.finfo(float).eps
        self.whitening: Array = np.ascontiguousarray((vectors[:, kept] / np.sqrt(values[kept]))[:, ::-1])
        self.n_features = self.whitening.shape[1]

    def transform(self, x: ArrayLike) -> Array:
        """Map (n_inputs,) to (n_features,) or (k, n_inputs) to (k, n_features). Raises ShapeError, NotFiniteError."""
        x_rows, single = rows("x", x, self.n_inputs)
        out: Array = self._kernel(x_rows) @ self.whitening
        return out[0] if single else out
