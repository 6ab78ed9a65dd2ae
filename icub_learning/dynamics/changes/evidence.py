"""Evidence for changes that began at known times: log likelihood ratios from whitened errors."""

from collections.abc import Sequence

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.changes import _evidence
from icub_learning.dynamics.changes.error_model import Step


class Evidence:
    """Evidence that something with constant coefficients was added to the errors at a time.

    Each cause adds `columns @ coefficients` to the errors, with columns of its own and with coefficients that are
    normal about zero before any data.
    Then their posterior and the log likelihood ratio against "nothing was added" are those of Bayesian linear
    regression on the filter's whitened innovations. As the expectation of a likelihood ratio is one where nothing was
    added, it exceeds exp(h) at any time with a probability of at most exp(-h) (Ville 1939).

    Args:
        n_outputs: m.
        deviations: for each cause, the standard deviations (n,) of its coefficients before any data.

    Attributes:
        squares: sum of squared whitened errors since the beginning.
        n_blocks: number of blocks since then.
        estimates: estimates of the causes, for whom may need them; () at first.
        level: mean square (m,) of what they add, likewise; 0 at first.
        sizes: how many coefficients each cause has.
        memory: the arrays that a block changes, for compiled functions.
    """

    def __init__(self, n_outputs: int, deviations: Sequence[Array]) -> None:
        self.sizes = tuple(map(len, deviations))
        count = sum(self.sizes)
        state = np.zeros((2 * n_outputs, count))
        information = np.zeros(sum(n * n for n in self.sizes))  # of each cause after the other, as the vectors
        vector = np.zeros(count)
        self.memory = state, information, vector
        self._causes: list[_Cause] = []
        first = first_square = 0
        for own, n in zip(deviations, self.sizes, strict=True):
            own_information = information[first_square : first_square + n * n].reshape(n, n)
            self._causes.append(_Cause(own, own_information, vector[first : first + n]))
            first, first_square = first + n, first_square + n * n
        self.squares = 0.0
        self.n_blocks = 0
        self.estimates: tuple[Array, ...] = ()
        self.level = np.zeros(n_outputs)

    def add(self, step: Step, columns: Array, innovation: Array) -> None:
        """Add one block: columns (m, k) of all causes, and the whitened innovation (m,) of the errors without any."""
        add_to_all([self], step, columns, innovation)

    def estimate(self, cause: int) -> Array:
        """Posterior mean (n,) of the coefficients of a cause, if it alone was added."""
        return self._causes[cause].explained(self.n_blocks).mean

    def posterior(self, cause: int, count: int) -> tuple[Array, Array]:
        """Mean (count,) and covariance (count, count) of the first coefficients of a cause, if it alone was added."""
        explained = self._causes[cause].explained(self.n_blocks)
        return explained.mean[:count], explained.covariance(count)

    def log_ratio(self, cause: int) -> float:
        """Log likelihood ratio of a cause, over its coefficients, against no cause."""
        return self._causes[cause].explained(self.n_blocks).log_ratio

    def log_ratio_of(self, coefficients: Array) -> float:
        """Log likelihood ratio of known coefficients of the first columns (n,) of the first cause against no cause."""
        n, first = len(coefficients), self._causes[0]
        upper = first.information[:n, :n]
        squares = 2.0 * coefficients @ upper @ coefficients - coefficients**2 @ upper.diagonal()
        return float(coefficients @ first.vector[:n] - 0.5 * squares)

    def left(self, cause: int) -> float:
        """Sum of squared whitened errors that the posterior mean of a cause leaves."""
        own = self._causes[cause]
        mean = own.explained(self.n_blocks).mean
        # As (A + D^-2) mean = v, which the posterior solves: 2 v' mean - mean' A mean = v' mean + |D^-1 mean|^2.
        return self.squares - float(own.vector @ mean + ((mean / own.deviations) ** 2).sum())


def add_to_all(evidence: Sequence[Evidence], step: Step, columns: Array, innovation: Array) -> None:
    """Add one block to evidence for the same causes that began at several times; arguments as of Evidence.add."""
    if not evidence:
        return
    memories = tuple([one.memory for one in evidence])
    _evidence.add(memories, columns, innovation, step.kept, step.gain, step.root, len(innovation), evidence[0].sizes)
    square = float(innovation @ innovation)
    for one in evidence:
        one.squares += square
        one.n_blocks += 1


class _Cause:
    """Information (n, n), of which the upper triangle counts, and vector (n,), in views of what Evidence adds up."""

    def __init__(self, deviations: Array, information: Array, vector: Array) -> None:
        self.deviations, self.information, self.vector = deviations, information, vector
        self._at = 0  # number of blocks of `_explained`
        self._explained: _Explained | None = None

    def explained(self, n_blocks: int) -> "_Explained":
        """Return the posterior after so many blocks, found only once for each number of them."""
        if self._explained is None or self._at != n_blocks:
            self._at, self._explained = n_blocks, _Explained(self)
        return self._explained


class _Explained:
    """What the coefficients of a cause are: their mean (n,), root (n, n) of their precision, and their log ratio."""

    def __init__(self, cause: _Cause) -> None:
        n = len(cause.vector)
        self._deviations = cause.deviations
        self._root, self.mean = np.empty((n, n)), np.empty(n)
        self.log_ratio = _evidence.explain(self._root, self.mean, cause.information, cause.vector, cause.deviations, n)

    def covariance(self, count: int) -> Array:
        """Return the covariance (count, count) of the first coefficients."""
        n = len(self.mean)
        covariance = np.empty((count, count))
        _evidence.spread(covariance, np.empty((n, count)), self._root, self._deviations, n, count)
        return covariance
