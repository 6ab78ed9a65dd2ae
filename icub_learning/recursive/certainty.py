"""Leverages of a learner at one moment, unaffected by what it learns afterwards."""

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.recursive import _cholesky
from icub_learning.recursive.checks import finite_rows
from icub_learning.recursive.storage import aligned_zeros, padded_size


class Certainty:
    """Leverages under a fixed covariance A, for use while a learner goes on in another thread.

    Args:
        triangle: packed factor of A (see storage.py); kept by reference, not copied.
        n_features: d, length of a row z.
        probe: work memory of MAX_RANK padded rows; allocated if None.
    """

    def __init__(self, triangle: Array, n_features: int, probe: Array | None = None) -> None:
        self.n_features = n_features
        self._triangle = triangle
        self._size = padded_size(n_features)
        self._probe = aligned_zeros(_cholesky.MAX_RANK * self._size) if probe is None else probe

    def leverage(self, z: ArrayLike) -> float | Array:
        """Return z^T A^-1 z, the predictive variance over the noise variance: (d,) to a float, (k, d) to (k,).

        Raises:
            ShapeError, NotFiniteError.
        """
        z_rows = finite_rows("z", z, self.n_features)
        out = np.empty(1 if z_rows.ndim == 1 else len(z_rows))
        _cholesky.leverage(out, self._probe, self._triangle, z_rows, self._size, self.n_features)
        return float(out[0]) if z_rows.ndim == 1 else out
