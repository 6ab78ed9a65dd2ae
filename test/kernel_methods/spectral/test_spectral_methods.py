"""Methods on the full kernel matrix against closed forms, the literature's polynomials, and their definitions."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import eval_jacobi
from sklearn.datasets import load_iris
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import sigmoid_kernel

from icub_learning.errors import DataError, ParameterError
from icub_learning.kernel_methods import KRLS, ConjugateGradientKRLS, Landweber, OneVsAllClassifier, SpectralCutoff
from icub_learning.kernel_methods.spectral.iterative import AcceleratedGradient, NuMethod

N, SIGMA = 60, 0.8
pytestmark = pytest.mark.filterwarnings("error")  # a plain fit warns of nothing


@pytest.fixture(scope="module")
def spectrum(data):
    """Return kernel matrix, eigenvalues, and a function that filters targets on the eigenvectors, by NumPy alone."""
    gram = RBF(SIGMA)(data[0])
    values, vectors = np.linalg.eigh(gram)
    return gram, values, lambda weights: vectors @ (weights[:, None] * (vectors.T @ data[1]))


def test_krls_solves_the_regularized_system_with_n_inside(data, spectrum):
    x, y = data
    fitted = KRLS(length_scale=SIGMA, regularization=1e-4).fit(x, y)
    np.testing.assert_allclose(fitted.dual_coef_, np.linalg.solve(spectrum[0] + 1e-4 * N * np.eye(N), y), atol=1e-8)
    ridge = KernelRidge(alpha=1e-4 * N, kernel="rbf", gamma=1 / (2 * SIGMA**2)).fit(x, y)
    np.testing.assert_allclose(fitted.predict(x + 0.1), ridge.predict(x + 0.1), atol=1e-8)


def test_cutoff_is_least_squares_on_kernel_principal_components(data):
    x, y = data
    fitted = SpectralCutoff(length_scale=SIGMA, regularization=5e-3).fit(x, y)
    # Kernel PCA without centering: coordinates on the components, from the singular vectors of K.
    left, singular, _ = np.linalg.svd(RBF(SIGMA)(x))
    kept = singular >= 5e-3 * N
    scores = left[:, kept] * np.sqrt(singular[kept])
    np.testing.assert_allclose(fitted.predict(x), scores @ np.linalg.lstsq(scores, y, rcond=None)[0], atol=1e-8)
    assert fitted.n_components_ == kept.sum() < N


def test_landweber_is_its_filter_at_every_iteration(data, spectrum):
    x, y = data
    fitted, (gram, values, filtered) = Landweber(length_scale=SIGMA, max_iter=300).fit(x, y), spectrum
    assert fitted.step_size_ == pytest.approx(N / values[-1], rel=1e-9)
    eta, path = fitted.step_size_ / N, fitted.predict_path(x)
    for t in (1, 2, 17, 300):
        exact = (1 - (1 - eta * values) ** t) / values
        np.testing.assert_allclose(path[t - 1], gram @ filtered(exact), atol=1e-8)
    fast = Landweber(length_scale=SIGMA, max_iter=50, step_size=1.7 * N / values[-1]).fit(x, y)
    exact = (1 - (1 - fast.step_size_ / N * values) ** 50) / values
    np.testing.assert_allclose(fast.dual_coef_, filtered(exact), atol=1e-8)


@pytest.mark.parametrize("nu", [0.5, 1.0, 2.5])
def test_nu_method_has_the_jacobi_residual_polynomials_of_the_literature(nu, data, spectrum):
    """1 - sigma g is the Jacobi polynomial P_t of (2 nu - 1/2, -1/2) at 1 - 2 x, x the eigenvalue scaled to [0, 1]."""
    x, y = data
    fitted, (gram, values, filtered) = NuMethod(length_scale=SIGMA, nu=nu, max_iter=40).fit(x, y), spectrum
    scaled = fitted.step_size_ * values / N
    assert scaled.max() <= 1 + 1e-9
    for t in (1, 2, 3, 40):
        residual = eval_jacobi(t, 2 * nu - 0.5, -0.5, 1 - 2 * scaled) / eval_jacobi(t, 2 * nu - 0.5, -0.5, 1.0)
        np.testing.assert_allclose(fitted.predict_path(x)[t - 1], gram @ filtered((1 - residual) / values), atol=1e-8)


@pytest.mark.parametrize("method", ["nesterov", "heavy_ball"])
def test_accelerated_gradient_is_its_recurrence_in_the_space_of_functions(method):
    """With the linear kernel and more samples than inputs, the same iteration runs on explicit weights."""
    x = (rng := np.random.default_rng(1)).normal(size=(50, 4))
    y = x @ rng.normal(size=4) + rng.normal(size=50)
    fitted = AcceleratedGradient(kernel="linear", method=method, momentum=0.6, max_iter=12, tol=0.0).fit(x, y)
    w = before = np.zeros(4)
    path = fitted.predict_path(x)
    for t in range(12):
        beta = ((t - 1) / (t + 2) if t else 0.0) if method == "nesterov" else 0.6
        point = w + beta * (w - before) if method == "nesterov" else w
        gradient = x.T @ (x @ point - y) / 50
        before, w = w, w + beta * (w - before) - fitted.step_size_ * gradient
        np.testing.assert_allclose(path[t, :, 0], x @ w, atol=1e-8)


def test_conjugate_gradients_minimize_the_residual_over_the_krylov_space(data, spectrum):
    (x, y), gram = data, spectrum[0]
    assert ConjugateGradientKRLS(length_scale=SIGMA, tol=0.999).fit(x, y).n_iter_ == 1
    path = ConjugateGradientKRLS(length_scale=SIGMA, max_iter=6).fit(x, y).predict_path(x)
    for t in range(1, 7):
        for column in range(2):
            basis, _ = np.linalg.qr(np.column_stack([np.linalg.matrix_power(gram, k) @ y[:, column] for k in range(t)]))
            best = np.linalg.lstsq(gram @ basis, y[:, column], rcond=None)[0]
            np.testing.assert_allclose(path[t - 1, :, column], gram @ basis @ best, atol=1e-7)


@pytest.mark.parametrize("n", [20, 40, 200])
def test_conjugate_gradients_end_where_rounding_begins(n):
    x = np.random.default_rng(0).uniform(-3.0, 3.0, (n, 1))
    y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=n)
    fitted = ConjugateGradientKRLS().fit(x, y)
    residuals = np.linalg.norm(fitted.predict_path(x).reshape(-1, n) - y, axis=1)
    assert (np.diff(residuals) <= 1e-9 * residuals[0]).all() and fitted.n_iter_ < n
    np.testing.assert_array_equal(ConjugateGradientKRLS().fit(x, y / 2**30).dual_coef_, fitted.dual_coef_ / 2**30)


def test_steps_too_large_cutoffs_above_the_whole_spectrum_and_singular_krls_are_refused_with_their_bound(data):
    x, y = data
    largest = N / np.linalg.eigvalsh(RBF(SIGMA)(x))[-1]
    for method, factor in ((Landweber, 2.0), (NuMethod, 1.0), (AcceleratedGradient, 1.0)):
        method(length_scale=SIGMA, step_size=0.999 * factor * largest, max_iter=5).fit(x, y)
        with pytest.raises(ParameterError, match=f"{factor * largest:.5g}"):
            method(length_scale=SIGMA, step_size=1.01 * factor * largest).fit(x, y)
    twice = [np.repeat(one, 2, axis=0) for one in data]
    assert SpectralCutoff(regularization=1e-300).fit(*twice).n_components_ <= N  # the others are rounding
    for words, method, level in (("largest eigenvalue", SpectralCutoff, 2.0), ("singular", KRLS, 1e-300)):
        with pytest.raises(ParameterError, match=words):
            method(regularization=level).fit(*twice)
    for method, kernel in product(
        (KRLS, Landweber, NuMethod, AcceleratedGradient), (sigmoid_kernel, lambda x, z: -cdist(x, z))
    ):
        with pytest.raises(ParameterError, match=r"^kernel is .*positive definite.*below 0"):
            method(kernel=kernel).fit(3 * x, y)


def test_one_vs_all_shares_one_fit_and_finds_the_classes():
    x, labels = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[labels]
    fitted = OneVsAllClassifier(KRLS(length_scale=2.0, regularization=1e-4, path=[1e-4, 1e-2])).fit(x, names)
    assert fitted.score(x, names) > 0.97
    codes = np.where(names[:, None] == fitted.classes_, 1.0, -1.0)
    exact = KRLS(length_scale=2.0, regularization=1e-4).fit(x, codes).predict(x)
    np.testing.assert_allclose(fitted.decision_function(x), exact, atol=1e-8)
    assert fitted.predict_path(x).shape == (2, 150)
    np.testing.assert_array_equal(fitted.path_levels_, [1e-4, 1e-2])
    np.testing.assert_array_equal(fitted.predict_path(x)[0], fitted.predict(x))
    two = OneVsAllClassifier(KRLS(length_scale=2.0)).fit(x[:100], names[:100])
    assert two.decision_function(x).shape == (150,) and two.score(x[:100], names[:100]) == 1.0
    with pytest.raises(DataError, match="1 class"):
        OneVsAllClassifier().fit(x[:50], names[:50])
