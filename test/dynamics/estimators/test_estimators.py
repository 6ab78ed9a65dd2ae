"""Properties of all three estimators and their predictors, and rigid bodies alone against batch solutions."""

import pickle

import numpy as np
import pytest
from helpers.robots import ICUB, LEFT_ARM, RIGHT_ARM
from helpers.unchanged import unchanged

from icub_learning.dynamics import NonparametricEstimator, ParametricEstimator, SemiparametricEstimator, WrenchRegressor
from icub_learning.errors import NotFiniteError, ParameterError, StateError

ESTIMATORS = (ParametricEstimator, NonparametricEstimator, SemiparametricEstimator)


@pytest.fixture(scope="module")
def regressor():
    """Return a regressor of inertial parameters alone, as in the thesis."""
    return WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor", offset=False)


def small(kind, regressor, n_random_features=40):
    return kind(regressor) if kind is ParametricEstimator else kind(regressor, n_random_features=n_random_features)


def test_two_features_are_enough_for_six_outputs(regressor):
    assert small(NonparametricEstimator, regressor, 2).predict(*np.ones((3, 7))).total.tolist() == [0.0] * 6


def test_the_past_fades_as_often_as_samples_came_not_only_as_were_learned(regressor):
    once, often = ParametricEstimator(regressor, forgetting=0.99), ParametricEstimator(regressor, forgetting=1.0)
    often.forget(0.99)
    random, true = np.random.default_rng(0), regressor.nominal_parameters
    for motion in random.normal(size=(120, 3, 7)):
        y = regressor(*motion) @ true
        once.update(*motion, y, count=5)
        for _ in range(5):
            often.update(*motion, y)
        true = regressor.nominal_parameters * (1.0 + 0.01 * random.integers(60))  # the body changes all the time
    np.testing.assert_allclose(once.parameters, often.parameters, rtol=0.02, atol=0.02 * np.abs(true).max())
    again, changed = ParametricEstimator.from_state(once.state(), regressor), ParametricEstimator(regressor)
    changed.body_changed(9.0)  # it forgets more with each sample from now on
    for one in (once, again, changed):
        one.update(*motion, y)
        with unchanged(one), pytest.raises(NotFiniteError):
            one.update(*motion, np.full(6, np.nan), count=5)
    np.testing.assert_array_equal(again.parameters, once.parameters)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_sample_that_stands_for_thousands_leaves_all_numbers_finite(kind):
    own = {"forgetting": 0.9} | ({"offset_forgetting": 0.9} if kind is ParametricEstimator else {})
    estimator = kind(WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor"), **own)
    for count in (1, 1700, 3000, 8000, 1):
        estimator.update(*np.ones((3, 7)), np.ones(6), count=count)
    assert all(np.isfinite(one).all() for one in estimator.state().values() if one.dtype.kind == "f")


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("what, value", [("joints", RIGHT_ARM[::-1]), ("direction", "child_to_parent")])
def test_outputs_and_inputs_of_another_meaning_are_neither_pooled_nor_loaded(regressor, kind, what, value):
    given = {"joints": RIGHT_ARM, "sensor": "r_arm_ft_sensor", "offset": False} | {what: value}
    other, one = small(kind, WrenchRegressor.from_urdf(ICUB, **given)), small(kind, regressor)
    one.update(*np.ones((3, 7)), np.ones(6))
    with unchanged(one), pytest.raises(ParameterError, match=rf"{what} of the other model"):
        one.merge(other)
    with pytest.raises(StateError, match=rf"{what} of the saved model"):
        kind.from_state(other.state(), regressor)


@pytest.mark.parametrize("prior", ["zero", "nominal"])
def test_parametric_is_ridge_regression_on_the_stacked_regressors(regressor, prior):
    """Samples of a rigid arm plus a smooth effect of position."""
    states = np.random.default_rng(5).normal(size=(160, 3, 7))
    y = np.array([regressor(*x) @ regressor.nominal_parameters + 0.5 * np.sin(x[0][:6]) for x in states])
    estimator = ParametricEstimator(regressor, regularization=0.3, prior=prior, output_weights="equal")
    for x, target in zip(states, y, strict=True):
        estimator.update(*x, target)
    stacked, start = np.vstack([regressor(*x) for x in states]), regressor.nominal_parameters * (prior == "nominal")
    augmented = np.vstack([stacked, np.sqrt(0.3) * np.eye(50)])
    expected = np.linalg.lstsq(augmented, np.concatenate([y.reshape(-1), np.sqrt(0.3) * start]), rcond=None)[0]
    np.testing.assert_allclose(estimator.parameters, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(estimator.base_parameters, regressor.base_projection @ expected, atol=1e-8)
    assert estimator.n_samples == len(states)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_variance_is_that_of_the_errors_where_the_model_is_right(regressor, kind):
    """Rigid data with known noise: 95 % intervals hold 95 %; far away the learned features are less sure."""
    random = np.random.default_rng(2)
    estimator, noise = small(kind, regressor), np.array([0.5, 0.3, 0.2, 0.02, 0.03, 0.05])
    inside = []
    assert np.isinf(estimator.predict(*np.zeros((3, 7))).variance).all()
    for k in range(1500):
        x = tuple(random.normal(size=(3, 7)) * np.array([0.05, 0.05, 0.05])[:, None])
        y = regressor(*x) @ regressor.nominal_parameters + noise * random.normal(size=6)
        prediction = estimator.predict(*x)
        if k > 500:
            inside.append(np.abs(y - prediction.total) < 1.96 * np.sqrt(prediction.variance))
        estimator.update(*x, y)
    assert 0.92 < np.mean(inside) < 0.98
    near, far = (estimator.predict(*(scale * np.ones((3, 7)))).variance for scale in (0.01, 20.0))
    assert (far > 5.0 * near).all()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_state_of_another_robot_or_estimator_is_refused(kind):
    saved = small(kind, WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor")).state()
    with pytest.raises(StateError, match="joints"):
        kind.from_state(saved, WrenchRegressor.from_urdf(ICUB, LEFT_ARM, "l_arm_ft_sensor"))
    other = next(entry for entry in ESTIMATORS if entry is not kind)
    with pytest.raises(StateError, match="estimator"):
        other.from_state(saved)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_predictor_answers_as_its_estimator_did_whatever_is_learned_since(kind):
    """Only the weights of experts follow what is judged meanwhile: they are the estimator's own."""
    regressor, other = (WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor") for _ in range(2))
    estimator, random = small(kind, regressor, 300), np.random.default_rng(4)
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
        # Others weigh an answer by confidences of the motion before it.
        assert kind is not ParametricEstimator or (predictor.answer(*probe).settle() == answer.variance).all()
        for field in ("total", "parametric", "residual"):
            np.testing.assert_array_equal(getattr(answer, field), getattr(expected, field))
        assert np.abs(estimator.predict(*probe).total - expected.total).max() > 1e-3
        assert len(pickle.dumps(answer)) < 60_000  # it does not hold the learner
        # Leverages may be those of a few samples ago, when there was less certainty.
        assert (answer.variance >= expected.variance * (1 - 1e-9)).all()
        assert (answer.variance <= 3 * expected.variance).all()
