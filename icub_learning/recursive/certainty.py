"""How certain a learner was at one moment, whatever it learns afterwards."""

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.recursive import _kernel
from icub_learning.recursive.checks import numbers
from icub_learning.recursive.storage import aligned_zeros, padded_size


class Certainty:
    """Leverages under a covariance A that stays as it is; for use beside a learner in another thread.

    Args:
        triangle: factor of A as the kernel keeps it (storage.py); kept, not copied.
        n_features: d, length of a row z.
        probe: memory to work in, if there is some already.
    """

    def __init__(self, triangle: Array, n_features: int, probe: Array | None = None) -> None:
        self.n_features = n_features
        self._triangle = triangle
        self._size = padded_size(n_features)
        self._probe = aligned_zeros(_kernel.MAX_RANK * self._size) if probe is None else probe

    def leverage(self, z: ArrayLike) -> float | Array:
        """z^T A^-1 z, the predictive variance in units of the noise variance: (d,) to a float, (k, d) to (k,).

        Raises:
            ShapeError, NotFiniteError.
        """
        z_rows = numbers("z", z, self.n_features)
        out = np.empty(1 if z_rows.ndim == 1 else len(z_rows))
        _kernel.leverage(out, self._probe, self._triangle, z_rows, self._size, self.n_features)
        return float(out[0]) if z_rows.ndim == 1 else out
