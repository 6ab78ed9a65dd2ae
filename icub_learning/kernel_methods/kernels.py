"""Kernels and their matrices: one matrix product and one pass in place, by blocks of rows that stay in the cache."""

from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.features.gaussian_kernel import GaussianKernel, SquaredDistances

KERNELS = ("gaussian", "linear", "polynomial", "matern")
LARGEST = 1e100  # largest magnitude of kernel values, weights and targets: squares of larger ones could overflow
BLOCK_BYTES = 2**21  # [bytes] one block of a kernel matrix, which stays in the cache for product, exponential and use

Seed = int | RandomState | None
KernelFunction = Callable[[Array, Array], ArrayLike]
Operator = Callable[[Array], Array]  # a linear map of vectors (n,) or columns (n, T)


class Kernel:
    """A positive definite function of two samples, evaluated for whole sets of samples.

    * "gaussian": exp(-||x - x'||^2 / 2 sigma^2)
    * "matern": (1 + r) exp(-r) with r = sqrt(3) ||x - x'|| / sigma (smoothness 3/2)
    * "polynomial": (x^T x' + 1)^degree
    * "linear": x^T x'
    * a callable: `kernel(X, Z)` for X (n, d), Z (m, d) returns (n, m), symmetric and positive definite, which is not
      checked before it does harm: functions of `sklearn.metrics.pairwise`, kernels of `sklearn.gaussian_process`

    sigma > 0 is the `length_scale`, in the unit of x; the degree is an integer >= 1. Raises ParameterError.
    """

    def __init__(self, kernel: str | KernelFunction = "gaussian", length_scale: float = 1.0, degree: int = 3) -> None:
        if not callable(kernel) and not (isinstance(kernel, str) and kernel in KERNELS):
            raise ParameterError("kernel", kernel, f"one of {', '.join(KERNELS)}, or a callable")
        self.kernel = kernel
        self.length_scale = real("length_scale", length_scale, 0.0, low_open=True)
        self.degree = integer("degree", degree, 1)

    def __call__(self, x: Array, z: Array, out: Array | None = None) -> Array:
        """Return the matrix k(x_i, z_j), (n, m), for rows x (n, d) and z (m, d), written into `out` if given."""
        return self.against(z)(x, out)

    def gram(self, x: Array) -> Array:
        """Return the matrix k(x_i, x_j), (n, n), exactly symmetric."""
        matrix: Array = self.against(x)(x)
        if callable(self.kernel):
            return np.asarray((matrix + matrix.T) / 2)
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
        """Return k(x_i, x_i), (n,)."""
        if callable(self.kernel):
            return np.concatenate([np.diag(self(x[rows], x[rows])) for rows in blocks(len(x), 32)])
        if self.kernel in ("gaussian", "matern"):
            return np.ones(len(x))
        squares: Array = np.einsum("ij,ij->i", x, x)
        with np.errstate(over="ignore"):
            return (squares + 1.0) ** self.degree if self.kernel == "polynomial" else squares

    def against(self, centers: Array) -> "KernelAgainst":
        """Fix the second argument, so that what depends on the centres (m, d) alone is computed once."""
        return KernelAgainst(self, centers)


class KernelAgainst:
    """x -> k(x, centres): (n, d) to (n, m), safe to call from several threads."""

    def __init__(self, kernel: Kernel, centers: Array) -> None:
        self.kernel, self.n_features = kernel, len(centers)
        self._centers = centers
        if kernel.kernel == "gaussian":
            self._gaussian = GaussianKernel(centers, kernel.length_scale)
        elif kernel.kernel == "matern":  # r^2 = 6 ||x - z||^2 / 2 sigma^2
            self._distances = SquaredDistances(centers, np.sqrt(6.0) / kernel.length_scale)
        elif not callable(kernel.kernel):
            check_size(kernel.diagonal(centers))

    def __call__(self, x: Array, out: Array | None = None) -> Array:
        """Return k(x_i, z_j) (n, m), written into `out` if given. Raises ShapeError, ParameterError, NotFiniteError."""
        kernel = self.kernel
        if callable(kernel.kernel):
            values = finite("kernel(X, Z)", kernel.kernel(x, self._centers))
            check_size(values)
            if values.shape != (len(x), self.n_features):
                raise ShapeError("kernel(X, Z)", values.shape, f"(len(X), len(Z)) = {(len(x), self.n_features)}")
            if out is None:
                return values.copy() if np.may_share_memory(values, x) else values
            out[...] = values
            return out
        if kernel.kernel == "gaussian":
            return self._gaussian(x, out)
        if kernel.kernel == "matern":
            out = self._distances(x, out)
            np.clip(out, -1e6, 0.0, out=out)  # exp(-1000) is zero already, and infinity times zero is not a number
            out *= -1.0
            np.sqrt(out, out=out)
            decay = np.exp(-out)
            out += 1.0
            out *= decay
            return out
        check_size(kernel.diagonal(x))  # k(x, z)^2 <= k(x, x) k(z, z)
        out = np.matmul(x, self._centers.T, out=out)
        if kernel.kernel == "polynomial":
            out += 1.0
            np.power(out, kernel.degree, out=out)
        return out


def check_size(values: Array, name: str = "k(X, X')", advice: str = ": scale the inputs") -> None:
    """Raise ParameterError, naming the values, if one of them is not a number or beyond 1e100 in magnitude."""
    if not (largest := float(np.abs(values).max(initial=0.0))) <= LARGEST:
        raise ParameterError(name, largest, f"of magnitude at most {LARGEST:g}{advice}")


def indefinite() -> ParameterError:
    """Return the error of a kernel matrix with eigenvalues far below 0, which only a callable's can have."""
    return ParameterError(
        "kernel", "indefinite", "positive definite: its matrix has eigenvalues below 0; choose another"
    )


def blocks(n: int, size: int) -> Iterator[slice]:
    """Yield slices that cover range(n) in order, `size` at a time."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def rows_per_block(n_columns: int, block_bytes: int = BLOCK_BYTES) -> int:
    """Return how many rows of `n_columns` doubles make a block: at least 16."""
    return max(16, block_bytes // (8 * max(n_columns, 1)))


def sample_rows(seed: Seed, n: int, size: int) -> NDArray[np.int64]:
    """Draw `size` indices of range(n) without replacement, in random order. Raises ParameterError."""
    return check_seed(seed).permutation(n)[:size].astype(np.int64)


def check_seed(seed: Seed) -> RandomState:
    """Return the random state for a seed. Raises ParameterError."""
    try:
        return cast(RandomState, check_random_state(seed))
    except ValueError:
        raise ParameterError("random_state", seed, "None, a numpy RandomState or an integer below 2**32") from None
