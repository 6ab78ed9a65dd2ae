"""Filters of predictions: against scipy's exact simulation, and what is chosen against what made the data."""

import numpy as np
import pytest
from scipy.signal import StateSpace, lsim

from icub_learning.dynamics import ParametricEstimator, SemiparametricEstimator, TorqueRegressor
from icub_learning.dynamics.estimators.output_filter import TIME_CONSTANTS, OutputFilter, OutputFilterWeights
from icub_learning.dynamics.estimators.prediction import Prediction
from icub_learning.errors import StateError
from icub_learning.robots import find_urdf

PERIOD = 0.005  # [s]


def low_pass(time_constant, stamps, values):
    """What a first-order low-pass makes of steps (n, m) at stamps [s], step by step by scipy."""
    system = StateSpace([[-1.0 / time_constant]], [[1.0 / time_constant]], [[1.0]], [[0.0]])
    result = [values[0]]
    for before, now, value in zip(stamps[:-1], stamps[1:], values[1:], strict=True):
        columns = [
            lsim(system, np.full(2, u), [0.0, now - before], X0=[x])[1][-1]
            for u, x in zip(value, result[-1], strict=True)
        ]
        result.append(np.array(columns))
    return np.array(result)


def signal(n, seed=0):
    """A prediction of two outputs that changes smoothly, with steps now and then, as friction makes them."""
    rng = np.random.default_rng(seed)
    time = PERIOD * np.arange(n)
    smooth = np.stack([np.sin(3.0 * time), np.cos(2.0 * time)], axis=1)
    return smooth + np.sign(np.sin(2.0 * np.pi * time * rng.uniform(0.8, 1.2)))[:, None]


def prediction(total, weights=None):
    made = Prediction(total, 0.25 * total, 0.75 * total, lambda: np.ones_like(total), np.full_like(total, 0.5), 0.125)
    made.filter_weights = weights
    return made


def learned(predicted, measured):
    """Weights after a sequence, and the errors of what was published."""
    weights, filters, errors = OutputFilterWeights(predicted.shape[1]), OutputFilter(), []
    for place, (total, value) in enumerate(zip(predicted, measured, strict=True)):
        made = filters.filtered(round(place * PERIOD * 1e9), prediction(total, weights.value))
        errors.append(made.total - value)
        weights.update(made, value, PERIOD)
    return weights, np.array(errors)


def mean_time_constants(weights):
    return np.array(TIME_CONSTANTS) @ weights.value


@pytest.mark.parametrize("index", range(len(TIME_CONSTANTS)))
def test_each_filter_is_an_exact_low_pass_at_irregular_stamps(index):
    rng = np.random.default_rng(3)
    stamps = np.cumsum(rng.uniform(0.001, 0.03, 60)).round(9)
    values = rng.normal(size=(60, 2))
    weights = np.zeros((len(TIME_CONSTANTS), 2))
    weights[index] = 1.0
    filters = OutputFilter()
    found = [
        filters.filtered(round(1e9 * stamp), prediction(value, weights))
        for stamp, value in zip(stamps, values, strict=True)
    ]
    expected = low_pass(TIME_CONSTANTS[index], stamps, values) if index else values
    np.testing.assert_allclose([made.total for made in found], expected, atol=1e-9)
    np.testing.assert_allclose([made.parametric for made in found], 0.25 * expected, atol=1e-9)
    np.testing.assert_allclose([made.residual for made in found], 0.75 * expected, atol=1e-9)
    assert all((made.variance == 1.0).all() and (made.noise == 0.5).all() and made.tare == 0.125 for made in found)


def test_a_prediction_without_weights_passes_unchanged():
    made = prediction(np.array([1.0, 2.0]))
    assert OutputFilter().filtered(0, made) is made


def test_after_a_reset_the_filter_begins_at_the_next_prediction():
    weights = np.full((len(TIME_CONSTANTS), 2), 1.0 / len(TIME_CONSTANTS))
    filters = OutputFilter()
    filters.filtered(0, prediction(np.zeros(2), weights))
    late = filters.filtered(5_000_000, prediction(np.ones(2), weights))
    assert (late.total < 0.8).all()
    filters.reset()
    np.testing.assert_allclose(filters.filtered(10_000_000, prediction(np.ones(2), weights)).total, 1.0)


