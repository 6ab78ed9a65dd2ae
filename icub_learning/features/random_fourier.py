"""Random Fourier features of the Gaussian kernel."""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, integer, real, rows
from icub_learning.errors import ParameterError
from icub_learning.features import _fourier


class FourierFeatures:
    """Base of maps to [cos(omega_j x), sin(omega_j x)] / sqrt(m), j = 1..m; a subclass computes phases omega_j x."""

    def __init__(self, n_inputs: int, n_features: int, length_scale: float = 1.0, seed: int = 0) -> None:
        self.n_inputs = integer("n_inputs", n_inputs, 1)
        self.n_features = integer("n_features", n_features, 2)
        if self.n_features % 2:
            raise ParameterError("n_features", n_features, "even: a cosine and a sine for each frequency")
        self.length_scale = real("length_scale", length_scale, 0.0, low_open=True)
        self.seed = integer("seed", seed, 0)

    def transform(self, x: ArrayLike) -> Array:
        """Map (n_inputs,) to (n_features,) or (k, n_inputs) to (k, n_features); rows have unit norm. Raises ShapeError,
        NotFiniteError, ParameterError (so far out that a phase overflows).
        """
        x_rows, single = rows("x", x, self.n_inputs)
        half = self.n_features // 2
        out = np.empty((len(x_rows), self.n_features))
        with np.errstate(over="ignore", invalid="ignore"):  # the next line finds what is not finite
            phases = self._phases(x_rows)
        if not _fourier.waves(out, phases, len(x_rows), half, 1.0 / sqrt(half)):
            raise ParameterError("x", float(np.abs(x_rows).max()), "small enough for a finite x / length_scale")
        return out[0] if single else out

    def _phases(self, x: Array) -> Array:
        """Return omega_j x, (k, m), for rows x (k, n_inputs)."""
        raise NotImplementedError


class RandomFourierFeatures(FourierFeatures):
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
        super().__init__(n_inputs, n_features, length_scale, seed)
        draw = np.random.default_rng(self.seed).standard_normal((self.n_features // 2, self.n_inputs))
        self.frequencies = draw / self.length_scale  # (n_features / 2, n_inputs), radians per unit of x

    def standardized(self, x: Array, mean: Array, scale: Array) -> Array:
        """Return the row (n_features,) of (x - mean) / scale, all float64 of (n_inputs,), whose sizes are not checked.
        Raises NotFiniteError, ParameterError: as `transform`.
        """
        half = self.n_features // 2
        out, work = np.empty(self.n_features), np.empty(half + self.n_inputs)
        factor = 1.0 / sqrt(half)
        if not _fourier.row(out, work, x, mean, scale, self.frequencies, half, self.n_inputs, factor):
            return self.transform((x - mean) / scale)  # raises the error that names the value
        return out

    def _phases(self, x: Array) -> Array:
        phases: Array = x @ self.frequencies.T
        return phases
