"""Random Fourier features of several length scales at once."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from icub_learning.arrays import Array, integer, real, vector
from icub_learning.errors import ParameterError
from icub_learning.features import _fourier


class MultiscaleFourierFeatures:
    """Maps x to one row of random Fourier features for each of several Gaussian kernels of different length scales.

    Row s holds [cos(omega_j x), sin(omega_j x)] / sqrt(m) with m = n_features / 2 frequencies of its own, drawn from
    N(0, 1 / length_scales[s]^2) for inputs divided by `input_scales`; see RandomFourierFeatures. Rows are computed
    together.

    Args:
        input_scales: (n_inputs,), above 0, units of the inputs.
        n_features: length of each row, even.
        length_scales: length scales of the kernels on x / input_scales, each above 0.
        seed: seed of the draw; equal seeds give equal maps.

    Raises:
        ParameterError, ShapeError, NotFiniteError: an argument is outside its range.
    """

    def __init__(self, input_scales: Array, n_features: int, length_scales: Sequence[float], seed: int = 0) -> None:
        self.n_inputs = len(input_scales)
        self.input_scales = vector("input_scales", input_scales, self.n_inputs).copy()
        if (self.input_scales <= 0).any():
            raise ParameterError("input_scales", float(self.input_scales.min()), "above 0")
        self.n_features = integer("n_features", n_features, 2)
        if self.n_features % 2:
            raise ParameterError("n_features", n_features, "even: a cosine and a sine for each frequency")
        self.length_scales = tuple(real("length_scales", value, 0.0, low_open=True) for value in length_scales)
        self.seed = integer("seed", seed, 0)
        scales = np.repeat(self.length_scales, self.n_features // 2)[:, None]
        draw = np.random.default_rng(self.seed).standard_normal((len(scales), self.n_inputs))
        self.frequencies = draw / scales  # (n_length_scales * n_features / 2, n_inputs)
        self._center = np.zeros(self.n_inputs)

    def waves(self, x: Array) -> Array:
        """All cosines, then all sines, (2 * n_length_scales * n_features / 2,), of one x (n_inputs,). Raises
        NotFiniteError, ParameterError: x is not finite, or so far out that a phase overflows.
        """
        half = len(self.frequencies)
        out, work = np.empty(2 * half), np.empty(half + self.n_inputs)
        size = 1.0 / sqrt(half)
        if not _fourier.row(out, work, x, self._center, self.input_scales, self.frequencies, half, self.n_inputs, size):
            vector("x", x, self.n_inputs)  # which says what is not finite
            raise ParameterError("x", float(np.abs(x).max()), "small enough for a finite x / length_scale")
        return out
