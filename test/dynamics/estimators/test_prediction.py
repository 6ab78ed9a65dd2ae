"""Predictors are what an estimator knew at one moment: they answer as it did then, and learning does not reach them."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from helpers.robots import ICUB, RIGHT_ARM

from icub_learning.dynamics import (
    NonparametricEstimator,
    ParametricEstimator,
    SemiparametricEstimator,
    WrenchRegressor,
)

ESTIMATORS = (ParametricEstimator, NonparametricEstimator, SemiparametricEstimator)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_predictor_answers_as_its_estimator_did_whatever_is_learned_since(kind):
    """The weights of experts alone follow what is judged meanwhile: those are the estimator's own."""
    regressor, other = (WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor") for _ in range(2))
    features = {} if kind is ParametricEstimator else {"n_random_features": 300}
    estimator, random = kind(regressor, **features), np.random.default_rng(4)
    for n in (0, 5, 30):
        for _ in range(n):
            x = random.normal(size=(3, 7))
            estimator.update(*x, regressor(*x) @ regressor.nominal_parameters + np.sin(x[0][:6]))
        probe = random.normal(size=(3, 7))
        expected, predictor = estimator.predict(*probe), estimator.predictor(other)
        for _ in range(30):
            x = random.normal(size=(3, 7))
            estimator.update(*x, random.normal(size=6), published=predictor.predict(*x))
        answer = predictor.predict(*probe)
        for field in ("total", "parametric", "residual"):
            np.testing.assert_array_equal(getattr(answer, field), getattr(expected, field))
        assert np.abs(estimator.predict(*probe).total - expected.total).max() > 1e-3
        # Leverages may be those of a few samples ago, when there was less certainty.
        assert (answer.variance >= expected.variance * (1 - 1e-9)).all()
        assert (answer.variance <= 3 * expected.variance).all()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_prediction_cannot_be_changed_and_what_is_added_to_it_knows_no_experts(kind):
    regressor = WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor")
    estimator, random = kind(regressor), np.random.default_rng(5)
    x = random.normal(size=(3, 7))
    estimator.update(*x, random.normal(size=6))
    made = estimator.predict(*x)
    with pytest.raises(FrozenInstanceError):
        made.total = np.zeros(6)
    assert (made.experts is None) == (kind is ParametricEstimator)  # rigid bodies alone have no rivals
    load, variance = np.arange(6.0), np.full(6, 0.5)
    more = made.plus(load, variance)
    np.testing.assert_array_equal(more.total, made.total + load)
    np.testing.assert_array_equal(more.parametric, made.parametric + load)
    np.testing.assert_array_equal(more.residual, made.residual)
    np.testing.assert_array_equal(more.variance, made.variance + variance)
    assert more.experts is None
