"""Leverages of a learner at one moment, unaffected by what it learns afterwards."""

from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.recursive import _cholesky
from icub_learning.recursive.checks import finite_rows
from icub_learning.recursive.storage import padded_size


class Certainty:
    """Leverages under a fixed covariance A, for use while a learner goes on in another thread.

    Args:
        triangle: packed factor of A (see storage.py); kept by reference, not copied.
        n_features: d, length of a row z.
    """

    def __init__(self, triangle: Array, n_features: int) -> None:
        self.n_features = n_features
        self._triangle = triangle
        self._size = padded_size(n_features)

    def leverage(self, z: ArrayLike) -> float | Array:
        """Return z^T A^-1 z, the predictive variance over that of the noise: (d,) to a float, (k, d) to (k,). Raises
        ShapeError, NotFiniteError.
        """
        found = _cholesky.leverage(self._triangle, z, self._size, self.n_features)
        return self.leverage(finite_rows("z", z, self.n_features)) if found is None else found
