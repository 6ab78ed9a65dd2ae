"""Random Fourier features of the Gaussian kernel, of one length scale and of several at once."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, integer, real, rows, vector
from icub_learning.errors import ParameterError
from icub_learning.features import _fourier


class RandomFourierFeatures:
    """Maps x to cosines and sines whose inner products approximate the Gaussian kernel exp(-||x - x'||^2 / 2 sigma^2).

    With frequencies omega_1..omega_m drawn from N(0, sigma^-2 I), m = n_features / 2, the row is
    [cos(omega_j x), sin(omega_j x)] / sqrt(m): of unit norm for every x, and unbiased for the kernel (thesis 8.2.2,
    eq. 8.8-8.9, whose printed variance sigma^2 of the frequencies is a misprint for sigma^-2).

    Args:
        n_inputs: length of x.
        n_features: length of a row, even: one cosine and one sine for each frequency.
        length_scale: sigma > 0, in the unit of x.
        seed: seed of the random frequencies; equal seeds give equal maps.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(self, n_inputs: int, n_features: int, length_scale: float = 1.0, seed: int = 0) -> None:
        self.n_inputs = integer("n_inputs", n_inputs, 1)
        self.n_features = _even(n_features)
        self.length_scale = real("length_scale", length_scale, 0.0, low_open=True)
        self.seed = integer("seed", seed, 0)
        draw = np.random.default_rng(self.seed).standard_normal((self.n_features // 2, self.n_inputs))
        self.frequencies = draw / self.length_scale  # (n_features / 2, n_inputs), radians per unit of x

    def transform(self, x: ArrayLike) -> Array:
        """Map (n_inputs,) or (k, n_inputs). Raises ShapeError, NotFiniteError, ParameterError: a phase overflows."""
        x_rows, single = rows("x", x, self.n_inputs)
        half = self.n_features // 2
        out = np.empty((len(x_rows), self.n_features))
        with np.errstate(over="ignore", invalid="ignore"):  # the next line finds what is not finite
            phases = x_rows @ self.frequencies.T
        if not _fourier.waves(out, phases, len(x_rows), half, 1.0 / sqrt(half)):
            raise _too_far(x_rows)
        return out[0] if single else out

    def standardized(self, x: Array, mean: Array, scale: Array) -> Array:
        """Return the row (n_features,) of (x - mean) / scale, float64 of unchecked size. Raises as `transform`."""
        return _row(x, mean, scale, self.frequencies)


class MultiscaleFourierFeatures:
    """Maps x to one row of random Fourier features for each of several Gaussian kernels of different length scales.

    Row s holds [cos(omega_j x), sin(omega_j x)] / sqrt(m) with m = n_features / 2 frequencies of its own, drawn from
    N(0, 1 / length_scales[s]^2) for inputs divided by `input_scales`.

    Args:
        input_scales: (n_inputs,), above 0, units of the inputs.
        n_features, seed: see RandomFourierFeatures; the length is that of each row.
        length_scales: length scales of the kernels on x / input_scales, each above 0.

    Raises:
        ParameterError, ShapeError, NotFiniteError: an argument is outside its range.
    """

    def __init__(self, input_scales: Array, n_features: int, length_scales: Sequence[float], seed: int = 0) -> None:
        self.n_inputs = len(input_scales)
        self.input_scales = vector("input_scales", input_scales, self.n_inputs).copy()
        if (self.input_scales <= 0).any():
            raise ParameterError("input_scales", float(self.input_scales.min()), "above 0")
        self.n_features = _even(n_features)
        self.length_scales = tuple(real("length_scales", value, 0.0, low_open=True) for value in length_scales)
        self.seed = integer("seed", seed, 0)
        scales = np.repeat(self.length_scales, self.n_features // 2)[:, None]
        draw = np.random.default_rng(self.seed).standard_normal((len(scales), self.n_inputs))
        self.frequencies = draw / scales  # (n_length_scales * n_features / 2, n_inputs)
        self._center = np.zeros(self.n_inputs)

    def waves(self, x: Array) -> Array:
        """Return all cosines, then all sines, (2 * n_length_scales * n_features / 2,), of one x (n_inputs,). Raises
        NotFiniteError, ParameterError: x is not finite, or so far out that a phase overflows."""
        return _row(x, self._center, self.input_scales, self.frequencies)


def _even(n_features: int) -> int:
    count = integer("n_features", n_features, 2)
    if count % 2:
        raise ParameterError("n_features", n_features, "even: a cosine and a sine for each frequency")
    return count


def _row(x: Array, mean: Array, scale: Array, frequencies: Array) -> Array:
    """Return all cosines, then all sines, of (x - mean) / scale, divided by the square root of their number."""
    half, n_inputs = frequencies.shape
    out, work = np.empty(2 * half), np.empty(half + n_inputs)
    if not _fourier.row(out, work, x, mean, scale, frequencies, half, n_inputs, 1.0 / sqrt(half)):
        vector("x", x, n_inputs)  # raises NotFiniteError that names what is not finite
        raise _too_far(x)
    return out


def _too_far(x: Array) -> ParameterError:
    return ParameterError("x", float(np.abs(x).max()), "small enough for a finite x / length_scale")
