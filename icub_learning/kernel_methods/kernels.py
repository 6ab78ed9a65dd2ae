"""Kernels and their matrices: one matrix product and one pass in place, by blocks of rows that stay in the cache."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.errors import ParameterError, ShapeError

KERNELS = ("gaussian", "linear", "polynomial", "matern")
BLOCK_BYTES = 2**21  # of one block of a kernel matrix: product, exponential and use follow each other in the cache
FARTHEST = 1e150  # in length scales; the squares of what is farther overflow

KernelFunction = Callable[[Array, Array], ArrayLike]


class Kernel:
    """A positive definite function of two samples, evaluated for whole sets of samples.

    * "gaussian": exp(-||x - x'||^2 / 2 sigma^2)
    * "matern": (1 + r) exp(-r) with r = sqrt(3) ||x - x'|| / sigma (smoothness 3/2)
    * "polynomial": (x^T x' + 1)^degree
    * "linear": x^T x'
    * a callable: `kernel(X, Z)` for X (n, d), Z (m, d) returns (n, m); symmetric and positive definite, which is not
      checked. The functions of `sklearn.metrics.pairwise` and the kernels of `sklearn.gaussian_process` are such.

    Args:
        kernel: one of the names above, or a callable.
        length_scale: sigma > 0, in the unit of x; of "gaussian" and "matern".
        degree: integer >= 1; of "polynomial".

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(self, kernel: str | KernelFunction = "gaussian", length_scale: float = 1.0, degree: int = 3) -> None:
        if not callable(kernel) and not (isinstance(kernel, str) and kernel in KERNELS):
            raise ParameterError("kernel", kernel, f"one of {', '.join(KERNELS)}, or a callable")
        self.kernel = kernel
        self.length_scale = real("length_scale", length_scale, 0.0, low_open=True)
        self.degree = integer("degree", degree, 1)

    def __call__(self, x: Array, z: Array, out: Array | None = None) -> Array:
        """The matrix k(x_i, z_j), (n, m), for rows x (n, d) and z (m, d); written into `out` where that is given."""
        return self.against(z)(x, out)

    def gram(self, x: Array) -> Array:
        """The symmetric matrix k(x_i, x_j), (n, n), to the bit equal to its transpose."""
        matrix = self.against(x)(x)
        if callable(self.kernel):
            return (matrix + matrix.T) / 2
        for start in range(0, len(x), 512):  # the upper triangle is the mirror of the lower, a stripe at a time
            stop = start + 512
            stripe = matrix[start:stop, start:stop]
            upper = np.triu_indices(len(stripe), 1)
            stripe[upper] = stripe.T[upper]
            matrix[start:stop, stop:] = matrix[stop:, start:stop].T
        if self.kernel in ("gaussian", "matern"):
            np.fill_diagonal(matrix, 1.0)
        return matrix

    def diagonal(self, x: Array) -> Array:
        """k(x_i, x_i), (n,)."""
        if callable(self.kernel):
            return np.concatenate([np.diag(self(x[rows], x[rows])) for rows in blocks(len(x), 32)])
        if self.kernel in ("gaussian", "matern"):
            return np.ones(len(x))
        squares = np.einsum("ij,ij->i", x, x)
        return squares if self.kernel == "linear" else (squares + 1.0) ** self.degree

    def against(self, centers: Array) -> "KernelAgainst":
        """The kernel with its second argument fixed: what depends on the centres alone is computed once."""
        return KernelAgainst(self, centers)


class KernelAgainst:
    """x -> k(x, centres): (n, d) to (n, m). Made by `Kernel.against`; safe to call from several threads at once.

    Distances are taken from the mean of the centres (far from zero they would cancel), and the squared norms ride in
    two further columns of the matrix product, so that one product gives the whole exponent.
    """

    def __init__(self, kernel: Kernel, centers: Array) -> None:
        self.kernel = kernel
        self.n_centers = len(centers)
        self._centers = centers
        if kernel.kernel in ("gaussian", "matern"):
            self._origin = centers.mean(axis=0)
            # gaussian: exponent -||x-z||^2 / 2 sigma^2; matern: -||x-z||^2, scaled so that sqrt gives r.
            factor = 1.0 if kernel.kernel == "gaussian" else 6.0
            self._scale = np.sqrt(factor) / kernel.length_scale
            shifted = np.clip((centers - self._origin) * self._scale, -FARTHEST, FARTHEST)
            halves = np.einsum("ij,ij->i", shifted, shifted) / 2
            self._right = np.ascontiguousarray(np.column_stack([shifted, np.ones(len(centers)), -halves]).T)

    def __call__(self, x: Array, out: Array | None = None) -> Array:
        """k(x_i, z_j), (n, m), into `out` where given. Raises ShapeError, NotFiniteError if a callable misbehaves."""
        kernel = self.kernel
        if callable(kernel.kernel):
            values = finite("kernel(X, Z)", kernel.kernel(x, self._centers))
            if values.shape != (len(x), self.n_centers):
                raise ShapeError("kernel(X, Z)", values.shape, f"(len(X), len(Z)) = {(len(x), self.n_centers)}")
            if out is None:
                return values.copy() if np.may_share_memory(values, x) else values
            out[...] = values
            return out
        if out is None:
            out = np.empty((len(x), self.n_centers))
        if kernel.kernel in ("gaussian", "matern"):
            # Inputs far apart overflow to an exponent of -inf, which is the kernel's value 0.
            with np.errstate(over="ignore", under="ignore"):
                np.matmul(self._left(x), self._right, out=out)
                if kernel.kernel == "gaussian":
                    np.minimum(out, 0.0, out=out)
                    return np.exp(out, out=out)
                np.clip(out, -1e6, 0.0, out=out)  # exp(-1000) is zero already, and infinity times zero is none
                out *= -1.0
                np.sqrt(out, out=out)
                decay = np.exp(-out)
                out += 1.0
                out *= decay
                return out
        np.matmul(x, self._centers.T, out=out)
        if kernel.kernel == "polynomial":
            out += 1.0
            np.power(out, kernel.degree, out=out)
        return out

    def _left(self, x: Array) -> Array:
        d = x.shape[1]
        left = np.empty((len(x), d + 2))
        shifted = left[:, :d]
        np.subtract(x, self._origin, out=shifted)
        shifted *= self._scale
        np.clip(shifted, -FARTHEST, FARTHEST, out=shifted)
        np.einsum("ij,ij->i", shifted, shifted, out=left[:, d])
        left[:, d] *= -0.5
        left[:, d + 1] = 1.0
        return left


def blocks(n: int, size: int) -> Iterator[slice]:
    """Slices that cover range(n) in order, `size` at a time."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def rows_per_block(n_columns: int, block_bytes: int = BLOCK_BYTES) -> int:
    """How many rows of `n_columns` doubles make a block: at least 16."""
    return max(16, block_bytes // (8 * max(n_columns, 1)))


def sample_rows(random: Any, n: int, size: int) -> NDArray[np.int64]:
    """`size` of range(n), drawn without replacement, in random order (`random`: a numpy RandomState)."""
    return random.permutation(n)[:size].astype(np.int64)
