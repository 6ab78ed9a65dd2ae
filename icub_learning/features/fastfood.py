"""Fastfood features: random Fourier features of the Gaussian kernel whose projection costs log n_inputs a feature."""

from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, integer, real, rows
from icub_learning.errors import ParameterError


class FastfoodFeatures:
    """Maps x to cosines and sines of structured random projections.

    As RandomFourierFeatures, but the frequencies are the rows of blocks S H G P H B / (sigma sqrt(d)), d the next power
    of two of n_inputs: H the Walsh-Hadamard transform, B random signs, P a random permutation, G normal on the
    diagonal, S gives each row the length of a normal vector (Le, Sarlos, Smola 2013). A projection takes
    O(n_features log d) instead of O(n_features n_inputs), and O(n_features) numbers are kept. Block k depends on
    the seed and k alone: fewer features are the first of more.

    Args:
        n_inputs: length of x.
        n_features: length of a row, even: one cosine and one sine for each frequency.
        length_scale: sigma > 0, in the unit of x.
        seed: of the draw; equal seeds give equal maps.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(self, n_inputs: int, n_features: int, length_scale: float = 1.0, seed: int = 0) -> None:
        self.n_inputs = integer("n_inputs", n_inputs, 1)
        self.n_features = integer("n_features", n_features, 2)
        if self.n_features % 2:
            raise ParameterError("n_features", n_features, "even: a cosine and a sine for each frequency")
        self.length_scale = real("length_scale", length_scale, 0.0, low_open=True)
        self.seed = integer("seed", seed, 0)
        self._projection = FastfoodProjection(self.n_inputs, self.n_features // 2, self.length_scale, self.seed)

    def transform(self, x: ArrayLike) -> Array:
        """Map (n_inputs,) to (n_features,) or (k, n_inputs) to (k, n_features); rows have unit norm.

        Raises:
            ShapeError, NotFiniteError, ParameterError (so far out that a phase overflows).
        """
        x_rows, single = rows("x", x, self.n_inputs)
        half = self.n_features // 2
        out = np.empty((len(x_rows), self.n_features))
        with np.errstate(over="ignore", invalid="ignore"):
            phase = self._projection(x_rows)
            np.cos(phase, out=out[:, :half])
            np.sin(phase, out=out[:, half:])
        out *= 1.0 / np.sqrt(half)
        if not isfinite(out.sum()):
            raise ParameterError("x", float(np.abs(x_rows).max()), "small enough for a finite x / length_scale")
        return out[0] if single else out


class FastfoodProjection:
    """x (k, n_inputs) to phases omega_j^T x (k, count), for structured frequencies omega ~ N(0, sigma^-2 I)."""

    def __init__(self, n_inputs: int, count: int, length_scale: float, seed: int) -> None:
        self.count = count
        self._size = size = 1 << (n_inputs - 1).bit_length()
        self._blocks = []
        for k in range(-(-count // size)):
            rng = np.random.default_rng([seed, k])
            signs = rng.choice([-1.0, 1.0], size)
            order = rng.permutation(size)
            gains = rng.standard_normal(size)
            # A row of H G P H B has length sqrt(size) |gains|; that of a normal vector in `size` dimensions is chi.
            lengths = np.sqrt(rng.chisquare(size, size)) / (np.linalg.norm(gains) * np.sqrt(size) * length_scale)
            self._blocks.append((signs, order, gains, lengths))

    def __call__(self, x: Array) -> Array:
        padded = np.zeros((len(x), self._size))
        padded[:, : x.shape[1]] = x
        out = np.empty((len(x), len(self._blocks) * self._size))
        for k, (signs, order, gains, lengths) in enumerate(self._blocks):
            mixed = hadamard(padded * signs)[:, order]
            mixed *= gains
            np.multiply(hadamard(mixed), lengths, out=out[:, k * self._size : (k + 1) * self._size])
        return out[:, : self.count]


def hadamard(x: Array) -> Array:
    """The Walsh-Hadamard transform of each row (k, d), d a power of two, not normalized; x may be overwritten."""
    size = x.shape[1]
    width = 1
    while width < size:
        pairs = x.reshape(len(x), size // (2 * width), 2, width)
        x = np.empty_like(x)
        into = x.reshape(pairs.shape)
        np.add(pairs[:, :, 0], pairs[:, :, 1], out=into[:, :, 0])
        np.subtract(pairs[:, :, 0], pairs[:, :, 1], out=into[:, :, 1])
        width *= 2
    return x
