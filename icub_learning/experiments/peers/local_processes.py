"""Locally growing random trees of Gaussian processes (Lederer and others, ICML 2021: LoG-GP)."""

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from icub_learning.arrays import Array
from icub_learning.experiments.peers.likelihood import Kernel


class Leaf:
    """An exact Gaussian process of at most `size` samples; its outputs share a Cholesky factor, which grows by rows."""

    def __init__(self, kernel: Kernel, size: int, n_outputs: int) -> None:
        self.kernel, self.n = kernel, 0
        self.x, self.y = np.zeros((size, len(kernel.length_scales))), np.zeros((size, n_outputs))
        self._factor, self._left = np.zeros((size, size), order="F"), np.zeros((size, n_outputs))

    def fill(self, x: Array, y: Array) -> None:
        """Learn all samples at once, x (n, d), y (n, n_outputs)."""
        n = self.n = len(x)
        self.x[:n], self.y[:n] = x, y
        if n:
            self._factor[:n, :n] = cholesky(self.kernel(x, x) + self.kernel.noise * np.eye(n), lower=True)
            self._left[:n] = solve_triangular(self._factor[:n, :n], y, lower=True, check_finite=False)

    def _solved(self, x: Array) -> Array:
        n, own = self.n, self.kernel(self.x[: self.n], x[None])[:, 0]
        return np.asarray(solve_triangular(self._factor[:n, :n], own, lower=True, check_finite=False))

    def learn(self, x: Array, y: Array) -> None:
        n, row = self.n, self._solved(x) if self.n else np.zeros(0)
        pivot = np.sqrt(max(1.0 + self.kernel.noise - float(row @ row), 1e-12))
        self._factor[n, :n], self._factor[n, n] = row, pivot
        self._left[n] = (y - row @ self._left[:n]) / pivot
        self.x[n], self.y[n], self.n = x, y, n + 1

    def predict(self, x: Array) -> tuple[Array, float]:
        """Return the mean (n_outputs,) and the variance of the function over that of the signal."""
        if not self.n:
            return np.zeros(self.y.shape[1]), 1.0
        row = self._solved(x)
        return row @ self._left[: self.n], max(1.0 - float(row @ row), 1e-9)


class Split:
    """An inner node: the probability of its left side falls linearly from 1 to 0 in the overlap about the middle."""

    def __init__(self, leaf: Leaf, overlap: float, rng: np.random.Generator) -> None:
        x, y = leaf.x[: leaf.n], leaf.y[: leaf.n]
        spread = np.ptp(x, axis=0)
        self.axis = int(spread.argmax())
        self.middle, self.width = float(np.median(x[:, self.axis])), max(overlap * float(spread[self.axis]), 1e-12)
        left = rng.random(len(x)) < np.array([self.left(row) for row in x])
        self.sides: list[Leaf | Split] = []
        for chosen in (left, ~left):
            side = Leaf(leaf.kernel, len(leaf.x), leaf.y.shape[1])
            side.fill(x[chosen], y[chosen])
            self.sides.append(side)

    def left(self, x: Array) -> float:
        """Return the probability of the left side at x (d,)."""
        return float(min(max(0.5 - (x[self.axis] - self.middle) / self.width, 0.0), 1.0))


class LocalProcesses:
    """A tree that splits a leaf when it has `size` samples; where leaves overlap, a sample goes to one at random.

    `overlap` is the overlap's width over the spread of the leaf. `aggregation` is "mixture", means weighted by
    probabilities, or "product", the generalized product of experts, which weights by probability over variance.
    """

    def __init__(self, kernel: Kernel, n_outputs: int, size: int, overlap: float, aggregation: str, seed: int) -> None:
        self.root: Leaf | Split = Leaf(kernel, size, n_outputs)
        self._overlap, self._product = overlap, aggregation == "product"
        self._rng, self._n_outputs = np.random.default_rng(seed), n_outputs

    def learn(self, x: Array, y: Array) -> None:
        above: Split | None = None
        place, node = 0, self.root
        while True:
            if isinstance(node, Leaf):
                if node.n < len(node.x):
                    node.learn(x, y)
                    return
                node = Split(node, self._overlap, self._rng)
                if above is None:
                    self.root = node
                else:
                    above.sides[place] = node
            above, place = node, int(self._rng.random() >= node.left(x))
            node = above.sides[place]

    def predict(self, x: Array) -> Array:
        total, weight = np.zeros(self._n_outputs), 0.0
        waiting: list[tuple[Leaf | Split, float]] = [(self.root, 1.0)]
        while waiting:
            node, probability = waiting.pop()
            if isinstance(node, Split):
                left = node.left(x)
                shares = zip(node.sides, (left, 1.0 - left), strict=True)
                waiting += [(side, probability * share) for side, share in shares if share > 0.0]
                continue
            mean, variance = node.predict(x)
            share = probability / variance if self._product else probability
            total, weight = total + share * mean, weight + share
        return np.asarray(total / weight)
