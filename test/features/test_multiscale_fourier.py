"""Random Fourier features of several length scales, written out and beside the kernels that they stand for."""

import numpy as np
import pytest

from icub_learning.features import MultiscaleFourierFeatures

SCALES, LENGTHS = np.array([1.0, 0.5, 4.0]), (0.7, 2.0, 6.0)


def test_waves_are_cosines_then_sines_of_unit_length():
    features = MultiscaleFourierFeatures(SCALES, 8, LENGTHS, seed=5)
    draw = np.random.default_rng(5).standard_normal((12, 3)) / np.repeat(LENGTHS, 4)[:, None]
    for x in np.random.default_rng(0).normal(size=(20, 3)) * 10.0:
        phase = draw @ (x / SCALES)
        expected = np.concatenate([np.cos(phase), np.sin(phase)]) / np.sqrt(12)
        found = features.waves(x)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)
        assert found @ found == pytest.approx(1.0)


def test_products_of_rows_are_the_mean_of_the_kernels():
    features = MultiscaleFourierFeatures(SCALES, 40_000, LENGTHS, seed=1)
    for a, b in np.random.default_rng(2).normal(size=(10, 2, 3)) * SCALES:
        square = np.sum(((a - b) / SCALES) ** 2)
        expected = np.mean([np.exp(-square / (2 * length**2)) for length in LENGTHS])
        assert features.waves(a) @ features.waves(b) == pytest.approx(expected, abs=0.015)  # five standard errors
