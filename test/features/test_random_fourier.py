"""Random Fourier features, of one length scale and of several, against the Gaussian kernels that they approximate."""

import numpy as np
import pytest
from helpers.versions import every_version
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

from icub_learning.errors import NotFiniteError
from icub_learning.features import MultiscaleFourierFeatures, RandomFourierFeatures, _fourier

version = every_version(_fourier)
SCALES, LENGTHS = np.array([1.0, 0.5, 4.0]), (0.7, 2.0, 6.0)  # input scales; length scales of features


def test_a_row_is_cosines_then_sines_of_the_phases():
    features, x = RandomFourierFeatures(3, 8, 0.7, seed=5), np.array([0.1, -2.0, 0.4])
    phase = features.frequencies @ x
    np.testing.assert_allclose(features.transform(x), np.append(np.cos(phase), np.sin(phase)) / np.sqrt(4), rtol=1e-14)


@pytest.mark.parametrize("length_scale", [0.5, 2.0])
def test_inner_products_are_the_kernel_within_their_standard_error(length_scale):
    a, b = np.random.default_rng(0).normal(size=(2, 40, 4))
    exact, n_frequencies = RBF(length_scale)(a, b), 5000
    features = RandomFourierFeatures(4, 2 * n_frequencies, length_scale, seed=3)
    # Var cos(w.(a - b)) = (1 + k(a, b)^4) / 2 - k(a, b)^2 for one frequency.
    error = np.sqrt(((1 + exact**4) / 2 - exact**2) / n_frequencies)
    standardized = (features.transform(a) @ features.transform(b).T - exact) / error
    assert np.abs(standardized).max() < 5 and 0.5 < standardized.std() < 1.5


@pytest.mark.parametrize("largest", [1.0, 1e2, 1e4, 0.99e5, 1.01e5, 1e9, 1e15])
@pytest.mark.parametrize("half", [1, 7, 8, 1000])
def test_compiled_waves_are_cosines_and_sines(version, largest, half):
    random = np.random.default_rng(half)
    phase = largest * random.uniform(-1.0, 1.0, (3, half))
    phase[0, 0] = 0.0
    phase[1, : half // 2] = np.pi / 4 * random.integers(-1000, 1000, half // 2)  # the polynomial changes here
    out = np.full((3, 2 * half), np.nan)
    assert _fourier.waves(out, phase, 3, half, 0.5)
    np.testing.assert_allclose(out, 0.5 * np.hstack([np.cos(phase), np.sin(phase)]), rtol=0.0, atol=1.2e-16)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_compiled_waves_say_what_is_not_finite(version, bad):
    phase = np.zeros((2, 9))
    phase[1, 4] = bad
    assert not _fourier.waves(np.empty((2, 18)), phase, 2, 9, 1.0)


@pytest.mark.parametrize(("rows", "half"), [(-1, 4), (1, 0), (2, 4), (1, 5), (2**62, 2**62)])
def test_compiled_waves_refuse_sizes_that_do_not_fit(rows, half):
    with pytest.raises(ValueError):
        _fourier.waves(np.empty(8), np.empty(4), rows, half, 1.0)


def test_rows_take_inputs_that_cannot_be_written_to(version):
    features, x, mean, scale = RandomFourierFeatures(3, 40, 2.0), np.arange(3.0), np.ones(3), np.full(3, 2.0)
    expected = features.transform((x - mean) / scale)
    for array in (x, mean, scale):
        array.flags.writeable = False
    np.testing.assert_allclose(features.standardized(x, mean, scale), expected, rtol=0.0, atol=1e-14)


@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=50)
def test_standardized_row_is_the_row_of_the_standardized_input(n_inputs, half, seed):
    random, features = np.random.default_rng(seed), RandomFourierFeatures(n_inputs, 2 * half, 2.0, seed)
    x, mean, scale = random.normal(size=n_inputs), random.normal(size=n_inputs), random.uniform(0.1, 10.0, n_inputs)
    expected = features.transform((x - mean) / scale)
    np.testing.assert_allclose(features.standardized(x, mean, scale), expected, rtol=0.0, atol=1e-12)
    x[0] = np.nan
    with pytest.raises(NotFiniteError):
        features.standardized(x, mean, scale)


def test_waves_are_cosines_then_sines_of_unit_length():
    features = MultiscaleFourierFeatures(SCALES, 8, LENGTHS, seed=5)
    draw = np.random.default_rng(5).standard_normal((12, 3)) / np.repeat(LENGTHS, 4)[:, None]
    for x in np.random.default_rng(0).normal(size=(20, 3)) * 10.0:
        phase = draw @ (x / SCALES)
        expected = np.append(np.cos(phase), np.sin(phase)) / np.sqrt(12)
        np.testing.assert_allclose(features.waves(x), expected, rtol=0.0, atol=1e-12)
