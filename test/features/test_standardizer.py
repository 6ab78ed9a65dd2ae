"""The running standardizer against mean and variance of all samples at once, in extended precision."""

import numpy as np
import pytest
from helpers.unchanged import unchanged
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from icub_learning.errors import NotFiniteError, ParameterError, ShapeError, StateError
from icub_learning.features import Standardizer


@settings(deadline=None)
@given(
    st.integers(0, 2**31), st.integers(1, 6), st.integers(2, 80), st.lists(st.integers(0, 80), max_size=4),
    st.sampled_from([0.0, 1.0, 1e6, -1e9]), st.sampled_from([1e-3, 1.0, 1e5]),
)  # fmt: skip
def test_mean_and_scale_of_any_split_are_those_of_all_samples(seed, n_inputs, n, cuts, offset, spread):
    assume(spread > 1e-10 * abs(offset))  # smaller spreads count as standing still
    x = offset + spread * np.random.default_rng(seed).normal(size=(n, n_inputs))
    standardizer, cuts = Standardizer(n_inputs), sorted(min(cut, n) for cut in cuts)
    for start, stop in zip([0, *cuts], [*cuts, n], strict=True):
        standardizer.update(x[start:stop])
    exact = x.astype(np.longdouble)
    rounding = 1e-15 * abs(offset)  # rounding of the samples themselves
    mean = exact.mean(axis=0).astype(float)
    np.testing.assert_allclose(standardizer.mean, mean, rtol=1e-13, atol=10 * rounding + 1e-14 * spread)
    np.testing.assert_allclose(standardizer.scale, exact.std(axis=0).astype(float), rtol=1e-9, atol=100 * rounding)
    assert standardizer.n_samples == n
    standardized = standardizer.transform(x)
    np.testing.assert_allclose(standardized.mean(axis=0), 0.0, atol=1e-9 + 100 * rounding / spread)
    np.testing.assert_allclose(standardized.std(axis=0), 1.0, rtol=1e-6 + 100 * rounding / spread)


@pytest.mark.parametrize(("two", "scale"), [
    *(([x - by, x + by], by) for x, by in [(0.0, 1e-15), (0.0, 1e-150), (1.0, 1e-10), (100.0, 1e-8), (1e6, 1e-3)]),
    ([0.3, 0.1 + 0.2], 1.0)])  # fmt: skip
def test_a_small_movement_is_a_movement_and_rounding_is_not_magnified(two, scale):
    standardizer = Standardizer(1)
    standardizer.update(np.resize(two, 100)[:, None])
    assert standardizer.scale[0] == pytest.approx(scale, rel=1e-3 * (scale < 1.0), abs=0.0)


def test_no_samples_and_no_inputs_at_all():
    for bad in (0, -1, 1.5, None):
        with pytest.raises(ParameterError, match="n_inputs"):
            Standardizer(bad)
    standardizer = Standardizer(2)
    np.testing.assert_array_equal(standardizer.transform([3.0, -4.0]), [3.0, -4.0])
    standardizer.update(np.empty((0, 2)))
    assert standardizer.n_samples == 0 and standardizer.transform(np.empty((0, 2))).shape == (0, 2)


@pytest.mark.parametrize(("x", "error"), [
    ([1.0, np.nan], NotFiniteError), ([np.inf, 0.0], NotFiniteError), ([1.0], ShapeError), (2.0, ShapeError),
    ([[0.0, 1.0], [np.nan, 0.0]], NotFiniteError), ([1e200, 0.0], ParameterError),
])  # fmt: skip
def test_bad_samples_are_refused_and_change_nothing(x, error):
    standardizer = Standardizer(2)
    standardizer.update([[1.0, 2.0], [3.0, 5.0]])
    with unchanged(standardizer), pytest.raises(error, match="x"):
        standardizer.update(x)
    if error is not ParameterError:  # too large to be squared, which only learning does
        with pytest.raises(error, match="x"):
            standardizer.transform(x)


@pytest.mark.parametrize("spoil", [{"mean": np.zeros(3)}, {"mean": np.zeros((2, 1))}, {"squares": [-1.0, 0.0]}])
def test_a_state_that_describes_no_standardizer_is_refused(spoil):
    with pytest.raises(StateError):
        Standardizer.from_state({**Standardizer(2).state(), **spoil})


def test_a_restored_standardizer_scales_as_before():
    standardizer = Standardizer(2)
    standardizer.update([[1.0, 2.0], [3.0, 5.0]])
    restored = Standardizer.from_state(standardizer.state())
    np.testing.assert_array_equal(restored.transform([2.0, 2.0]), standardizer.transform([2.0, 2.0]))
