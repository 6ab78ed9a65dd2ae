"""Evidence for changes that began at known times: log likelihood ratios from whitened errors."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.error_model import Step


class Evidence:
    """Evidence that something with constant coefficients was added to the errors at a time.

    Each of k causes adds `columns @ coefficients` to the errors, with coefficients normal about zero before any data.
    Then their posterior and the log likelihood ratio against "nothing was added" are those of Bayesian linear
    regression on the filter's whitened innovations. As the expectation of a likelihood ratio is one where nothing was
    added, it exceeds exp(h) at any time with a probability of at most exp(-h) (Ville 1939).

    Args:
        n_outputs: m.
        deviations: standard deviations of the coefficients before any data, one array for each cause.
    """

    def __init__(self, n_outputs: int, deviations: tuple[Array, ...]) -> None:
        self._precisions = [deviation**-2.0 for deviation in deviations]
        sizes = [len(deviation) for deviation in deviations]
        ends = np.cumsum(sizes)
        self._blocks = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        count = int(ends[-1])
        self.state = np.zeros((2 * n_outputs, count))
        self._information = np.zeros((count, count))
        self._vector = np.zeros(count)
        self.squares = 0.0  # sum of squared whitened errors since the beginning
        self.n_blocks = 0

    def add(self, step: Step, columns: Array, innovation: Array) -> None:
        """Add one block: columns (m, all causes') and the whitened innovation (m,) of the errors without any cause."""
        self.state, white = step(self.state, columns)
        self._information += white.T @ white
        self._vector += white.T @ innovation
        self.squares += float(innovation @ innovation)
        self.n_blocks += 1

    def posterior(self, cause: int) -> tuple[Array, Array]:
        """Mean (n,) and covariance (n, n) of the coefficients of a cause, if it alone was added."""
        block = self._blocks[cause]
        covariance = np.linalg.inv(self._information[block, block] + np.diag(self._precisions[cause]))
        return covariance @ self._vector[block], covariance

    def information(self, cause: int) -> Array:
        """Information (n, n) in the data about the coefficients of a cause."""
        block = self._blocks[cause]
        return self._information[block, block]

    def log_ratio(self, cause: int) -> float:
        """Log likelihood ratio of a cause, over its coefficients, against no cause."""
        block, precision = self._blocks[cause], self._precisions[cause]
        deviation = precision**-0.5
        scaled = np.eye(len(precision)) + deviation[:, None] * self._information[block, block] * deviation
        root = np.linalg.cholesky(scaled)
        half = np.linalg.solve(root, deviation * self._vector[block])
        return float(0.5 * half @ half - np.log(np.diag(root)).sum())

    def log_ratio_of(self, cause: int, coefficients: Array) -> float:
        """Log likelihood ratio of a cause with known coefficients (n,) against no cause."""
        block = self._blocks[cause]
        return float(
            coefficients @ self._vector[block] - 0.5 * coefficients @ self._information[block, block] @ coefficients
        )
