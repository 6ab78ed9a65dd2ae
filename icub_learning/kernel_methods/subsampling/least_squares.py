"""Ridge regression on feature columns: normal equations summed over blocks of rows, and columns added in turn."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.linalg.blas import dsyrk, dtrsm

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.estimator import Features
from icub_learning.kernel_methods.kernels import Operator, blocks, rows_per_block
from icub_learning.kernel_methods.spectral.krls import eigendecomposition
from icub_learning.kernel_methods.subsampling.centers import CenterBasis, border, border_inverse


class BasisFeatures:
    """x -> k(x, centres) T^-1, the coordinates of x in a CenterBasis: (r, d) to (r, k)."""

    def __init__(self, basis: CenterBasis) -> None:
        self.n_features = len(basis.kept)
        self._against, self._triangle = basis.against, basis.triangle

    def __call__(self, samples: Array) -> Array:
        cross = self._against(samples)
        # cross^T is in Fortran order: the triangular solve happens in place.
        return np.transpose(dtrsm(1.0, self._triangle, cross.T, lower=0, trans_a=1, overwrite_b=1))


def rows_of(features: Features, samples: Array) -> Array:
    """Return the features of the samples, (n, k), computed in blocks."""
    out = np.empty((len(samples), features.n_features))
    for rows in blocks(len(samples), rows_per_block(features.n_features)):
        out[rows] = features(samples[rows])
    return out


@dataclass(frozen=True)
class NormalEquations:
    """Sums of A^T A (upper triangle) and A^T Y over rows, A the features of each block (see `rows.Sum`)."""

    features: Features
    n_targets: int

    def __call__(self, samples: NDArray[Any], targets: NDArray[Any]) -> tuple[Array, ...]:
        k = self.features.n_features
        gram, moment = np.zeros((k, k), order="F"), np.zeros((k, self.n_targets))
        for rows in blocks(len(samples), max(256, rows_per_block(k))):
            part = self.features(np.asarray(samples[rows], dtype=np.float64))
            dsyrk(1.0, part.T, beta=1.0, c=gram, overwrite_c=1)
            moment += part.T @ targets[rows]
        return gram, moment


def solve_ridge(gram: Array, moment: Array, ridge: float, n: int) -> Array:
    """Return (gram + ridge I)^-1 moment from the upper triangle of `gram`. Raises ParameterError if singular."""
    regularized = gram + ridge * np.eye(len(gram))
    try:
        return np.asarray(cho_solve(cho_factor(regularized, check_finite=False), moment, check_finite=False))
    except np.linalg.LinAlgError:
        raise too_small(ridge / n, float(np.trace(gram)) / n) from None


def solve_ridge_path(gram: Array, moment: Array, n: int, level: float, path: Array | None) -> tuple[Array, list[Array]]:
    """Return ridge solutions for A^T A (upper triangle) and A^T Y at lambda, and at each lambda of a path, if any."""
    if path is None:
        solution = solve_ridge(gram, moment, level * n, n)
        return solution, [solution]
    values, vectors = eigendecomposition(np.triu(gram) + np.triu(gram, 1).T)
    moment = vectors.T @ moment
    first, *others = (vectors @ (moment / (values + one * n)[:, None]) for one in (level, *path))
    return first, others


def too_small(regularization: float, trace: float) -> ParameterError:
    """Return the error for a lambda that is lost in the rounding of A^T A / n, which has the given trace."""
    needed = 10 * trace * np.finfo(float).eps
    bound = f"larger, some {needed:.1e}: the normal equations are singular to working precision"
    return ParameterError("regularization", regularization, bound)


class GrowingLeastSquares:
    """Solutions of min ||A_t b - Y||^2 + ridge ||b||^2 for every number t of leading columns, as columns are added.

    The factor U of A^T A + ridge I is bordered by each block of columns; leading blocks of U and of its inverse W
    belong to smaller t, and b_t = b_{t-1} + W[:, t] z_t with z = U^-T A^T Y (thesis algorithm 1 and appendix C, without
    its downdates, which fail when A^T A + ridge I is nearly singular). It starts with memory for `capacity` columns.
    """

    def __init__(self, targets: Array, ridge: float, capacity: int) -> None:
        self.targets, self.ridge = targets, ridge
        self.columns = np.empty((len(targets), capacity), order="F")  # A
        self.inverse = np.zeros((0, 0))  # W, upper triangular
        self.factor = np.zeros((0, 0))  # U, upper triangular
        self.moments = np.zeros((0, targets.shape[1]))  # z

    def __len__(self) -> int:
        return len(self.factor)

    def extend(self, columns: Array) -> None:
        """Add further columns (n, b). Raises ParameterError if ridge is lost in rounding."""
        k, b = len(self), columns.shape[1]
        if k + b > self.columns.shape[1]:
            grown = np.empty((len(self.targets), max(k + b, 2 * k)), order="F")
            grown[:, :k] = self.columns[:, :k]
            self.columns = grown
        before = self.columns[:, :k]
        self.columns[:, k : k + b] = columns
        new = self.columns[:, k : k + b]
        across = solve_triangular(self.factor, before.T @ new, trans="T", check_finite=False) if k else np.zeros((0, b))
        corner = new.T @ new - across.T @ across
        corner.flat[:: b + 1] += self.ridge
        try:
            root = cholesky(corner, check_finite=False, overwrite_a=True)
        except np.linalg.LinAlgError:
            n = len(self.targets)
            raise too_small(self.ridge / n, float(np.einsum("ij,ij->", new, new)) / n) from None
        moment = new.T @ self.targets - across.T @ self.moments
        self.moments = np.vstack([self.moments, solve_triangular(root, moment, trans="T", check_finite=False)])
        self.inverse = border_inverse(self.inverse, across, root)
        self.factor = border(self.factor, across, root)

    def solution(self, t: int) -> Array:
        """Return b_t (t, T), the solution on the first t columns."""
        return np.asarray(self.inverse[:t, :t] @ self.moments[:t])

    def predict(
        self, features: Operator, samples: Array, counts: NDArray[np.intp], basis: Array | None = None
    ) -> Array:
        """Predict with the first t columns, `features` times `basis`, for every t: (levels, n, T), O(n m^2)."""
        weights = self.inverse if basis is None else basis @ self.inverse
        out = np.zeros((len(counts), len(samples), self.moments.shape[1]))
        for rows in blocks(len(samples), rows_per_block(len(self))):
            steps = features(samples[rows]) @ weights  # each level adds one column to the level before
            for target in range(out.shape[2]):
                sums = np.cumsum(steps * self.moments[:, target], axis=1)
                out[:, rows, target] = np.where(counts > 0, sums[:, np.maximum(counts - 1, 0)], 0.0).T
        return out
