"""NYTRO against its filter, Nyström KRLS and early stopping; the risk bound of the paper; stopping rules."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.gaussian_process.kernels import RBF

from icub_learning.errors import ParameterError
from icub_learning.kernel_methods import NYTRO, NystromKRLS, PreconditionedKRLS
from icub_learning.kernel_methods.diagnostics import fixed_design_risk
from icub_learning.kernel_methods.subsampling import nytro

N = 200


def nystrom_matrix(x, centers):
    """A A^T = K_nm K_mm^+ K_mn."""
    return RBF(1.0)(x, centers) @ np.linalg.pinv(RBF(1.0)(centers), rcond=1e-13, hermitian=True) @ RBF(1.0)(centers, x)


@pytest.mark.parametrize("formed", [True, False], ids=["normal equations", "passes over the rows"])
def test_iterations_are_the_closed_form_filter(formed, data, monkeypatch):
    monkeypatch.setattr(nytro, "forms_normal_equations", lambda *_: formed)
    x, y = data
    fitted = NYTRO(centers=x[[*range(40), *range(9)]], max_iter=120).fit(x, y)
    assert fitted.n_kept_ == 40  # centres that depend on others are left out
    matrix = nystrom_matrix(x, x[:40])
    assert fitted.step_size_ == pytest.approx(N / np.linalg.eigvalsh(matrix)[-1])
    path, shrink = fitted.predict_path(x), np.eye(N) - fitted.step_size_ * matrix / N
    for t in (1, 2, 50, 120):
        np.testing.assert_allclose(path[t - 1], y - np.linalg.matrix_power(shrink, t) @ y, atol=1e-8)
    np.testing.assert_allclose(path[-1], fitted.predict(x), atol=1e-12)
    np.testing.assert_array_equal(fitted.path_levels_, np.arange(1, 121))


@pytest.mark.parametrize("method", ["nu", "nesterov", "cg"])
def test_accelerated_methods_converge_and_stop(method, data):
    x, y = data
    fitted, k = NYTRO(centers=x[:6], method=method, max_iter=4000, tol=1e-7, path=[4000]).fit(x, y), RBF(1.0)(x, x[:6])
    np.testing.assert_allclose(fitted.predict(x), k @ np.linalg.lstsq(k, y, rcond=None)[0], atol=1e-3)
    assert method != "cg" or fitted.n_iter_ <= 20
    noisy = NYTRO(centers=x[:40], method=method, max_iter=400, stopping=True, random_state=0).fit(x, y)
    assert noisy.n_iter_ == len(noisy.validation_errors_) < 400
    assert noisy.validation_errors_.min() < 0.8 * noisy.validation_errors_[0]


def test_fixed_design_risk_is_within_the_papers_bound_of_nystrom_krls():
    """E R(NYTRO_t) <= 4 (1 + 1 / (t - 1))^2 E R(NKRLS at 1 / (gamma t)) for t >= 2; smoothers from the estimators."""
    x = np.random.default_rng(1).uniform(-2, 2, size=(120, 1))
    mean = np.sin(3 * x[:, 0])
    # P projects onto the range of A A^T; the risk outside of it is the same for both.
    values, vectors = np.linalg.eigh(nystrom_matrix(x, x[:30]))
    projection, iterations = vectors[:, values > 1e-9] @ vectors[:, values > 1e-9].T, [2, 3, 10, 100, 400]
    fitted = NYTRO(centers=x[:30], max_iter=400, path=iterations, tol=0.0).fit(x, np.eye(120))
    smoothers, levels = fitted.predict_path(x), [1 / (fitted.step_size_ * t) for t in iterations]
    nkrls = NystromKRLS(centers=x[:30], regularization=1e-3, path=levels).fit(x, np.eye(120))
    for t, smoother, other in zip(iterations, smoothers, nkrls.predict_path(x), strict=True):
        for noise in (0.0, 0.01, 1.0):
            risk = fixed_design_risk(smoother, mean, noise, projection)
            assert risk <= 4 * (1 + 1 / (t - 1)) ** 2 * fixed_design_risk(other, mean, noise, projection) * (1 + 1e-9)
    assert fixed_design_risk(smoothers[-1], mean, 0.0) < 0.2 * fixed_design_risk(smoothers[0], mean, 0.0)
    by_hand = np.array([[0.5, 0.25], [0.25, 0.5]]), np.array([1.0, 2.0]), 2.0  # variance 0.625, bias (0, 0.75)
    assert fixed_design_risk(*by_hand) == (1.25 + 0.5625) / 2
    assert fixed_design_risk(*by_hand, np.diag([1.0, 0.5])) == (1.25 + 0.140625) / 2


def test_steps_beyond_the_bound_are_refused_and_below_it_converge(data):
    x, y = data
    largest = 2 * N / np.linalg.eigvalsh(nystrom_matrix(x, x[:40]))[-1]
    assert NYTRO(centers=x[:40], step_size=0.99 * largest, max_iter=300).fit(x, y).score(x, y) > 0.5
    with pytest.raises(ParameterError, match=f"{largest:.5g}"):
        NYTRO(centers=x[:40], step_size=1.01 * largest).fit(x, y)
    for few in (1, 2):
        with pytest.raises(ParameterError, match="K_nm R"):
            NYTRO(centers=x[:few], step_size=1e9).fit(x, y)


def test_the_rule_by_hand():
    halving = [2.0 ** -(t / 10) for t in range(1, 100)]
    assert not any(nytro.stops(halving[:t]) for t in range(1, 100))
    assert [t for t in range(1, 16) if nytro.stops([1.0] * t)] == list(range(10, 16))
    power = np.arange(1, 5000) ** -0.02  # each doubling gains 1 - 2^-0.02 = 1.38 %
    assert not any(nytro.stops(power[:t], 0.0136) for t in range(1, 5000, 2))
    assert nytro.stops(power[:10], 0.014) and nytro.stops(power[:4999], 0.014)
    assert not nytro.stops(power[:9], 0.014)  # too early to judge
    assert nytro.stops([0.0] * 10) and nytro.stops([*halving[:40], 1.0])


@pytest.mark.parametrize("max_iter", [300, 2])
def test_validation_ends_the_iteration_where_the_rule_says(max_iter):
    x = (rng := np.random.default_rng(3)).uniform(-2, 2, size=(400, 1))
    y = np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=400)
    settings = {"n_centers": 50, "max_iter": max_iter, "random_state": 0}
    stopped = NYTRO(stopping=True, method="nesterov", **settings).fit(x, y)
    errors, best = stopped.validation_errors_, int(stopped.validation_errors_.argmin()) + 1
    assert stopped.n_iter_ == len(errors) < 300
    assert [nytro.stops(errors[:t]) for t in range(1, len(errors))] == [False] * (len(errors) - 1)
    assert nytro.stops(errors) or max_iter == 2
    # It equals a fit to the samples that are not held out, with the iterations of least error on the held-out ones.
    held_out, kept = nytro.split_off(400, 0.2, True, np.random.RandomState(0))
    assert len(held_out) == 80
    alone = NYTRO(centers=stopped.centers_, method="nesterov", max_iter=len(errors)).fit(x[kept], y[kept])
    path = alone.predict_path(x[held_out])[..., 0]
    np.testing.assert_allclose(np.sqrt(np.mean((path - y[held_out]) ** 2, axis=1)), errors, atol=1e-10)
    np.testing.assert_allclose(path[best - 1], stopped.predict(x[held_out]), atol=1e-10)
    np.testing.assert_array_equal(nytro.split_off(400, 0.2, False, None)[1], np.arange(320))
    assert [len(nytro.split_off(10, share, False, None)[0]) for share in (0.1, 0.8)] == [1, 8]
    for share in (0.04, 0.9):
        with pytest.raises(ParameterError, match=r"validation_fraction .* between 0.1 and 0.8 for 10 samples"):
            nytro.split_off(10, share, False, None)
    sides = np.array([[1.0], [1.0], [-1.0], [-1.0]])  # no line through zero explains anything: there is no way to go
    nothing = NYTRO(method="cg", kernel="linear", centers=[[1.0]]).fit(sides, [1.0, -1.0, 1.0, -1.0])
    assert nothing.n_iter_ == 1 and not nothing.predict(sides).any()
    for loose in (NYTRO(method="cg", tol=1.0, n_centers=50), PreconditionedKRLS(tol=1.0)):
        assert not loose.fit(x, y).predict(x).any()
    with pytest.raises(ParameterError, match="at most the number of samples, 320"):
        NYTRO(stopping=True, n_centers=350).fit(x, y)


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits, load_diabetes])
def test_the_rule_stops_within_a_percent_of_the_best_of_the_path(load):
    """The data sets had no part in the choice of the rule; errors are those on the held-out samples that decide."""
    x, y = load(return_X_y=True)
    x = (x - x.min(axis=0)) / np.where(np.ptp(x, axis=0) > 0, np.ptp(x, axis=0), 1.0)
    y = y % 2 * 2.0 - 1 if load is not load_diabetes else (y - y.mean()) / y.std()
    settings = {"n_centers": 200, "max_iter": 500, "length_scale": x.shape[1] ** 0.5 / 4, "random_state": 0}
    stopped = NYTRO(stopping=True, **settings).fit(x, y)
    held_out, kept = nytro.split_off(len(x), 0.2, True, np.random.RandomState(0))
    whole = NYTRO(**{**settings, "centers": stopped.centers_}, tol=0.0).fit(x[kept], y[kept])
    errors = np.sqrt(((whole.predict_path(x[held_out])[..., 0] - y[held_out]) ** 2).mean(axis=1))
    assert stopped.validation_errors_.min() <= 1.01 * errors.min() < 0.9 * errors[0]
    assert stopped.n_iter_ < 500 or errors[-1] < 0.999 * errors[249]  # it goes on only where there is something to gain


@pytest.mark.parametrize(("k", "n_targets", "max_iter", "formed"), [
    (2000, 1, 500, True), (8001, 1, 500, False), (2000, 1, 45, False), (200, 1, 10, False), (200, 2, 10, True),
])  # fmt: skip
def test_operations_decide_whether_normal_equations_are_formed(k, n_targets, max_iter, formed):
    """Once n k^2 multiplications, eight times cheaper in products of matrices, against 2 n k in each iteration."""
    assert nytro.forms_normal_equations(k, n_targets, max_iter) is formed
