"""NYTRO against its filter, Nyström KRLS and early stopping; the risk bound of the paper; stopping rules."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from icub_learning.errors import ParameterError
from icub_learning.kernel_methods import (
    NYTRO,
    Landweber,
    NystromKRLS,
)
from icub_learning.kernel_methods.diagnostics import fixed_design_risk
from icub_learning.kernel_methods.spectral.stopping import StoppingRule

N = 200


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 3))
    return x, np.column_stack([np.sin(x[:, 0]) + 0.1 * rng.normal(size=N), x[:, 1] * x[:, 2]])


def nystrom_matrix(x, centers):
    """A A^T = K_nm K_mm^+ K_mn."""
    return RBF(1.0)(x, centers) @ np.linalg.pinv(RBF(1.0)(centers), rcond=1e-13, hermitian=True) @ RBF(1.0)(centers, x)


def test_iterations_are_the_closed_form_filter(data):
    x, y = data
    fitted = NYTRO(centers=x[:40], max_iter=120).fit(x, y)
    assert fitted.step_size_ == 1.0
    path = fitted.predict_path(x)
    shrink = np.eye(N) - nystrom_matrix(x, x[:40]) / N
    for t in (1, 2, 50, 120):
        exact = y - np.linalg.matrix_power(shrink, t) @ y
        np.testing.assert_allclose(path[t - 1], exact, atol=1e-8)
    np.testing.assert_allclose(path[-1], fitted.predict(x), atol=1e-12)
    np.testing.assert_array_equal(fitted.path_levels_, np.arange(1, 121))


def test_all_samples_as_centres_are_early_stopping(data):
    x, y = data
    fitted = NYTRO(n_centers=N, max_iter=60, random_state=0).fit(x, y)
    exact = Landweber(max_iter=60, step_size=1.0).fit(x, y)
    np.testing.assert_allclose(fitted.predict_path(x), exact.predict_path(x), atol=1e-8)


@pytest.mark.parametrize("method", ["nu", "nesterov", "cg"])
def test_accelerated_methods_converge_and_stop(method, data):
    x, y = data
    fitted = NYTRO(centers=x[:6], method=method, max_iter=4000, tol=1e-7, path=[4000]).fit(x, y)
    k = RBF(1.0)(x, x[:6])
    np.testing.assert_allclose(fitted.predict(x), k @ np.linalg.lstsq(k, y, rcond=None)[0], atol=1e-3)
    assert method != "cg" or fitted.n_iter_ <= 20
    noisy = NYTRO(centers=x[:40], method=method, max_iter=400, stopping="simple", random_state=0).fit(x, y)
    assert noisy.n_iter_ == len(noisy.validation_errors_) < 400
    assert noisy.validation_errors_.min() < 0.8 * noisy.validation_errors_[0]


def test_it_converges_to_least_squares_on_the_centres(data):
    x, y = data
    fitted = NYTRO(centers=x[:6], max_iter=20000, step_size=10.0, path=[20000]).fit(x, y)
    k = RBF(1.0)(x, x[:6])
    np.testing.assert_allclose(fitted.predict(x), k @ np.linalg.lstsq(k, y, rcond=None)[0], atol=1e-6)


def test_dependent_centres_are_left_out(data):
    x, y = data
    once = NYTRO(centers=x[:20], max_iter=40).fit(x, y)
    twice = NYTRO(centers=np.concatenate([x[:20], x[:20]]), max_iter=40).fit(x, y)
    assert twice.n_kept_ == 20
    np.testing.assert_allclose(twice.predict(x), once.predict(x), atol=1e-10)
    assert not twice.dual_coef_[20:].any()


def test_fixed_design_risk_is_within_the_papers_bound_of_nystrom_krls():
    """E R(NYTRO_t) <= 4 (1 + 1 / (t - 1))^2 E R(NKRLS at 1 / (gamma t)) for t >= 2; smoothers from the estimators."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, size=(120, 1))
    mean = np.sin(3 * x[:, 0])
    # P: onto the range of A A^T; what lies outside of it is the same for both.
    values, vectors = np.linalg.eigh(nystrom_matrix(x, x[:30]))
    projection = vectors[:, values > 1e-9] @ vectors[:, values > 1e-9].T
    iterations = [2, 3, 10, 100, 400]
    nytro = NYTRO(centers=x[:30], max_iter=400, path=iterations, tol=0.0).fit(x, np.eye(120))
    smoothers = nytro.predict_path(x)
    nkrls = NystromKRLS(centers=x[:30], regularization=1e-3, path=[1 / t for t in iterations]).fit(x, np.eye(120))
    for t, smoother, other in zip(iterations, smoothers, nkrls.predict_path(x), strict=True):
        for noise in (0.0, 0.01, 1.0):
            risk = fixed_design_risk(smoother, mean, noise, projection)
            bound = fixed_design_risk(other, mean, noise, projection)
            assert risk <= 4 * (1 + 1 / (t - 1)) ** 2 * bound * (1 + 1e-9)
    assert fixed_design_risk(smoothers[-1], mean, 0.0) < 0.2 * fixed_design_risk(smoothers[0], mean, 0.0)


