"""The aggregate of P, NP and SP: each expert against a batch solution, the choice among them, variance and pooling."""

import numpy as np
import pytest

from icub_learning.dynamics import NonparametricEstimator, Prediction, SemiparametricEstimator
from icub_learning.dynamics.estimators.aggregate import expert_pool
from icub_learning.dynamics.estimators.noise.calibrated_variance import CalibratedVariance
from icub_learning.errors import ParameterError

N = 40  # of features, of all length scales together


class Arm:
    """One joint with inertia, gravity and friction: small and exact."""

    n_joints, n_outputs, n_parameters, n_base = 1, 1, 3, 3
    joints = output_names = ("joint",)
    parameter_names = ("I", "mgl", "b")
    nominal_parameters = np.array([0.5, 2.0, 0.3])
    base_projection = np.eye(3)

    def __call__(self, q, v, a):
        return np.array([[a[0], np.sin(q[0]), v[0]]])

    def state(self):
        return {}


def motions(n, rng, speed=1.0):
    """States of a smooth motion at 100 Hz, (n, 3, 1)."""
    t = 0.01 * np.arange(n)
    frequencies, phases = rng.uniform(0.5, 2.0, 5) * speed, rng.uniform(0, 6, 5)
    angle = t[:, None] * frequencies + phases
    states = np.stack([np.sin(angle), frequencies * np.cos(angle), -(frequencies**2) * np.sin(angle)]).mean(axis=-1)
    return states.T[:, :, None]


def learn(estimator, states, y):
    """Predictions and variances before each sample was learned."""
    told = []
    for k, (state, target) in enumerate(zip(states, y, strict=True)):
        prediction = estimator.predict(*state)
        told.append((prediction.total, prediction.variance))
        estimator.update(*state, target, stamp=k * 10_000_000)
    return np.array(told)[:, :, 0].T


def test_the_experts_np_are_ridge_regressions_and_the_total_is_their_mixture():
    rng = np.random.default_rng(0)
    states, regressor = motions(400, rng), Arm()
    y = np.sin(3 * states[:, 0]) + 0.1 * rng.normal(size=(400, 1))
    estimator = NonparametricEstimator(regressor, n_random_features=N, seed=3)
    learn(estimator, states, y)
    pool = estimator.method._pool
    expected, probe = 0.0, motions(1, np.random.default_rng(9))[0]
    for s, scale in enumerate(expert_pool.LENGTH_SCALES):
        half = N // (2 * len(expert_pool.LENGTH_SCALES))
        frequencies = pool.features.frequencies[s * half : (s + 1) * half] / expert_pool.INPUT_SCALES

        def row(x, frequencies=frequencies, half=half):
            phase = x.reshape(-1, 3) @ frequencies.T
            return np.concatenate([np.cos(phase), np.sin(phase)], axis=1) / np.sqrt(half)

        z = row(states)
        for value in expert_pool.REGULARIZATIONS:
            weights = np.linalg.solve(z.T @ z + value * np.eye(2 * half), z.T @ y)
            expected += estimator.expert_weights[f"NP {scale:g} {value:g}"] * (row(probe) @ weights)[0]
    np.testing.assert_allclose(estimator.predict(*probe).total, expected, rtol=1e-7, atol=1e-9)


def test_parametric_and_residual_add_up_and_a_predictor_keeps_its_answer():
    rng = np.random.default_rng(1)
    states, regressor = motions(300, rng), Arm()
    y = np.array([regressor(*x) @ regressor.nominal_parameters for x in states]) + 0.2 * np.sin(5 * states[:, 0])
    estimator = SemiparametricEstimator(regressor, n_random_features=N)
    learn(estimator, states[:200], y[:200])
    predictor, expected = estimator.predictor(regressor), estimator.predict(*states[250])
    np.testing.assert_array_equal(expected.total, expected.parametric + expected.residual)
    np.testing.assert_allclose(expected.parametric, regressor(*states[250]) @ estimator.parametric.parameters)
    learn(estimator, states[200:], y[200:])
    np.testing.assert_array_equal(predictor.predict(*states[250]).total, expected.total)


