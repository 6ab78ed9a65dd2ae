"""A small network trained in one pass, with replay: each new sample is a step together with some that were kept."""

from itertools import pairwise

import numpy as np

from icub_learning.arrays import Array

KEPT = 5000  # samples in memory, a uniform random choice of all so far
DECAYS = 0.9, 0.999  # decay rates of Adam's two moments (Kingma and Ba, ICLR 2015)


class ReplayNetwork:
    """Two hidden tanh layers of equal `width`, squared error, Adam; one of the `batch` samples of a step is new."""

    def __init__(self, n_inputs: int, n_outputs: int, width: int, rate: float, batch: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        sizes = (n_inputs, width, width, n_outputs)
        self.weights = [self._rng.standard_normal(shape) / np.sqrt(shape[0]) for shape in pairwise(sizes)]
        self.weights += [np.zeros(size) for size in sizes[1:]]
        self._moments = [(np.zeros_like(one), np.zeros_like(one)) for one in self.weights]
        self._rate, self._batch, self._steps, self._seen = rate, batch, 0, 0
        self._x, self._y = np.zeros((KEPT, n_inputs)), np.zeros((KEPT, n_outputs))

    def _layers(self, x: Array) -> list[Array]:
        first, second, last, b1, b2, b3 = self.weights
        one = np.tanh(x @ first + b1)
        two = np.tanh(one @ second + b2)
        return [x, one, two, two @ last + b3]

    def predict(self, x: Array) -> Array:
        return self._layers(x)[-1]

    def gradients(self, x: Array, y: Array) -> list[Array]:
        """Return the gradients of the mean of half the squared errors of x (k, d), y (k, n_outputs)."""
        layers = self._layers(x)
        error = (layers[-1] - y) / len(x)
        weights: list[Array] = []
        biases: list[Array] = []
        for k in (2, 1, 0):
            weights.insert(0, layers[k].T @ error)
            biases.insert(0, error.sum(axis=0))
            error = (error @ self.weights[k].T) * (1.0 - layers[k] ** 2) if k else error
        return weights + biases

    def learn(self, x: Array, y: Array) -> None:
        kept = min(self._seen, KEPT)
        chosen = self._rng.integers(0, kept, self._batch - 1) if kept else np.zeros(0, int)
        gradients = self.gradients(np.vstack([x, self._x[chosen]]), np.vstack([y, self._y[chosen]]))
        self._steps += 1
        for one, gradient, (mean, square) in zip(self.weights, gradients, self._moments, strict=True):
            mean += (1 - DECAYS[0]) * (gradient - mean)
            square += (1 - DECAYS[1]) * (gradient**2 - square)
            corrected = np.sqrt(square / (1 - DECAYS[1] ** self._steps)) + 1e-8
            one -= self._rate * mean / (1 - DECAYS[0] ** self._steps) / corrected
        place = self._seen if self._seen < KEPT else int(self._rng.integers(0, self._seen + 1))
        if place < KEPT:
            self._x[place], self._y[place] = x, y
        self._seen += 1