def test_steps_beyond_the_bound_are_refused_and_below_it_converge(data):
    x, y = data
    largest = 2 * N / np.linalg.eigvalsh(nystrom_matrix(x, x[:40]))[-1]
    near = NYTRO(centers=x[:40], step_size=0.99 * largest, max_iter=300).fit(x, y)
    assert near.score(x, y) > 0.5
    with pytest.raises(ParameterError, match=f"{largest:.5g}"):
        NYTRO(centers=x[:40], step_size=1.01 * largest).fit(x, y)
    for few in (1, 2):
        with pytest.raises(ParameterError, match="K_nm R"):
            NYTRO(centers=x[:few], step_size=1e9).fit(x, y)


def test_stopping_rules_by_hand():
    falling = [2.0, 1.8, 1.62, 1.458]  # 10 % each time
    assert not StoppingRule("simple", window=2, threshold=0.05).stops(falling)
    assert StoppingRule("simple", window=2, threshold=0.1 + 1e-9).stops(falling)
    assert StoppingRule("simple", window=3, threshold=0.2).stops(falling)
    assert not StoppingRule("simple", window=3, threshold=0.18).stops(falling)
    assert not StoppingRule("simple", window=5).stops([1.0] * 4)  # not a whole window yet
    outlier = [1.0] * 19 + [0.5]
    assert not StoppingRule("simple", window=20).stops(outlier)
    assert not StoppingRule("averaged", window=20).stops(outlier)  # 0.75 against 1
    noisy = [*np.linspace(2.0, 1.9, 30), 1.0]
    assert not StoppingRule("simple", window=31).stops(noisy)
    assert StoppingRule("median", window=31, threshold=0.06).stops(noisy)  # the last four's median ignores it
    line = list(1.0 - 0.004 * np.arange(10))  # slope -0.004
    assert StoppingRule("linear", window=10, threshold=0.05).stops(line)
    assert not StoppingRule("linear", window=10, threshold=0.03).stops(line)
    assert StoppingRule("linear", window=10, threshold=0.05).stops([1000 * e for e in line])  # relative
    assert StoppingRule("simple", window=2).stops([0.0, 0.0])
    for bad in ({"rule": "best"}, {"window": 1}, {"threshold": 1.0}, {"threshold": -0.1}):
        with pytest.raises(ParameterError):
            StoppingRule(**bad)


@pytest.mark.parametrize("rule", ["simple", "averaged", "median", "linear"])
def test_validation_ends_the_iteration_where_the_rule_says(rule):
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, size=(400, 1))
    y = np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=400)
    settings = {"n_centers": 50, "max_iter": 2000, "random_state": 0, "window": 20, "threshold": 0.01}
    stopped = NYTRO(stopping=rule, **settings).fit(x, y)
    errors = stopped.validation_errors_
    assert 20 <= stopped.n_iter_ == len(errors) < 2000
    decides = StoppingRule(rule, 20, 0.01)
    assert [decides.stops(errors[:t]) for t in range(1, len(errors) + 1)] == [False] * (len(errors) - 1) + [True]
    # As if fitted on the part that was not held out, for that many iterations, with errors on the other part.
    held_out, kept = stopped._split(400, np.random.RandomState(0))
    assert len(held_out) == 80
    alone = NYTRO(centers=stopped.centers_, max_iter=stopped.n_iter_).fit(x[kept], y[kept])
    np.testing.assert_allclose(alone.predict(x), stopped.predict(x), atol=1e-10)
    path_errors = np.sqrt(np.mean((alone.predict_path(x[held_out])[..., 0] - y[held_out]) ** 2, axis=1))
    np.testing.assert_allclose(path_errors, errors, atol=1e-10)
    in_time = NYTRO(stopping=rule, shuffle=False, **settings)
    np.testing.assert_array_equal(in_time._split(400, None)[1], np.arange(320))
    with pytest.raises(ParameterError, match="at most the number of samples, 320"):
        NYTRO(stopping=rule, n_centers=350).fit(x, y)
    with pytest.raises(ParameterError, match="validation_fraction"):
        NYTRO(stopping=rule, validation_fraction=1.0).fit(x, y)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"n_centers": N + 1}, "n_centers"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1}, "tol"),
        ({"stopping": "best"}, "stopping"),
        ({"stopping": "simple", "window": 1}, "window"),
        ({"method": "newton"}, "method"),
        ({"method": "nu", "nu": 0.0}, "nu"),
        ({"method": "nu", "step_size": 100.0}, "step_size"),
        ({"step_size": 0.0}, "step_size"),
        ({"step_size": "large"}, "step_size"),
        ({"path": [501]}, "path"),
        ({"sampling": "best"}, "sampling"),
        ({"regularization": 0.0}, "regularization"),
    ],
)
def test_bad_settings_are_named(settings, name, data):
    with pytest.raises(ParameterError, match=name):
        NYTRO(**settings).fit(*data)
