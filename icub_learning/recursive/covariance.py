"""Regularized covariance of all samples seen so far, as a Cholesky factor: least squares without targets."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, integer
from icub_learning.errors import ParameterError
from icub_learning.models import check_version, reading_state
from icub_learning.recursive import _cholesky, pooling
from icub_learning.recursive.checks import LARGEST_VALUE, check_regularization, finite_rows
from icub_learning.recursive.storage import aligned_zeros, pack_factor, padded_size, read_factor, unpack_factor

STATE_VERSION = 1  # version of the saved state


class RegularizedCovariance:
    """A = Z^T Z + diag(regularization), updated row by row and solved with at any time, O(d^2) either way.

    The factor A = R^T R is kept as in RecursiveLeastSquares, which describes the arguments, but no weights are kept:
    for sparse targets, as in classification, it is cheaper to sum Z^T Y and to solve when a prediction is needed.
    """

    def __init__(self, n_features: int, regularization: float | ArrayLike = 1.0) -> None:
        self.n_features = integer("n_features", n_features, 1)
        self.regularization = check_regularization(regularization, self.n_features)
        self._size = padded_size(self.n_features)
        self._work = aligned_zeros(2 * _cholesky.MAX_RANK * self._size)
        self._no_weights = np.empty(0)
        self._triangle = pack_factor(np.eye(self.n_features), self.regularization)

    @property
    def factor(self) -> Array:
        """Upper triangular R (d, d) with A = R^T R, as a copy."""
        unit, pivots = unpack_factor(self._triangle, self.n_features)
        return np.sqrt(pivots)[:, None] * unit

    def update(self, z: ArrayLike) -> None:
        """Add z^T z to A: z (d,) or (k, d). Raises ShapeError, NotFiniteError, ParameterError (beyond 1e100)."""
        z_rows = finite_rows("z", z, self.n_features, LARGEST_VALUE)
        no_targets = np.empty((*z_rows.shape[:-1], 0))
        _cholesky.update(
            self._triangle, self._no_weights, self._work, None, z_rows, no_targets,
            self._size, self.n_features, 0, 1.0, LARGEST_VALUE,
        )  # fmt: skip

    def withdraw(self, z: ArrayLike) -> None:
        """Become as if rows z (k, d) had never been added. O(k d^2 + d^3). Raises what `update` does, and
        ParameterError: less than half of the regularization would remain; nothing changes then."""
        z_rows = np.atleast_2d(finite_rows("z", z, self.n_features, LARGEST_VALUE))
        factor = pooling.drop_rows(self.factor, z_rows, self.regularization / 2.0)
        diagonal = np.diag(factor)
        self._triangle = pack_factor(factor / diagonal[:, None], diagonal**2)

    def solve(self, z: ArrayLike) -> tuple[Array, Array]:
        """Return A^-1 z and the leverage z^T A^-1 z: (d,) to (d,) and (), (k, d) to (k, d) and (k,). Raises ShapeError,
        NotFiniteError."""
        z_rows = finite_rows("z", z, self.n_features)
        count = 1 if z_rows.ndim == 1 else len(z_rows)
        out, leverages = np.empty((count, self._size)), np.empty(count)
        _cholesky.solve(out, leverages, self._triangle, z_rows, self._size, self.n_features)
        out = out[:, : self.n_features]
        return (out[0], leverages[0]) if z_rows.ndim == 1 else (out, leverages)

    def merge(self, other: "RegularizedCovariance") -> None:
        """Add all samples of another covariance exactly; the regularization stays. O(d^3). Raises ParameterError:
        `other` is no RegularizedCovariance or has other sizes; nothing changes then."""
        if not isinstance(other, RegularizedCovariance):
            raise ParameterError("other", type(other).__name__, "a RegularizedCovariance")
        if other.n_features != self.n_features:
            raise ParameterError("other", other.n_features, f"{self.n_features} features, as this one")
        self.update(other.equivalent_rows())

    def equivalent_rows(self) -> Array:
        """Return (d, d) rows with the same Z^T Z as all samples seen so far. O(d^3)."""
        root = np.sqrt(self.regularization)
        _, singular, vectors = np.linalg.svd(self.factor / root)
        return np.asarray(pooling.gained_lengths(singular)[:, None] * vectors * root)

    def state(self) -> dict[str, Array]:
        """Return all that was learned as a dict of arrays; see `from_state`."""
        unit, pivots = unpack_factor(self._triangle, self.n_features)
        settings = {"version": np.asarray(STATE_VERSION), "regularization": self.regularization.copy()}
        return {**settings, "unit_factor": unit, "pivots": pivots}

    @classmethod
    def from_state(cls, state: Mapping[str, Array]) -> "RegularizedCovariance":
        """Rebuild from `state`. Raises StateError that names the entry which does not fit."""
        with reading_state("a covariance"):
            check_version(state, STATE_VERSION)
            covariance = cls(len(state["pivots"]), state["regularization"])
            covariance._triangle = read_factor(state, covariance.n_features)
        return covariance


class Certainty:
    """Leverages under a fixed covariance A, for use while a learner goes on learning in another thread.

    `triangle`, the packed factor of A (see storage.py), is kept by reference, not copied.
    """

    def __init__(self, triangle: Array, n_features: int) -> None:
        self.n_features, self._triangle = n_features, triangle
        self._size = padded_size(n_features)

    def leverage(self, z: ArrayLike) -> float | Array:
        """Return z^T A^-1 z, the predictive variance over the noise variance: (d,) to a float, (k, d) to (k,). Raises
        ShapeError, NotFiniteError."""
        found = _cholesky.leverage(self._triangle, z, self._size, self.n_features)
        return self.leverage(finite_rows("z", z, self.n_features)) if found is None else found