@pytest.mark.parametrize("truth", ["rigid", "features", "both"])
def test_it_is_hardly_worse_than_the_better_of_rigid_bodies_and_features(truth):
    rng = np.random.default_rng(2)
    states, regressor = motions(3000, rng), Arm()
    rigid = np.array([regressor(*x) @ regressor.nominal_parameters for x in states])
    other = np.cos(2 * states[:, 0]) * np.tanh(2 * states[:, 1])
    y = (truth != "features") * rigid + (truth != "rigid") * other + 0.05 * rng.normal(size=rigid.shape)
    totals = learn(SemiparametricEstimator(regressor, n_random_features=150), states, y)[0]
    without = learn(NonparametricEstimator(regressor, n_random_features=150), states, y)[0]
    parametric = SemiparametricEstimator(regressor, n_random_features=N)
    alone = []
    for state, target in zip(states, y, strict=True):
        alone.append(parametric.predict(*state).parametric[0])
        parametric.update(*state, target)
    errors = [np.mean((told[2000:] - y[2000:, 0]) ** 2) for told in (totals, without, np.array(alone))]
    assert errors[0] <= 1.1 * min(errors[1:])


def test_two_deviations_hold_95_percent_where_errors_are_not_gaussian_and_grow():
    rng = np.random.default_rng(3)
    states, regressor = motions(6000, rng), Arm()
    noise = rng.standard_t(2.5, size=(6000, 1)) * np.linspace(0.05, 0.5, 6000)[:, None]
    y = np.array([regressor(*x) @ regressor.nominal_parameters for x in states]) + noise
    totals, variances = learn(SemiparametricEstimator(regressor, n_random_features=N), states, y)
    inside = np.abs(totals - y[:, 0])[1000:] <= 2 * np.sqrt(variances[1000:])
    assert 0.93 <= inside.mean() <= 0.97


def test_a_joint_that_stands_still_is_no_more_than_the_small_noise_it_is():
    rng = np.random.default_rng(4)
    states, regressor = motions(1500, rng), Arm()
    states[:1000] = 1e-4 * rng.normal(size=(1000, 3, 1))  # noise of the sensors; then it moves
    y = np.array([regressor(*x) @ regressor.nominal_parameters for x in states]) + 0.01 * rng.normal(size=(1500, 1))
    totals = learn(SemiparametricEstimator(regressor, n_random_features=N), states, y)[0]
    assert np.abs(totals - y[:, 0])[1100:].max() < 0.5 * np.abs(y[1100:]).max()


def test_merged_it_predicts_as_if_one_had_seen_all_and_other_features_are_refused():
    rng = np.random.default_rng(5)
    states, regressor = motions(400, rng), Arm()
    y = np.sin(3 * states[:, 0])
    first, second, both = (NonparametricEstimator(regressor, n_random_features=N) for _ in range(3))
    learn(first, states[:200], y[:200])
    learn(second, states[200:], y[200:])
    learn(both, states, y)
    first.merge(second)
    assert first.n_samples == 400
    np.testing.assert_allclose(first.method._pool.weights(), both.method._pool.weights(), rtol=1e-6, atol=1e-6)
    before = first.predict(*states[0]).total
    for other in (
        NonparametricEstimator(regressor, n_random_features=N, seed=1),
        NonparametricEstimator(regressor, n_random_features=N, length_scale=5.0),
    ):
        with pytest.raises(ParameterError):
            first.merge(other)
    np.testing.assert_array_equal(first.predict(*states[0]).total, before)


def test_large_errors_of_the_first_second_do_not_widen_the_band_for_long():
    rng, variance = np.random.default_rng(6), CalibratedVariance(2)
    errors = rng.normal(size=(3000, 2)) * np.where(np.arange(3000) < 100, 100.0, 1.0)[:, None]
    inside = []
    for error in errors:
        inside.append(error**2 <= 4.0 * variance.value)
        variance.update(error, np.zeros(2), 0.01)
    share = np.mean(inside[1500:], axis=0)  # from 15 s on
    assert (share >= 0.92).all()
    assert (share <= 0.98).all()


def test_the_band_holds_for_predictions_that_were_published_long_before_they_are_judged():
    rng, variance, delay = np.random.default_rng(7), CalibratedVariance(1), 70
    leverage = rng.exponential(size=(9000, 1))  # what a prediction adds to the noise of its own, known when it is made
    scale = 1.0 + 0.9 * np.sin(np.arange(9000) / 1500.0)[:, None]  # noise that comes and goes over a minute and a half
    errors = rng.standard_t(3, size=(9000, 1)) * scale * np.sqrt(1.0 + leverage)
    inside, published = [], []
    for k, error in enumerate(errors):
        noise = variance.value
        published.append(
            Prediction(np.ones(1), np.zeros(1), np.zeros(1), noise * (1.0 + leverage[k]), noise, np.ones(1))
        )
        inside.append(error**2 <= 4.0 * published[k].variance)
        if k >= delay:
            variance.judge(published[k - delay], errors[k - delay], 0.01)
    assert 0.93 <= np.mean(inside[1500:]) <= 0.97


