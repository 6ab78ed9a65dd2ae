"""Length scales and noise of a Gaussian process by maximum likelihood, for the rivals that are such processes."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from icub_learning.arrays import Array

MOST_ROWS = 300  # most samples on which the likelihood is maximized
STEPS = 60  # most iterations of the optimizer
LOW, HIGH = np.log(0.3), np.log(100.0)  # bounds of log(length scale), in standard deviations of inputs
LEAST_NOISE = np.log(1e-5)  # lower bound of log(noise variance / signal variance)


@dataclass(frozen=True)
class Kernel:
    """k(x, x') = exp(-|(x - x') / length_scales|^2 / 2), and the variance of the noise over that of the signal."""

    length_scales: Array
    noise: float

    def __call__(self, a: Array, b: Array) -> Array:
        """Return k between the rows of a (n, d) and b (m, d), (n, m)."""
        a, b = a / self.length_scales, b / self.length_scales
        squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2.0 * a @ b.T
        return np.asarray(np.exp(-0.5 * np.maximum(squares, 0.0)))

    def scaled(self, length: float, noise: float) -> "Kernel":
        """Return this kernel with length scales and noise multiplied by these factors."""
        return Kernel(self.length_scales * length, self.noise * noise)


def negative_log_likelihood(parameters: Array, squares: Array, y: Array) -> tuple[float, Array]:
    """Return the negative log-likelihood of outputs y (n, n_outputs) that share a kernel, and its gradient.

    `parameters` (d + 1,) are logarithms of length scales and noise, `squares` (d, n, n) squared differences of inputs.
    The variance of each output's signal is the one that is most likely (Rasmussen and Williams, "Gaussian Processes for
    Machine Learning", 2006, eq. 5.8 and 5.9, with that variance put in).
    """
    n, m = y.shape
    inverse_squares, noise = np.exp(-2.0 * parameters[:-1]), np.exp(parameters[-1])
    kernel = np.exp(-0.5 * np.tensordot(inverse_squares, squares, 1))
    factor = cho_factor(kernel + noise * np.eye(n), lower=True)
    weights = cho_solve(factor, y)
    signal = (y * weights).sum(axis=0) / n
    value = 0.5 * n * np.log(signal).sum() + m * np.log(np.diag(factor[0])).sum()
    outer = m * cho_solve(factor, np.eye(n)) - (weights / signal) @ weights.T
    slopes = 0.5 * inverse_squares * (squares.reshape(len(squares), -1) @ (outer * kernel).ravel())
    return float(value), np.append(slopes, 0.5 * noise * np.trace(outer))


def most_likely_kernel(x: Array, y: Array, seed: int) -> Kernel:
    """Return the kernel of maximum likelihood on at most MOST_ROWS random rows of x (n, d), y (n, n_outputs)."""
    rows = np.random.default_rng(seed).permutation(len(x))[:MOST_ROWS]
    x, y = x[rows], y[rows] - y[rows].mean(axis=0)
    y = y[:, y.std(axis=0) > 0]
    squares = (x[:, None] - x).transpose(2, 0, 1) ** 2
    start = np.append(np.full(x.shape[1], 0.5 * np.log(x.shape[1])), np.log(0.1))
    bounds = [(LOW, HIGH)] * x.shape[1] + [(LEAST_NOISE, np.log(10.0))]
    found = minimize(
        negative_log_likelihood, start, (squares, y), "L-BFGS-B", jac=True, bounds=bounds, options={"maxiter": STEPS}
    )
    return Kernel(np.exp(found.x[:-1]), float(np.exp(found.x[-1])))
