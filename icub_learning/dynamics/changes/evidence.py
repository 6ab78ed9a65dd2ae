"""Evidence for changes that began at known times: log likelihood ratios from whitened errors."""

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.error_model import Step


class Evidence:
    """Evidence that something with constant coefficients was added to the errors at a time.

    Each cause adds `columns @ coefficients` to the errors, with some of all columns and with coefficients that are
    normal about zero before any data.
    Then their posterior and the log likelihood ratio against "nothing was added" are those of Bayesian linear
    regression on the filter's whitened innovations. As the expectation of a likelihood ratio is one where nothing was
    added, it exceeds exp(h) at any time with a probability of at most exp(-h) (Ville 1939).

    Args:
        n_outputs: m.
        deviations: (k,) standard deviations of the coefficients of all columns before any data.
        causes: indices of the columns of each cause.

    Attributes:
        squares: sum of squared whitened errors since the beginning.
        n_blocks: number of blocks since then.
        estimates: estimates of the causes, for whom may need them; () at first.
        level: mean square (m,) of what they add, likewise; 0 at first.
    """

    def __init__(self, n_outputs: int, deviations: Array, causes: tuple[NDArray[np.intp], ...]) -> None:
        self._deviations = [deviations[places] for places in causes]
        self._blocks = [np.ix_(places, places) for places in causes]
        self._places = causes
        count = len(deviations)
        self.state = np.zeros((2 * n_outputs, count))
        self._information = np.zeros((count, count))
        self._vector = np.zeros(count)
        self.squares = 0.0
        self.n_blocks = 0
        self.estimates: tuple[Array, ...] = ()
        self.level = np.zeros(n_outputs)

    def add(self, step: Step, columns: Array, innovation: Array) -> None:
        """Add one block: columns (m, k) and the whitened innovation (m,) of the errors without any cause."""
        self.state, white = step(self.state, columns)
        self._information += white.T @ white
        self._vector += white.T @ innovation
        self.squares += float(innovation @ innovation)
        self.n_blocks += 1

    def posterior(self, cause: int) -> tuple[Array, Array]:
        """Mean (n,) and covariance (n, n) of the coefficients of a cause, if it alone was added."""
        scale = self._deviations[cause]
        precision = self._information[self._blocks[cause]] * np.outer(scale, scale)
        precision[np.diag_indices_from(precision)] += 1.0
        covariance = np.linalg.inv(precision) * np.outer(scale, scale)
        return covariance @ self._vector[self._places[cause]], covariance

    def information(self, cause: int) -> Array:
        """Information (n, n) in the data about the coefficients of a cause."""
        result: Array = self._information[self._blocks[cause]]
        return result

    def log_ratio(self, cause: int) -> float:
        """Log likelihood ratio of a cause, over its coefficients, against no cause."""
        scale = self._deviations[cause]
        scaled = self._information[self._blocks[cause]] * np.outer(scale, scale)
        scaled[np.diag_indices_from(scaled)] += 1.0
        root = np.linalg.cholesky(scaled)
        half = np.linalg.solve(root, scale * self._vector[self._places[cause]])
        return float(0.5 * half @ half - np.log(np.diag(root)).sum())

    def log_ratio_of(self, coefficients: Array) -> float:
        """Log likelihood ratio of known coefficients of the first columns (n,) against no cause."""
        n = len(coefficients)
        return float(coefficients @ self._vector[:n] - 0.5 * coefficients @ self._information[:n, :n] @ coefficients)

    def left(self, cause: int) -> float:
        """Sum of squared whitened errors that the posterior mean of a cause leaves."""
        mean, places = self.posterior(cause)[0], self._places[cause]
        explained = 2.0 * mean @ self._vector[places] - mean @ self._information[self._blocks[cause]] @ mean
        return self.squares - float(explained)
