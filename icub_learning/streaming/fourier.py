"""Online kernel regression on samples given as dictionaries, by random Fourier features."""

from collections.abc import Hashable
from math import sqrt
from zlib import crc32

import numpy as np

from icub_learning.arrays import Array, integer, real
from icub_learning.errors import ParameterError
from icub_learning.recursive import RecursiveLeastSquares
from icub_learning.streaming.linear import KeptByState, Regressor, Sample, numbers


class RandomFourierRegressor(KeptByState, Regressor):
    """Regression with a Gaussian kernel, approximated by random features, at a fixed cost per sample.

    Recursive least squares on cosines and sines of random combinations of the inputs, see
    `icub_learning.features.RandomFourierFeatures`. The frequencies of an input follow from `seed` and its name, so
    inputs may come at any time and in any order. Scale inputs first: one length scale serves all.

    Raises ParameterError.

    Args:
        n_features: number of random features, even. A sample costs O(n_features^2).
        length_scale: sigma > 0 of exp(-|x - x'|^2 / 2 sigma^2), in the unit of the inputs.
        regularization: lambda > 0; features have unit norm.
        forgetting: in (0, 1]; factor on the weight of all past samples at each new one.
        seed: seed of the frequencies.
    """

    def __init__(
        self, n_features: int = 200, length_scale: float = 1.0, regularization: float = 0.01, forgetting: float = 1.0,
        seed: int = 0,
    ) -> None:  # fmt: skip
        self.n_features = integer("n_features", n_features, 2)
        if n_features % 2:
            raise ParameterError("n_features", n_features, "even: a cosine and a sine for each frequency")
        self.length_scale = real("length_scale", length_scale, 0.0, low_open=True)
        self.regularization, self.forgetting = regularization, forgetting
        self.seed = integer("seed", seed, 0)
        self._learner = RecursiveLeastSquares(n_features, 1, regularization, forgetting)
        self._frequencies: dict[Hashable, Array] = {}

    def learn_one(self, x: Sample, y: float) -> None:
        """Learn one sample, inputs `x` and target `y`. Raises SampleError for a value that is no finite number."""
        target = numbers("y", {"y": y})["y"]
        values = numbers("x", x)
        for name in values:
            if name not in self._frequencies:
                rng = np.random.default_rng([self.seed, crc32(repr(name).encode())])
                self._frequencies[name] = rng.standard_normal(self.n_features // 2)
        self._learner.update(self._features(values), [target])

    def predict_one(self, x: Sample) -> float:
        """Return the prediction, 0 before the first sample; inputs never learned are ignored. Raises SampleError."""
        return float(self._learner.predict(self._features(numbers("x", x)))[0])

    def leverage_one(self, x: Sample) -> float:
        """Return the predictive variance for `x` over the noise variance: small where much was learned."""
        return float(self._learner.leverage(self._features(numbers("x", x))))

    def _features(self, values: dict[Hashable, float]) -> Array:
        phases = np.zeros(self.n_features // 2)
        # A fixed order of summation makes sums equal to the bit.
        for name in sorted(values.keys() & self._frequencies.keys(), key=repr):
            phases += values[name] * self._frequencies[name]
        phases /= self.length_scale
        return np.r_[np.cos(phases), np.sin(phases)] / sqrt(self.n_features // 2)
