"""Streaming sparse Gaussian process regression (Bui, Nguyen and Turner, NeurIPS 2017), with a Gaussian likelihood."""

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from icub_learning.arrays import Array
from icub_learning.experiments.peers.likelihood import Kernel
from icub_learning.recursive import RecursiveLeastSquares

JITTER = 1e-6
REPLACED = 0.3  # share of the inducing points that new inputs replace at a time


class StreamingProcess:
    """A sparse process whose posterior at the inducing points, which outputs share, is the only memory of the past.

    Earlier samples are kept as Gaussian pseudo-measurements at the old inducing points, from which the new ones learn
    as from samples (the paper's optimal posterior for fixed hyperparameters). After each `every` samples (default: half
    as many as points) some of the latest inputs become inducing points; in between, each sample is a rank-one update.
    """

    def __init__(self, kernel: Kernel, n_outputs: int, inducing: int, seed: int, every: int = 0) -> None:
        self._kernel, self._m, self._most, self._every = kernel, n_outputs, inducing, every or inducing // 2
        self._rng = np.random.default_rng(seed)
        self.points = np.zeros((0, len(kernel.length_scales)))
        self._root = np.zeros((0, 0))
        self._rls: RecursiveLeastSquares | None = None
        self._latest: list[tuple[Array, Array]] = []

    def predict(self, x: Array) -> Array:
        return np.zeros(self._m) if self._rls is None else self._rls.predict(self._whitened(x[None])[0])

    def learn(self, x: Array, y: Array) -> None:
        self._latest.append((x, y))
        growing = len(self.points) < self._most
        # While there is room each input becomes an inducing point: nothing is lost.
        if growing:
            self.induce(np.vstack([self.points, x]))
        assert self._rls is not None
        self._rls.update(self._whitened(x[None])[0], y)
        if len(self._latest) >= self._every:
            if not growing:
                new = min(int(REPLACED * self._most), len(self._latest))
                kept = self._rng.permutation(self._most)[: self._most - new]
                chosen = self._rng.permutation(len(self._latest))[:new]
                self.induce(np.vstack([self.points[kept], *(self._latest[i][0] for i in chosen)]))
            self._latest.clear()

    def induce(self, points: Array) -> None:
        """Replace the inducing points by `points` (k, d)."""
        root = cholesky(self._kernel(points, points) + JITTER * np.eye(len(points)), lower=True)
        rls = RecursiveLeastSquares(len(points), self._m, self._kernel.noise)
        if self._rls is not None:
            factor, weights = self._rls.factor, self._rls.weights
            gathered = factor.T @ factor
            heard = gathered @ weights
            values, vectors = eigh(gathered - self._kernel.noise * np.eye(len(gathered)))
            said = values > 1e-9 * max(values[-1], 1e-300)
            rows = np.sqrt(values[said])[:, None] * vectors[:, said].T
            targets = vectors[:, said].T @ heard / np.sqrt(values[said])[:, None]
            cross = solve_triangular(self._root, self._kernel(self.points, points), lower=True)
            rls.update(rows @ solve_triangular(root, cross.T, lower=True).T, targets)
        self.points, self._root, self._rls = points, root, rls

    def _whitened(self, x: Array) -> Array:
        return np.asarray(solve_triangular(self._root, self._kernel(self.points, x), lower=True, check_finite=False).T)
