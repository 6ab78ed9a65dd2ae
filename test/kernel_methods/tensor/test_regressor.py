"""Tensor-kernel regression: its optimum, its layouts, its sparsity, and what it refuses."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score

from icub_learning.errors import DataError
from icub_learning.kernel_methods import TensorKernelRegressor
from icub_learning.kernel_methods.tensor import sparse_dual
from icub_learning.kernel_methods.tensor.dual_losses import LOSSES, EpsilonInsensitive


def sparse_problem(seed, n, d, s, noise=0.05):
    rng = np.random.default_rng(seed)
    x, w, support = rng.normal(size=(n, d)), np.zeros(d), rng.choice(d, s, replace=False)
    w[support] = np.sign(rng.normal(size=s)) * (1 - 0.3 * rng.uniform(size=s))
    return x, x @ w + noise * rng.normal(size=n), set(support.tolist())


@pytest.mark.parametrize("order", [2, 4, 6, 8])
@pytest.mark.parametrize("n, d", [(30, 8), (12, 40)])
def test_the_linear_kernel_minimizes_the_primal(order, n, d):
    x, y, _ = sparse_problem(0, n, d, 3)
    model, p = TensorKernelRegressor(order=order, gamma=2.0).fit(x, y), order / (order - 1)

    def value(w):
        return np.sum((x @ w - y) ** 2) + np.sum(np.abs(w) ** p) / p

    def slope(w):
        return 2.0 * x.T @ (x @ w - y) + np.sign(w) * np.abs(w) ** (p - 1)

    best = minimize(value, np.full(d, 0.1), jac=slope, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-15})
    assert value(model.coef_) <= best.fun + 1e-8
    np.testing.assert_allclose(slope(model.coef_), 0.0, atol=1e-3)
    assert 0 <= model.duality_gap_ <= 1e-8
    np.testing.assert_allclose(model.dual_coef_, 2.0 * (y - x @ model.coef_), atol=1e-3)
    np.testing.assert_allclose(model.coef_, (x.T @ model.dual_coef_) ** (order - 1), rtol=1e-12)
    np.testing.assert_array_equal(model.feature_importances_, np.abs(model.coef_))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_order_two_is_kernel_ridge_regression():
    x, y, _ = sparse_problem(2, 40, 15, 4)
    x, test = 0.3 * x, 0.3 * np.random.default_rng(0).normal(size=(10, 15))
    for kernel, function in (("linear", lambda s: s), ("polynomial", lambda s: s**3), ("exponential", np.exp)):
        a = np.linalg.solve(function(x @ x.T) + np.eye(40) / 1.7, y)
        model = TensorKernelRegressor(order=2, kernel=kernel, degree=3, gamma=1.7, tol=1e-20).fit(x, y)
        np.testing.assert_allclose(model.dual_coef_, a, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(model.predict(test), function(test @ x.T) @ a, rtol=1e-9, atol=1e-9)
        large = model.set_params(tol=1e-8).fit(x, 1e15 * y)
        np.testing.assert_allclose(large.dual_coef_, 1e15 * a, rtol=1e-6, atol=1e8)
        assert large.n_iter_ < 10 and large.duality_gap_ <= 1e15 * y @ y  # `tol` asks for no more than rounding leaves


@pytest.mark.parametrize("kernel, degree", [("polynomial", 2), ("polynomial", 1), ("exponential", 1)])
@pytest.mark.parametrize("n, order", [(6, 4), (4, 6), (2, 4)])  # more and fewer samples than features
def test_predictions_are_those_of_the_full_tensor(kernel, degree, n, order):
    rng = np.random.default_rng(4)
    x, y, test = 0.7 * rng.normal(size=(n, 3)), rng.normal(size=n), rng.normal(size=(5, 3))
    model = TensorKernelRegressor(order=order, kernel=kernel, degree=degree, gamma=3.0).fit(x, y)
    function = np.exp if kernel == "exponential" else lambda s: s**degree
    a, expected, size = model.set_params(order=2, kernel="linear").dual_coef_, np.zeros(5), np.zeros(5)
    for indices in itertools.product(range(n), repeat=order - 1):
        s = (np.prod(x[list(indices)], axis=0) * test).sum(axis=1)
        expected += function(s) * np.prod(a[list(indices)])
        size += np.abs(function(s) * np.prod(a[list(indices)]))
    assert (np.abs(model.predict(test) - expected) <= 1e-12 * size).all()
    # At the optimum a = gamma (y - f) at the training samples.
    np.testing.assert_allclose(a, 3.0 * (y - model.predict(x)), atol=1e-3)


def test_importances_of_nonlinear_kernels_are_slopes():
    x = 0.6 * np.random.default_rng(5).normal(size=(14, 3))
    y = x[:, 0] * x[:, 1]
    model, slopes = TensorKernelRegressor(kernel="polynomial", degree=2, gamma=100.0).fit(x, y), np.empty((14, 3))
    for j in range(3):
        step = 1e-5 * np.eye(3)[j]
        slopes[:, j] = (model.predict(x + step) - model.predict(x - step)) / 2e-5
    np.testing.assert_allclose(model.feature_importances_, np.sqrt((slopes**2).mean(axis=0)), rtol=1e-5)
    assert model.feature_importances_.argmin() == 2


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "square"])
@pytest.mark.parametrize("order", [2, 4])
def test_other_losses_reach_the_optimum(loss, order):
    x, y, _ = sparse_problem(6, 30, 8, 3)
    if loss in ("hinge", "smooth_hinge", "logistic"):
        y = np.where(y > 0, 1.0, -1.0)
    model = TensorKernelRegressor(order=order, loss=loss, gamma=0.5, tol=1e-7, max_iter=20_000).fit(x, y)
    assert 0 <= model.duality_gap_ <= 1e-7
    p, found = order / (order - 1), LOSSES[loss]

    def value(w):
        return 0.5 * found.value(y, x @ w).sum() + np.sum(np.abs(w) ** p) / p

    steps = np.random.default_rng(0).normal(size=(50, 8))
    for step in np.concatenate([1e-4 * steps, 1e-2 * steps, steps]):
        assert value(model.coef_ + step) >= value(model.coef_) - 1e-9
    predicted = x @ model.coef_
    assert model.score(x, y) == (np.mean(predicted * y > 0) if set(y) == {-1, 1} else r2_score(y, predicted))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
def test_the_unit_of_the_features_does_not_matter(loss):
    """Another unit belongs to another gamma; powers of two are not rounded."""
    (x, y, _), settings, unit = sparse_problem(6, 30, 8, 3), {"order": 2, "loss": loss, "max_iter": 100}, 2.0**22
    one = TensorKernelRegressor(gamma=2.0**-6, **settings).fit(64 * x, np.sign(y))
    other = TensorKernelRegressor(gamma=2.0**-6 / unit**2, **settings).fit(64 * unit * x, np.sign(y))
    np.testing.assert_array_equal(other.predict(64 * unit * x), one.predict(64 * x))
    assert other.n_iter_ == one.n_iter_


@pytest.mark.parametrize("loss", [*LOSSES.values(), EpsilonInsensitive(0.3)])
def test_conjugates_and_proximal_points(loss):
    """L* is compared with a search over f, the proximal point with a search over b."""
    f, gamma = np.linspace(-60, 60, 240_001), 1.7
    for y in (-1.0, 1.0):
        for a in (0.0, y * 0.3, y * 1.2, y * 1.7):
            value = -a / gamma * f - loss.value(np.full_like(f, y), f)
            assert loss.dual(np.array(y), np.array(a), gamma) == pytest.approx(gamma * value.max(), abs=1e-3)
        assert np.isinf(loss.dual(np.array(y), np.array(y * 1.8), gamma)) == (loss is not LOSSES["square"])
        b = np.linspace(-8, 8, 1_600_001)
        for start, tau in ((0.4, 0.5), (-2.0, 2.0), (5.0, 0.1)):
            goal = loss.dual(np.full_like(b, y), b, gamma) + (b - start) ** 2 / (2 * tau)
            assert loss.prox(np.array(y), np.array(start), tau, gamma) == pytest.approx(b[goal.argmin()], abs=1e-4)


def test_sparse_weights_are_found_and_read_out():
    """n 60, d 200, s 3: the support, in 20 of 20 draws; n 250, d 2000, s 9: the nine largest, in at least 18 of 20."""
    for seed in range(20):
        x, y, support = sparse_problem(seed, 60, 200, 3)
        assert set(TensorKernelRegressor().fit(x, y).selected_features().tolist()) == support
    right = 0
    for seed in range(20):
        x, y, support = sparse_problem(seed, 250, 2000, 9)
        importances = TensorKernelRegressor(gamma=0.86).fit(x, y).feature_importances_
        right += set(np.argsort(importances)[-9:].tolist()) == support
    assert right >= 18


def test_a_subsample_is_trained_on_alone():
    x, y, _ = sparse_problem(7, 80, 10, 3)
    model = TensorKernelRegressor(n_subsample=30, random_state=3).fit(x, y)
    rows = model.subsample_
    assert len(rows) == 30 == len(set(rows)) and model.dual_coef_.shape == (30,)
    np.testing.assert_array_equal(model.coef_, TensorKernelRegressor().fit(x[rows], y[rows]).coef_)
    np.testing.assert_array_equal(rows, clone(model).fit(x, y).subsample_)


def test_many_samples_and_features_are_solved_by_conjugate_gradients(monkeypatch):
    x, y, _ = sparse_problem(8, 60, 50, 4)
    direct = TensorKernelRegressor().fit(x, y)
    monkeypatch.setattr(sparse_dual, "DIRECT", 10)
    np.testing.assert_allclose(TensorKernelRegressor().fit(x, y).coef_, direct.coef_, atol=1e-4)


def test_data_that_do_not_fit_are_refused_and_a_fit_that_stops_early_warns():
    x, y, _ = sparse_problem(0, 20, 5, 2)
    for loss in ("square", "absolute", "epsilon_insensitive"):
        with pytest.raises(DataError, match="overflow"):
            TensorKernelRegressor(kernel="exponential", loss=loss).fit(100 * x, y)
        with pytest.raises(DataError, match="lose all digits"):  # the model would be worse than w = 0
            TensorKernelRegressor(loss=loss).fit(1e20 * x, y)
        with pytest.warns(ConvergenceWarning, match="1 iterations ended at a duality gap") as caught:
            TensorKernelRegressor(loss=loss, max_iter=1).fit(x, y)
        assert caught[0].filename == __file__  # where it was asked for
    with pytest.raises(DataError, match="-1 and 1"):
        TensorKernelRegressor(loss="hinge").fit(x, y)