@pytest.mark.parametrize("time_constant", [0.01, 0.03, 0.08])
def test_the_time_constant_that_made_the_data_is_found(time_constant):
    """30 ms lies between two of the filters: a combination of them comes close to it."""
    predicted = signal(4000)
    measured = low_pass(time_constant, PERIOD * np.arange(4000), predicted)
    measured += 0.01 * np.random.default_rng(1).normal(size=measured.shape)
    weights, errors = learned(predicted, measured)
    np.testing.assert_allclose(mean_time_constants(weights), time_constant, rtol=0.2)
    late = slice(2000, None)
    unfiltered = np.mean((predicted - measured)[late] ** 2, axis=0)
    assert (np.mean(errors[late] ** 2, axis=0) < 0.05 * unfiltered).all()


def test_what_is_not_filtered_stays_so():
    predicted = signal(4000)
    measured = predicted + 0.1 * np.random.default_rng(1).normal(size=predicted.shape)
    weights, errors = learned(predicted, measured)
    assert (weights.value[0] > 0.9).all()
    late = slice(2000, None)
    assert (np.mean(errors[late] ** 2, axis=0) < 1.02 * np.mean((predicted - measured)[late] ** 2, axis=0)).all()


def test_nothing_is_filtered_before_the_first_error_nor_learned_from_other_predictions():
    weights = OutputFilterWeights(2)
    weights.update(prediction(np.ones(2)), np.zeros(2), PERIOD)
    weights.update(None, np.zeros(2), PERIOD)
    assert (mean_time_constants(weights) == 0.0).all()
    assert (weights.value.sum(axis=0) == 1.0).all()


def torque_regressor():
    return TorqueRegressor.from_urdf(find_urdf("ur10"), ("shoulder_pan_joint", "elbow_joint"))


@pytest.mark.parametrize("settings", [{}, {"length_scale": 5.0, "nonparametric_regularization": 1.0, "n_warm_up": 5}])
@pytest.mark.parametrize("kind", [SemiparametricEstimator, ParametricEstimator])
def test_the_weights_are_part_of_the_estimator(kind, settings):
    """They follow `published`, are in its predictions and its snapshots, and survive saving; old files have none."""
    regressor = torque_regressor()
    own = {} if kind is ParametricEstimator else {"n_random_features": 40, **settings}
    estimator, filters, drive = kind(regressor, **own), OutputFilter(), OutputFilter()
    one_filter = np.zeros((len(TIME_CONSTANTS), 2))
    one_filter[3] = 1.0
    for step in range(300):
        phase = 0.25 * step * np.array([1.0, 1.25])
        motion = np.sin(phase), 50.0 * np.cos(phase), -2500.0 * np.sin(phase)
        stamp = step * 5_000_000
        needed = prediction(regressor(*motion) @ regressor.nominal_parameters, one_filter)
        measured = drive.filtered(stamp, needed).total
        made = filters.filtered(stamp, estimator.predict(*motion))
        estimator.update(*motion, measured, stamp=stamp, published=made)
    weights = estimator.predict(*motion).filter_weights
    np.testing.assert_allclose(weights.sum(axis=0), 1.0)
    assert (weights[0] < 0.9).all()
    state = estimator.state()
    again = kind.from_state(state, regressor)
    for predictor in (estimator.predictor(regressor), again, again.predictor(regressor)):
        np.testing.assert_array_equal(predictor.predict(*motion).filter_weights, weights)
    older = kind.from_state({key: value for key, value in state.items() if "output_filters" not in key}, regressor)
    assert (older.predict(*motion).filter_weights[0] == 1.0).all()
    name = next(key for key in state if key.endswith("output_filters.weights"))
    with pytest.raises(StateError):
        kind.from_state({**state, name: state[name][:3]}, regressor)
