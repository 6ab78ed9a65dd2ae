"""The Gaussian kernel between inputs and fixed centres, and the scaled distances that it is a function of."""

import numpy as np

from icub_learning.arrays import Array

FAR = 1e4  # distance in length scales from which an outlier costs the others' squares half of their digits
FARTHEST = 1e150  # largest distance in length scales; squares of larger ones overflow


class SquaredDistances:
    """x -> -||scale (x - z_j)||^2 / 2 for fixed centres z (m, d): (n, d) to (n, m), by one matrix product.

    Distances are taken from the mean of the centres (far from zero they would cancel), or from their median where one
    is so far away that it moves the mean from all others; the squared norms are two further columns of the product's
    factors. Values are infinite where squares of distances overflow; rounding may leave values slightly above 0. Safe
    to call from several threads at once.
    """

    def __init__(self, centers: Array, scale: float) -> None:
        self._origin, self._scale = centers.mean(axis=0), scale
        with np.errstate(over="ignore"):
            shifted = (centers - self._origin) * scale
            if not np.abs(shifted).max(initial=0.0) < FAR:
                middle = (len(centers) - 1) // 2
                self._origin = np.partition(centers, middle, axis=0)[middle]
                shifted = (centers - self._origin) * scale
        shifted = np.clip(shifted, -FARTHEST, FARTHEST)
        halves = np.einsum("ij,ij->i", shifted, shifted) / 2
        self._right = np.ascontiguousarray(np.column_stack([shifted, np.full(len(centers), -0.5), -halves]).T)

    def __call__(self, x: Array, out: Array | None = None) -> Array:
        """Return values (n, m) for x (n, d), written into `out` if given."""
        d = x.shape[1]
        left = np.empty((len(x), d + 2))
        shifted = left[:, :d]
        with np.errstate(over="ignore"):
            np.subtract(x, self._origin, out=shifted)
            shifted *= self._scale
        np.maximum(shifted, -FARTHEST, out=shifted)  # faster than np.clip for single rows
        np.minimum(shifted, FARTHEST, out=shifted)
        np.einsum("ij,ij->i", shifted, shifted, out=left[:, d])
        left[:, d + 1] = 1.0
        return np.matmul(left, self._right, out=out)


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
