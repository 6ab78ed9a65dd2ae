"""The three estimators against batch solutions, the thesis' figure 8.2 written out, and noise they do not know."""

import numpy as np
import pytest
from helpers.robots import ICUB, LEFT_ARM, RIGHT_ARM

from icub_learning.dynamics import (
    NonparametricEstimator,
    ParametricEstimator,
    SemiparametricEstimator,
    WrenchRegressor,
)
from icub_learning.dynamics.estimators.fixed_nonparametric import motion_scale
from icub_learning.errors import NotFiniteError, ParameterError, StateError
from icub_learning.features import RandomFourierFeatures
from icub_learning.models import load_state, save_state

N_WARM_UP = 20
ESTIMATORS = (ParametricEstimator, NonparametricEstimator, SemiparametricEstimator)


@pytest.fixture(scope="module")
def regressor():
    """Inertial parameters alone, as in the thesis."""
    return WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor", offset=False)


@pytest.fixture(scope="module")
def samples(regressor):
    """160 samples of a rigid arm plus a smooth effect of position: list of (q, v, a), and y (160, 6)."""
    random = np.random.default_rng(5)
    states = [tuple(random.normal(size=(3, 7))) for _ in range(160)]
    y = np.array([regressor(*x) @ regressor.nominal_parameters + 0.5 * np.sin(x[0][:6]) for x in states])
    return states, y


def small(kind, regressor):
    """An estimator with few features and a short warm-up."""
    if kind is ParametricEstimator:
        return kind(regressor)
    return kind(regressor, n_random_features=40, length_scale=5.0, n_warm_up=N_WARM_UP)


def taught(kind, regressor, states, y):
    estimator = small(kind, regressor)
    for x, target in zip(states, y, strict=True):
        estimator.update(*x, target)
    return estimator