def variances_around(jump):
    """Variances told at each sample; the sensor jumps at sample 2000, is tared, and samples across it are left out."""
    rng = np.random.default_rng(8)
    states, regressor = motions(3000, rng), Arm()
    y = np.array([regressor(*x) @ regressor.nominal_parameters for x in states]) + 0.01 * rng.normal(size=(3000, 1))
    y[2000:] += jump
    estimator, waiting, variances = SemiparametricEstimator(regressor, n_random_features=N), [], []
    for k, (state, target) in enumerate(zip(states, y, strict=True)):
        if k == 2000:
            estimator.tare([jump])
        waiting.append((k, state, target, estimator.predict(*state)))
        variances.append(waiting[-1][-1].variance[0])
        if k in range(1930, 2000):
            continue  # samples on both sides of the jump wait for their smoothed motion
        while len(waiting) > (70 if k < 2900 else 0):
            of, then, measured, published = waiting.pop(0)
            if k < 2000 or of >= 2000:
                estimator.update(*then, measured, published=published)
    return np.array(variances)


def test_a_jump_that_was_tared_does_not_widen_the_band():
    with_jump, without = variances_around(70.0), variances_around(0.0)
    assert max(with_jump[2000:]) < 2.0 * max(without[2000:])
    assert np.median(with_jump[2000:]) < 2.0 * np.median(without[2000:])


def expert_predictions(estimator, x):
    """Predictions of all experts of a SemiparametricEstimator, by name, from what each has learned."""
    method = estimator.method
    rows = method._pool.features.rows(method._pool.features.waves(np.concatenate(x)))
    rigid = method.regressor(*x) @ estimator.parametric.parameters
    found = {"P": rigid}
    for s, scale in enumerate(expert_pool.LENGTH_SCALES):
        for r, value in enumerate(expert_pool.REGULARIZATIONS):
            alone, beside = method._pool.weights()[s, r] @ rows[s]
            found[f"NP {scale:g} {value:g}"] = np.array([alone])
            found[f"SP {scale:g} {value:g}"] = rigid + beside
    return found


def test_rigid_bodies_take_the_place_of_features_where_nothing_was_learned():
    rng, regressor = np.random.default_rng(4), Arm()
    states = motions(1500, rng)
    truth = np.array([regressor(*x) @ regressor.nominal_parameters for x in states]) + 0.1 * np.sin(9 * states[:, 0])
    y = truth + 0.01 * rng.normal(size=truth.shape)
    estimator = SemiparametricEstimator(regressor, n_random_features=300, seed=1)
    learn(estimator, states, y)
    method, weights = estimator.method, estimator.expert_weights
    scale, value = expert_pool.LEVERAGE_SCALE, expert_pool.REGULARIZATIONS[0]

    def rows(x):
        return method._pool.features.rows(method._pool.features.waves(np.concatenate(x)))[scale].copy()

    z = np.array([rows(x) for x in states])
    alone, left = method._signal.value  # see test_signal_variance
    explained = 1.0 - left / alone
    far = rng.uniform([-1.0, -6.0, -20.0], [1.0, 6.0, 20.0], (200, 3))[:, :, None]
    errors = {"moved": [], "as weighed": []}
    novelties = []
    for x in far:
        novelty = value * rows(x) @ np.linalg.solve(z.T @ z + value * np.eye(z.shape[1]), rows(x))
        experts = expert_predictions(estimator, x)
        as_weighed = sum(weights[name] * experts[name] for name in experts)
        moved = as_weighed + sum(
            novelty * explained * weights[name] * (experts["SP" + name[2:]] - experts[name])
            for name in experts
            if name.startswith("NP")
        )
        total = estimator.predict(*x).total
        np.testing.assert_allclose(total, moved, rtol=1e-4, atol=1e-4)
        novelties.append(novelty)
        true = regressor(*x) @ regressor.nominal_parameters
        errors["moved"].append(total - true)
        errors["as weighed"].append(as_weighed - true)
    assert np.mean(novelties) > 0.3
    root = {name: np.sqrt(np.mean(np.square(values))) for name, values in errors.items()}
    assert root["moved"] < 0.6 * root["as weighed"]


def test_rigid_bodies_that_explain_nothing_do_not_take_the_place_of_features():
    rng, regressor = np.random.default_rng(5), Arm()
    states = motions(800, rng)
    y = np.sign(np.sin(40.0 * states[:, 0]))  # of which inertia, gravity and friction explain nothing
    estimator = SemiparametricEstimator(regressor, n_random_features=300, seed=1)
    learn(estimator, states, y)
    assert estimator.method._explained() < 0.2
