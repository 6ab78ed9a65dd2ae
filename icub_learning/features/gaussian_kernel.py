"""The Gaussian kernel between inputs and fixed centres, and the scaled distances that it is a function of."""

import numpy as np
from scipy.spatial.distance import cdist

from icub_learning.arrays import Array

FAR = 1e4  # distance in length scales of a centre from the centres' mean at which squares lose half of their digits
FARTHEST = 1e150  # largest distance in length scales; squares of larger ones overflow


class SquaredDistances:
    """x -> -||scale (x - z_j)||^2 / 2 for fixed centres z (m, d): (n, d) to (n, m), by one matrix product.

    Distances are taken from the mean of the centres (far from zero they would cancel); squared norms are two further
    columns of the factors. Where a centre is far from that mean, an outlier or one of several groups, differences are
    squared one by one. Rounding may leave values slightly above 0. Safe to call from several threads at once.
    """

    def __init__(self, centers: Array, scale: float) -> None:
        self._origin, self._scale = centers.mean(axis=0), scale
        shifted = self._shift(centers, np.empty(centers.shape))
        self._right: Array | None = None
        if np.abs(shifted).max(initial=0.0) < FAR:
            halves = np.einsum("ij,ij->i", shifted, shifted) / 2
            self._right = np.ascontiguousarray(np.column_stack([shifted, np.full(len(centers), -0.5), -halves]).T)
        else:
            self._origin = np.zeros(centers.shape[1])
            self._fraction, exponent = np.frexp(scale)
            self._scale = np.ldexp(1.0, exponent)  # a power of two, which rounds no coordinate
            self._centers = self._shift(centers, shifted)

    def __call__(self, x: Array, out: Array | None = None) -> Array:
        """Return values (n, m) for x (n, d), written into `out` if given."""
        if self._right is None:
            out = cdist(self._shift(x, np.empty(x.shape)), self._centers, "sqeuclidean", out=out)
            out *= -0.5 * self._fraction**2
            return np.asarray(out)
        d = x.shape[1]
        left = np.empty((len(x), d + 2))
        shifted = self._shift(x, left[:, :d])
        np.einsum("ij,ij->i", shifted, shifted, out=left[:, d])
        left[:, d + 1] = 1.0
        return np.matmul(left, self._right, out=out)

    def _shift(self, x: Array, out: Array) -> Array:
        """Return scale (x - origin), within FARTHEST, written into `out`."""
        with np.errstate(over="ignore"):
            np.subtract(x, self._origin, out=out)
            out *= self._scale
        np.maximum(out, -FARTHEST, out=out)  # faster than np.clip for single rows
        return np.minimum(out, FARTHEST, out=out)


class GaussianKernel:
    """x -> exp(-||x - z_j||^2 / 2 sigma^2) for fixed centres z (m, d): (n, d) to (n, m).

    `length_scale` is sigma > 0, in the unit of x.
    """

    def __init__(self, centers: Array, length_scale: float) -> None:
        self._exponents = SquaredDistances(centers, 1.0 / length_scale)

    def __call__(self, x: Array, out: Array | None = None) -> Array:
        """Return values (n, m) for x (n, d), written into `out` if given."""
        out = self._exponents(x, out)
        np.minimum(out, 0.0, out=out)
        return np.exp(out, out=out)