@pytest.mark.parametrize("prior", ["zero", "nominal"])
def test_parametric_is_ridge_regression_on_the_stacked_regressors(regressor, samples, prior):
    states, y = samples
    estimator = ParametricEstimator(regressor, regularization=0.3, prior=prior, output_weights="equal")
    for x, target in zip(states, y, strict=True):
        estimator.update(*x, target)
    stacked = np.vstack([regressor(*x) for x in states])
    start = regressor.nominal_parameters * (prior == "nominal")
    augmented = np.vstack([stacked, np.sqrt(0.3) * np.eye(50)])
    expected = np.linalg.lstsq(augmented, np.concatenate([y.reshape(-1), np.sqrt(0.3) * start]), rcond=None)[0]
    np.testing.assert_allclose(estimator.parameters, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(estimator.base_parameters, regressor.base_projection @ expected, atol=1e-8)
    assert estimator.n_samples == len(states)


def test_parametric_recovers_the_identifiable_parameters_of_a_rigid_arm(regressor, samples):
    states, _ = samples
    estimator = ParametricEstimator(regressor, regularization=1e-8)
    for x in states:
        estimator.update(*x, regressor(*x) @ regressor.nominal_parameters)
    expected = regressor.base_projection @ regressor.nominal_parameters
    np.testing.assert_allclose(estimator.base_parameters, expected, atol=1e-6)


def ridge(features, targets, regularization):
    gram = features.T @ features + regularization * np.eye(features.shape[1])
    return np.linalg.solve(gram, features.T @ targets)


@pytest.mark.parametrize("errors", [0.0, 0.1])
def test_semiparametric_is_figure_8_2_with_all_residuals_under_the_newest_parameters(regressor, samples, errors):
    """Every prediction equals one made from batch solutions of all that came before it, kept for the purpose.

    With errors, the motion is known worse when the prediction is made than when the sample is learned.
    """
    states, y = samples
    random = np.random.default_rng(11)
    known = [tuple(part + errors * random.normal(size=7) for part in x) for x in states]
    kernel = {"n_random_features": 40, "length_scale": 3.0, "n_warm_up": N_WARM_UP, "seed": 3}
    estimator = SemiparametricEstimator(
        regressor,
        parametric_regularization=0.2,
        nonparametric_regularization=0.05,
        output_weights="equal",
        **kernel,
    )
    features = RandomFourierFeatures(3 * 7 + 6, 40, 3.0, 3)
    exact, seen, inputs = [], [], []
    for k, (x, guess, target) in enumerate(zip(states, known, y, strict=True)):
        pi = ridge(np.vstack(exact), y[:k].reshape(-1), 0.2) if k else np.zeros(50)
        parametric = regressor(*guess) @ pi
        joint = np.concatenate([*guess, parametric])
        residual = np.zeros(6)
        if k > N_WARM_UP:
            warm = np.array(inputs[:N_WARM_UP])
            scale = np.maximum(warm.std(axis=0), np.concatenate([motion_scale(7), np.zeros(6)]))
            rows = features.transform((np.array(inputs[N_WARM_UP:]) - warm.mean(axis=0)) / scale)
            residuals = y[N_WARM_UP:k] - np.array(seen[N_WARM_UP:]) @ pi  # under the pi of now
            residual = features.transform((joint - warm.mean(axis=0)) / scale) @ ridge(rows, residuals, 0.05)
        prediction = estimator.predict(*guess)
        np.testing.assert_allclose(prediction.parametric, parametric, atol=1e-7)
        np.testing.assert_allclose(prediction.residual, residual, atol=1e-7)
        np.testing.assert_allclose(prediction.total, parametric + residual, atol=1e-7)
        estimator.update(*x, target, known=guess)
        exact.append(regressor(*x))
        seen.append(regressor(*guess))
        inputs.append(joint)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_motion_known_badly_is_refused_before_anything_is_learned(regressor, samples, kind):
    states, y = samples
    estimator = taught(kind, regressor, states[:40], y[:40])
    before = estimator.predict(*states[0])
    if kind is not ParametricEstimator:  # which takes no notice of it
        with pytest.raises(NotFiniteError):
            estimator.update(*states[50], y[50], known=(np.full(7, np.nan), *states[50][1:]))
    with pytest.raises(NotFiniteError):
        estimator.update(np.full(7, np.inf), *states[50][1:], y[50], known=states[50])
    np.testing.assert_array_equal(estimator.predict(*states[0]).total, before.total)


def test_nonparametric_is_kernel_ridge_on_standardized_motion(regressor, samples):
    states, y = samples
    estimator = NonparametricEstimator(regressor, 60, 2.5, 0.1, n_warm_up=N_WARM_UP, seed=1)
    for x, target in zip(states, y, strict=True):
        estimator.update(*x, target)
    inputs = np.array([np.concatenate(x) for x in states])
    mean = inputs[:N_WARM_UP].mean(axis=0)
    scale = np.maximum(inputs[:N_WARM_UP].std(axis=0), motion_scale(7))
    rows = RandomFourierFeatures(21, 60, 2.5, 1).transform((inputs - mean) / scale)
    expected = rows[7] @ ridge(rows[N_WARM_UP:], y[N_WARM_UP:], 0.1)
    prediction = estimator.predict(*states[7])
    np.testing.assert_allclose(prediction.total, expected, atol=1e-8)
    np.testing.assert_array_equal(prediction.parametric, 0)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_variance_is_that_of_the_errors_where_the_model_is_right(regressor, kind):
    """Rigid data with known noise: 95 % intervals hold 95 %; far away the learned features are less sure."""
    random = np.random.default_rng(2)
    estimator, noise = small(kind, regressor), np.array([0.5, 0.3, 0.2, 0.02, 0.03, 0.05])
    inside = []
    for k in range(1500):
        x = tuple(random.normal(size=(3, 7)) * np.array([0.05, 0.05, 0.05])[:, None])
        y = regressor(*x) @ regressor.nominal_parameters + noise * random.normal(size=6)
        prediction = estimator.predict(*x)
        if k > 500:
            inside.append(np.abs(y - prediction.total) < 1.96 * np.sqrt(prediction.variance))
        estimator.update(*x, y)
    assert 0.92 < np.mean(inside) < 0.98
    near, far = (estimator.predict(*(scale * np.ones((3, 7)))).variance for scale in (0.01, 20.0))
    assert (far > near).all()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_saved_and_loaded_it_goes_on_as_if_nothing_had_happened(regressor, samples, kind, tmp_path):
    states, y = samples
    estimator = taught(kind, regressor, states[:100], y[:100])
    saved = load_state(save_state(tmp_path / "model", estimator.state()))
    for copy in (kind.from_state(saved), kind.from_state(saved, regressor)):
        assert copy.n_samples == 100
        for x, target in zip(states[100:], y[100:], strict=True):
            copy.update(*x, target)
        reference = taught(kind, regressor, states, y)
        for field in ("total", "parametric", "residual", "variance"):
            np.testing.assert_array_equal(
                getattr(copy.predict(*states[0]), field), getattr(reference.predict(*states[0]), field)
            )


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_state_of_another_robot_or_estimator_is_refused(samples, kind):
    regressor = WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor")
    states, y = samples
    saved = taught(kind, regressor, states[:30], y[:30]).state()
    with pytest.raises(StateError, match="joints"):
        kind.from_state(saved, WrenchRegressor.from_urdf(ICUB, LEFT_ARM, "l_arm_ft_sensor"))
    other = next(entry for entry in ESTIMATORS if entry is not kind)
    with pytest.raises(StateError, match="estimator"):
        other.from_state(saved)
    for key in saved:
        with pytest.raises(StateError):
            kind.from_state({name: value for name, value in saved.items() if name != key})


def test_merged_parametric_equals_having_seen_both(regressor, samples):
    states, y = samples
    first, second, both = (ParametricEstimator(regressor, output_weights="equal") for _ in range(3))
    for estimator, part in ((first, range(70)), (second, range(70, 160)), (both, range(160))):
        for k in part:
            estimator.update(*states[k], y[k])
    first.merge(second)
    np.testing.assert_allclose(first.parameters, both.parameters, rtol=1e-7, atol=1e-9)
    assert first.n_samples == 160


@pytest.mark.parametrize("kind", [NonparametricEstimator, SemiparametricEstimator])
def test_merged_features_pool_if_the_robots_share_them_and_are_refused_if_not(regressor, samples, kind):
    states, y = samples
    common = taught(kind, regressor, states[:N_WARM_UP], y[:N_WARM_UP]).state()
    one, two, both = (kind.from_state(common, regressor) for _ in range(3))
    for x, target in zip(states[20:80], y[20:80], strict=True):
        one.update(*x, target)
    for x, target in zip(states[80:], y[80:], strict=True):
        two.update(*x, target)
    before = one.predict(*states[3]).total
    one.merge(two)
    assert not np.allclose(one.predict(*states[3]).total, before)
    if kind is NonparametricEstimator:  # the other's features see the parametric predictions of their own time
        for x, target in zip(states[20:], y[20:], strict=True):
            both.update(*x, target)
        np.testing.assert_allclose(one.predict(*states[3]).total, both.predict(*states[3]).total, atol=1e-7)
    stranger = taught(kind, regressor, states[50:], y[50:])
    before = one.predict(*states[3]).total
    with pytest.raises(ParameterError, match=r"scale|mean"):
        one.merge(stranger)
    np.testing.assert_array_equal(one.predict(*states[3]).total, before)


def test_a_robot_that_stands_still_during_warm_up_is_not_magnified(regressor):
    random = np.random.default_rng(0)
    estimator = NonparametricEstimator(regressor, 200, n_warm_up=50)
    still = (np.zeros(7), np.zeros(7), np.zeros(7))
    for _ in range(50):
        estimator.update(*still, np.ones(6))
    errors = []
    for _ in range(600):
        x = tuple(random.normal(size=(3, 7)) * np.array([[0.2], [0.2], [1.0]]))
        y = np.sin(x[0][:6])
        errors.append(estimator.predict(*x).total - y)
        estimator.update(*x, y)
    assert np.sqrt(np.mean(np.square(errors[-100:]))) < 0.5 * np.sqrt(np.mean(np.square(errors[:50])))
