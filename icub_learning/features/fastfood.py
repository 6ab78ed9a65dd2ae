"""Fastfood: random frequencies of the Gaussian kernel, projected on at a cost of log n_inputs for each."""

import numpy as np

from icub_learning.arrays import Array


class FastfoodProjection:
    """x -> phases omega_j^T x for structured frequencies omega_j ~ N(0, sigma^-2 I): (k, n_inputs) to (k, count).

    The frequencies are the rows of blocks S H G P H B / (sigma sqrt(d)), d the next power of two of n_inputs: H the
    Walsh-Hadamard transform, B random signs, P a random permutation, G normal on the diagonal, and S gives each row the
    length of a normal vector (Le, Sarlos, Smola 2013). A projection takes O(count log d) instead of O(count n_inputs),
    and O(count) numbers are kept. Block k depends on the seed and k alone, so fewer phases are the first ones of more.
    """

    def __init__(self, n_inputs: int, count: int, length_scale: float, seed: int) -> None:
        self.count = count
        self._size = size = 1 << (n_inputs - 1).bit_length()
        self.blocks = []
        for k in range(-(-count // size)):
            rng = np.random.default_rng([seed, k])
            signs = rng.choice([-1.0, 1.0], size)
            order = rng.permutation(size)
            gains = rng.standard_normal(size)
            # Rows of H G P H B have length sqrt(size) |gains|; lengths of normal vectors are chi (`size` dimensions).
            lengths = np.sqrt(rng.chisquare(size, size)) / (np.linalg.norm(gains) * np.sqrt(size) * length_scale)
            self.blocks.append((signs, order, gains, lengths))

    def __call__(self, x: Array) -> Array:
        padded = np.zeros((len(x), self._size))
        padded[:, : x.shape[1]] = x
        out = np.empty((len(x), len(self.blocks) * self._size))
        for k, (signs, order, gains, lengths) in enumerate(self.blocks):
            mixed = hadamard(padded * signs)[:, order]
            mixed *= gains
            np.multiply(hadamard(mixed), lengths, out=out[:, k * self._size : (k + 1) * self._size])
        return out[:, : self.count]


def hadamard(x: Array) -> Array:
    """Return the unnormalized Walsh-Hadamard transform of each row of x (k, d), d a power of two."""
    size, width = x.shape[1], 1
    while width < size:
        pairs = x.reshape(len(x), size // (2 * width), 2, width)
        x = np.empty_like(x)
        into = x.reshape(pairs.shape)
        np.add(pairs[:, :, 0], pairs[:, :, 1], out=into[:, :, 0])
        np.subtract(pairs[:, :, 0], pairs[:, :, 1], out=into[:, :, 1])
        width *= 2
    return x
