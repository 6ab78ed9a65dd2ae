"""Orthonormal basis of the span of the kernel functions at given centres, even if their matrix is singular."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dtrcon

from icub_learning.arrays import Array
from icub_learning.kernel_methods.kernels import Kernel

PANEL = 64  # columns factored between two matrix products


class CenterBasis:
    """The functions k(centers[j], .), (m, d), orthonormalized in their order: K_mm = echelon^T echelon.

    Centre j is kept if its function differs from the span of the earlier ones by more than rounding; the functions of a
    smooth kernel fill their span, to working precision, after some tens of centres, and further Cholesky pivots are
    rounding. R = T^-1 satisfies R R^T = K_mm^+ on that span, and its leading blocks belong to the leading centres.
    """

    def __init__(self, kernel: Kernel, centers: Array) -> None:
        # echelon (k, m): column j holds the coordinates of centre j's function; kept (k,): the centres of the basis
        self.echelon, self.kept = echelon_cholesky(kernel.gram(centers))
        self.triangle = np.asfortranarray(self.echelon[:, self.kept])  # T, (k, k), upper triangular, in Fortran order
        self.centers = centers[self.kept]
        self.against = kernel.against(self.centers)  # x -> k(x, the centres that are kept)

    def to_coefficients(self, coordinates: Array) -> Array:
        """Return coefficients (m, T) of the centres from coordinates (k, T) of functions; zero for those not kept."""
        coefficients = np.zeros((self.echelon.shape[1], coordinates.shape[1]))
        coefficients[self.kept] = solve_triangular(self.triangle, coordinates, check_finite=False)
        return coefficients

    def to_coordinates(self, coefficients: Array) -> Array:
        """Return coordinates (k, T) of functions from coefficients (m, T) of the centres."""
        return self.echelon @ coefficients


def echelon_cholesky(
    gram: Array, scale: Array | None = None, size: int | None = None
) -> tuple[Array, NDArray[np.intp]]:
    """Factor a Gram matrix (m, m) by Cholesky in the given order, without the columns that depend on earlier ones.

    Pivots are compared with `scale` (m,), by default the diagonal, and with `size`, how many columns' elimination
    rounded them, by default m; of a Schur complement, with the diagonal before and all columns. Returns the factor E
    (k, m) in echelon form, gram = E^T E up to rounding, and indices (k,) of the columns kept.
    """
    m = len(gram)
    scale = np.diag(gram).copy() if scale is None else scale
    tolerance = 10 * (size or m) * np.finfo(float).eps  # the rounding of a pivot is some m eps of its diagonal entry
    try:
        factor = cholesky(gram, check_finite=False)
        if (np.diag(factor) ** 2 > tolerance * scale).all():
            return factor, np.arange(m)
    except np.linalg.LinAlgError:
        pass
    echelon = np.zeros((m, m))
    kept: list[int] = []
    for start in range(0, m, PANEL):
        stop = min(start + PANEL, m)
        count = len(kept)
        if count:
            triangle = echelon[:count, kept]
            echelon[:count, start:stop] = solve_triangular(
                triangle, gram[kept, start:stop], trans="T", check_finite=False
            )
        panel = echelon[:count, start:stop]
        rest = gram[start:stop, start:stop] - panel.T @ panel
        for j in range(stop - start):
            if rest[j, j] <= tolerance * scale[start + j]:
                continue
            row = rest[j] / np.sqrt(rest[j, j])
            row[:j] = 0.0
            echelon[len(kept), start:stop] = row
            rest -= np.outer(row, row)
            kept.append(start + j)
    return echelon[: len(kept)], np.asarray(kept, dtype=np.intp)


def inverse_norm(triangle: Array) -> float:
    """Estimate the 1-norm of the inverse of an upper triangular matrix in Fortran order, in O(k^2)."""
    reciprocal, _ = dtrcon(triangle)
    largest = float(np.abs(triangle).sum(axis=0).max())
    return float(1.0 / (reciprocal * largest)) if reciprocal > 0 else np.inf


def border_inverse(inverse: Array, across: Array, corner: Array) -> Array:
    """Return the inverse of the upper triangular [[T, across], [0, corner]] from the inverse of T."""
    corner_inverse = solve_triangular(corner, np.eye(len(corner)), check_finite=False, overwrite_b=True)
    return border(inverse, -(inverse @ across) @ corner_inverse, corner_inverse)


def border(square: Array, across: Array, corner: Array) -> Array:
    """Return [[square, across], [0, corner]]."""
    k, b = across.shape
    out = np.zeros((k + b, k + b))
    out[:k, :k], out[:k, k:], out[k:, k:] = square, across, corner
    return out
