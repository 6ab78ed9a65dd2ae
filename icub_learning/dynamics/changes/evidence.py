"""Evidence for changes that began at known times: log likelihood ratios from whitened errors."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import solve_triangular

from icub_learning.arrays import Array
from icub_learning.dynamics.changes import _evidence
from icub_learning.dynamics.changes.error_model import Step


class Evidence:
    """Evidence that something with constant coefficients was added to the errors at a time.

    Each cause adds `columns @ coefficients` to the errors, with columns of its own and with coefficients that are
    normal about zero before any data. Then their posterior and the log likelihood ratio against "nothing was added" are
    those of Bayesian linear regression on the filter's whitened innovations. As the expectation of a likelihood ratio
    is one where nothing was added, it exceeds exp(h) at any time with a probability of at most exp(-h) (Ville 1939).

    Args:
        n_outputs: m.
        deviations: for each cause, the standard deviations (n,) of its coefficients before any data.

    Attributes:
        squares: sum of squared whitened errors since the beginning.
        n_blocks: number of blocks since then.
        explained: posteriors by cause, those that were queried since the last block.
        sizes: number of coefficients of each cause.
        memory: the arrays that a block changes, for compiled functions."""

    def __init__(self, n_outputs: int, deviations: Sequence[Array]) -> None:
        self.sizes = tuple(map(len, deviations))
        count = sum(self.sizes)
        of_all = np.zeros(sum(n * n for n in self.sizes))  # information matrices, cause after cause
        vectors = np.zeros(count)
        self.memory = np.zeros((2 * n_outputs, count)), of_all, vectors
        self._sums, first, first_square = [], 0, 0
        for own, n in zip(deviations, self.sizes, strict=True):
            information = of_all[first_square : first_square + n * n].reshape(n, n)
            self._sums.append((information, vectors[first : first + n], own))
            first, first_square = first + n, first_square + n * n
        self.explained: dict[int, Explained] = {}
        self.squares, self.n_blocks = 0.0, 0

    def of(self, cause: int) -> "Explained":
        """Return the posterior of the coefficients of a cause, if it alone was added."""
        if cause not in self.explained:
            self.explained[cause] = Explained(*self._sums[cause])
        return self.explained[cause]

    @property
    def best(self) -> float:
        """Largest of the log likelihood ratios of the causes."""
        return max(self.of(cause).log_ratio for cause in range(len(self.sizes)))

    def log_likelihood(self, cause: int) -> float:
        """Return the log likelihood of the errors if a cause was added, up to a constant common to all causes."""
        return self.of(cause).log_ratio - 0.5 * self.squares

    def log_ratio_of(self, coefficients: Array) -> float:
        """Return the log likelihood ratio of known coefficients (n,), the first of the first cause, to no cause."""
        n, (information, vector, _) = len(coefficients), self._sums[0]
        upper = information[:n, :n]
        squares = 2.0 * coefficients @ upper @ coefficients - coefficients**2 @ upper.diagonal()
        return float(coefficients @ vector[:n] - 0.5 * squares)

    def left(self, cause: int) -> float:
        """Return the sum of squared whitened errors that the posterior mean of a cause leaves."""
        _, vector, deviations = self._sums[cause]
        mean = self.of(cause).mean
        # As (A + D^-2) mean = v, which the posterior solves: 2 v' mean - mean' A mean = v' mean + |D^-1 mean|^2.
        return self.squares - float(vector @ mean + ((mean / deviations) ** 2).sum())


def add_to_all(evidence: Sequence[Evidence], step: Step, columns: Array, innovation: Array) -> None:
    """Add one block to evidence for the same causes that began at several times.

    Args:
        evidence: what it is added to.
        step: step of the filter.
        columns: (m, k) columns of all causes.
        innovation: (m,) whitened innovation of the errors without any cause.
    """
    if not evidence:
        return
    memories = tuple([one.memory for one in evidence])
    _evidence.add(memories, columns, innovation, step.kept, step.gain, step.root, len(innovation), evidence[0].sizes)
    square = float(innovation @ innovation)
    for one in evidence:
        one.squares += square
        one.n_blocks += 1
        one.explained.clear()


class Explained:
    """Posterior of the coefficients (n,) of a cause, from the upper triangle of an information matrix (n, n).

    Attributes:
        mean: (n,) posterior mean.
        log_ratio: log likelihood ratio of the cause, over its coefficients, against no cause.
    """

    def __init__(self, information: Array, vector: Array, deviations: Array) -> None:
        n, self._deviations = len(vector), deviations
        self._root, self.mean = np.empty((n, n)), np.empty(n)
        self.log_ratio = _evidence.explain(self._root, self.mean, information, vector, deviations, n)

    def covariance(self, count: int) -> Array:
        """Return the covariance (count, count) of the first coefficients."""
        unit = np.eye(len(self.mean), count)
        half = solve_triangular(self._root, unit, trans="T", check_finite=False) * self._deviations[:count]
        return np.asarray(half.T @ half)
