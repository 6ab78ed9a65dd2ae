"""Incremental sparse spectrum Gaussian process regression (Gijsberts and Metta, Neural Networks 41, 2013)."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.experiments.peers.likelihood import Kernel
from icub_learning.recursive import RecursiveLeastSquares


class SparseSpectrumProcess:
    """Bayesian linear regression on cosines and sines of random frequencies, one sample after the other.

    The frequencies, half as many as features, are drawn from the spectral density of the kernel; the factor of the
    precision, which outputs share, takes each sample in by a rank-one update, which the core of this package does.
    """

    def __init__(self, kernel: Kernel, n_outputs: int, frequencies: int, seed: int) -> None:
        shape = len(kernel.length_scales), frequencies
        self._frequencies = np.random.default_rng(seed).standard_normal(shape) / kernel.length_scales[:, None]
        self._scale = 1.0 / np.sqrt(frequencies)
        self._rls = RecursiveLeastSquares(2 * frequencies, n_outputs, kernel.noise)

    def features(self, x: Array) -> Array:
        """Return the features (2 frequencies,) of x (d,), of length 1."""
        phases = x @ self._frequencies
        return np.concatenate([np.cos(phases), np.sin(phases)]) * self._scale

    def predict(self, x: Array) -> Array:
        return self._rls.predict(self.features(x))

    def learn(self, x: Array, y: Array) -> None:
        self._rls.update(self.features(x), y)
