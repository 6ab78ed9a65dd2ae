"""Symmetric tensors of any order in packed storage: C(n + q - 1, q) numbers instead of n^q."""

from collections.abc import Callable, Sequence
from math import comb, factorial

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.memory import available_bytes
from icub_learning.kernel_methods.tensor import _symmetric

CHUNK = 2**16  # entries that a function is applied to at a time, so that they stay in the cache


def n_entries(n: int, order: int) -> int:
    """Return C(n + order - 1, order), the number of different entries."""
    return comb(n + order - 1, order)


def position(indices: Sequence[int]) -> int:
    """Return the place of the entry with these indices, in any order: sum_k C(i_k + k - 1, k), i_k sorted."""
    return sum(comb(index + k - 1, k) for k, index in enumerate(sorted(indices), start=1))


class SymmetricTensor:
    """T(i_1, ..., i_q) for indices 1..n, the same for every order of the indices, with q = `order`, 1 to 16.

    `entries` (C(n + q - 1, q),) are placed by `position`. Raises ParameterError: they do not fit into memory.
    """

    def __init__(self, n: int, order: int) -> None:
        self.n, self.order = n, order
        count, left = n_entries(n, order), available_bytes()
        if 8 * count > left:
            text = f"smaller: {count} entries of a tensor of order {order} take {8 * count} bytes of {left} bytes free"
            raise ParameterError("n_subsample", n, text)
        self.entries = np.empty(count)
        self._gradients = np.empty((order + 1, n))

    def fill(self, samples: Array, weights: Array, function: Callable[[Array], None] | None = None) -> None:
        """Set entries to sum_k weights_k x_{i_1 k} ... x_{i_q k}, x (n, d), then apply a function, if any, in place."""
        d = samples.shape[1]
        x, columns = np.ascontiguousarray(samples), np.ascontiguousarray(samples.T)
        work = np.empty((self.order + 1) * d)
        _symmetric.fill(self.entries, x, columns, weights.copy(), work, self.n, d, self.order)
        if function is not None:
            for start in range(0, len(self.entries), CHUNK):
                function(self.entries[start : start + CHUNK])

    def form(self, vector: Array) -> float:
        """Return T(alpha, ..., alpha), the sum over all n^q index tuples, for the vector alpha (n,)."""
        return self._contract(vector, None)

    def gradient(self, vector: Array) -> Array:
        """Return T(., alpha, ..., alpha), (n,): the gradient of form / q."""
        self.form(vector)
        return np.asarray(factorial(self.order - 1) * self._gradients[self.order])

    def derivatives(self, vector: Array) -> tuple[float, Array, Array]:
        """Return `form`, `gradient` and the second derivatives of form / q, (n, n), in one pass over the entries."""
        hessian = np.zeros((self.n, self.n))
        value, scale = self._contract(vector, hessian), factorial(self.order - 1)
        return value, scale * self._gradients[self.order], scale * (hessian + hessian.T)

    def _contract(self, vector: Array, hessian: Array | None) -> float:
        contracted = _symmetric.contract(self.entries, vector.copy(), self._gradients, hessian, self.n, self.order)
        return factorial(self.order) * contracted
