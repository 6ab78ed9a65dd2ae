"""Figures of merit against loops and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import mean_squared_error, r2_score

from icub_learning.errors import NotFiniteError, ParameterError, ShapeError
from icub_learning.evaluation import metrics
from icub_learning.evaluation.metrics import group_rmse, mean_rmse, nmse, percentiles, rmse, windowed_rmse

tables = arrays(np.float64, st.tuples(st.integers(2, 30), st.integers(1, 4)), elements=st.floats(-1e3, 1e3, width=32))


@given(tables)
def test_rmse_is_that_of_scikit_learn(errors):
    expected = np.sqrt(mean_squared_error(np.zeros_like(errors), errors, multioutput="raw_values"))
    np.testing.assert_allclose(rmse(errors), expected, rtol=1e-12)
    np.testing.assert_allclose(group_rmse(errors) ** 2, np.mean(expected**2), rtol=1e-12)
    assert mean_rmse(errors) == pytest.approx(sum(expected) / len(expected))


def test_nmse_is_one_minus_r2_nothing_gives_nan_percentiles_have_names_and_bad_input_is_refused():
    rng = np.random.default_rng(0)
    measured = rng.normal(5.0, 2.0, size=(200, 3))
    predicted = measured + rng.normal(size=(200, 3))
    expected = 1 - r2_score(measured, predicted, multioutput="raw_values")
    np.testing.assert_allclose(nmse(predicted - measured, measured), expected, rtol=1e-12)
    assert math.isnan(nmse(np.ones((3, 1)), np.full((3, 1), 0.1))[0])  # NMSE of a constant output
    none = np.empty((0, 2))
    for found in (rmse(none), nmse(none, none), group_rmse(none), mean_rmse(none), list(percentiles([]).values())):
        assert np.isnan(found).all()
    assert windowed_rmse(none, 30).shape == metrics.windowed_mean_rmse(none, 30).shape == (0,)
    assert percentiles(np.arange(101.0)) == {"p50": 50.0, "p99": 99.0, "p99.9": 99.9, "max": 100.0}
    for error, judge, *values in (
        (ShapeError, rmse, [1.0, 2.0]), (ShapeError, nmse, np.ones((3, 2)), np.ones((2, 2))),
        (ShapeError, mean_rmse, [1.0, 2.0]), (ShapeError, metrics.windowed_mean_rmse, np.ones((3, 0)), 2),
        (NotFiniteError, windowed_rmse, [[np.nan]], 3), (ParameterError, windowed_rmse, [[1.0]], 0),
    ):  # fmt: skip
        with pytest.raises(error):
            judge(*values)


@given(tables, st.integers(1, 40))
def test_windowed_errors_are_those_of_loops(errors, window):
    windows = [errors[max(0, i - window + 1) : i + 1] for i in range(len(errors))]
    close = {"rtol": 1e-12, "atol": 1e-150}  # also after much larger errors
    np.testing.assert_allclose(windowed_rmse(errors, window), [np.sqrt(np.mean(some**2)) for some in windows], **close)
    means = [np.mean([math.sqrt(sum(e * e for e in column) / len(column)) for column in some.T]) for some in windows]
    np.testing.assert_allclose(metrics.windowed_mean_rmse(errors, window), means, **close)
