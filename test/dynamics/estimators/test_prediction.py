"""Predictors are what an estimator knew at one moment: they answer as it did then, and learning does not reach them."""

import numpy as np
import pytest
from helpers.robots import ICUB, RIGHT_ARM

from icub_learning.dynamics import (
    NonparametricEstimator,
    ParametricEstimator,
    Prediction,
    SemiparametricEstimator,
    WrenchRegressor,
)
from icub_learning.recursive import RecursiveLeastSquares

ESTIMATORS = (ParametricEstimator, NonparametricEstimator, SemiparametricEstimator)


def motion(random):
    return tuple(random.normal(size=(3, 7)))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_predictor_answers_as_its_estimator_did_whatever_is_learned_since(kind):
    regressor, other = (WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor") for _ in range(2))
    features = {} if kind is ParametricEstimator else {"n_random_features": 300, "n_warm_up": 10}
    estimator, random = kind(regressor, **features), np.random.default_rng(4)
    for n in (5, 30):  # during the warm-up too
        for _ in range(n):
            x = motion(random)
            estimator.update(*x, regressor(*x) @ regressor.nominal_parameters + np.sin(x[0][:6]))
        probe = motion(random)
        expected, predictor = estimator.predict(*probe), estimator.predictor(other)
        for _ in range(30):
            estimator.update(*motion(random), random.normal(size=6))
        answer = predictor.predict(*probe)
        for field in ("total", "parametric", "residual"):
            np.testing.assert_allclose(getattr(answer, field), getattr(expected, field), rtol=1e-12, atol=1e-12)
            assert (
                kind is not ParametricEstimator
                or field != "total"
                or (np.abs(estimator.predict(*probe).total - expected.total).max() > 1e-3)
            )
        # Leverages may be those of a few samples ago, when there was less certainty.
        assert (answer.variance >= expected.variance * (1 - 1e-9)).all()
        assert (answer.variance <= 3 * expected.variance).all()


def test_certainty_is_the_leverage_of_its_moment():
    random = np.random.default_rng(0)
    learner = RecursiveLeastSquares(40, 2, 0.1)
    rows = random.normal(size=(60, 40))
    learner.update(rows[:30], random.normal(size=(30, 2)))
    certainty, probe = learner.certainty(), random.normal(size=(3, 40))
    expected = np.einsum("ki,ij,kj->k", probe, np.linalg.inv(rows[:30].T @ rows[:30] + 0.1 * np.eye(40)), probe)
    learner.update(rows[30:], random.normal(size=(30, 2)))
    np.testing.assert_allclose(certainty.leverage(probe), expected, rtol=1e-9)
    assert certainty.leverage(probe[1]) == pytest.approx(expected[1], rel=1e-9)


def test_a_variance_is_found_once_and_only_when_asked_for():
    asked = []

    def find():
        asked.append(True)
        return np.ones(2)

    prediction = Prediction(np.zeros(2), np.zeros(2), np.zeros(2), find)
    assert not asked
    assert prediction.variance is prediction.evaluated().variance
    assert len(asked) == 1
    assert "_evaluate" not in vars(prediction)
