"""Nyström methods against the sources' formulas: batch, path, singular centres, leverage scores, bad input."""

import mpmath
import numpy as np
import pytest
from scipy.linalg import lstsq
from sklearn.gaussian_process.kernels import RBF

from icub_learning.errors import NotFiniteError, ParameterError, ShapeError
from icub_learning.kernel_methods import IncrementalNystromKRLS, Kernel, NystromKRLS
from icub_learning.kernel_methods.diagnostics import leverage_scores
from icub_learning.kernel_methods.subsampling.centers import CenterBasis, echelon_cholesky
from icub_learning.kernel_methods.subsampling.least_squares import GrowingLeastSquares, solve_ridge

N, D, SIGMA = 300, 4, 1.0


def stacked_coefficients(x, y, centers, length_scale, regularization):
    """Return argmin ||K_nm a - Y||^2 + lambda n a^T K_mm a by one least squares problem: no squared condition."""
    values, vectors = np.linalg.eigh(RBF(length_scale)(centers))
    root, k_nm = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T, RBF(length_scale)(x, centers)
    rows = np.vstack([k_nm, np.sqrt(regularization * len(x)) * root])
    return lstsq(rows, np.concatenate([y, np.zeros((len(centers), *y.shape[1:]))]), lapack_driver="gelsd")[0]


def exact_prediction(x, y, centers, length_scale, regularization, where):
    """Return predictions for one input and one target with 60 digits, as K_mm may be singular with sixteen."""
    with mpmath.workdps(60):
        x, centers, where = (list(map(mpmath.mpf, np.ravel(values).tolist())) for values in (x, centers, where))

        def kernel(a, b):
            return mpmath.matrix([[mpmath.exp(-(((p - q) / length_scale) ** 2) / 2) for q in b] for p in a])

        k_nm = kernel(x, centers)
        gram = k_nm.T * k_nm + mpmath.mpf(regularization) * len(x) * kernel(centers, centers)
        coefficients = mpmath.lu_solve(gram, k_nm.T * mpmath.matrix(np.ravel(y).tolist()))
        return np.array((kernel(where, centers) * coefficients).tolist(), dtype=float)[:, 0]


def algorithm_1(x, y, centers, length_scale, regularization):
    """Return alpha_t for t = 1..m by the thesis's algorithm 1 as printed; raise LinAlgError when a downdate fails."""
    kernel, ridge = RBF(length_scale), regularization * len(x)
    features, gram, factor, found = kernel(x, centers), kernel(centers), np.zeros((0, 0)), []
    for t in range(len(centers)):
        a = features[:, t]
        c, g = features[:, :t].T @ a + ridge * gram[:t, t], np.sqrt(1 + a @ a + ridge)
        grown = np.linalg.qr(np.vstack([np.pad(factor, (0, 1)), np.append(c / (1 + g), g)]), mode="r")
        # Downdated: S with S^T S = R^T R - v v^T; LinAlgError where rounding leaves no such S.
        within = np.linalg.solve(grown.T, np.append(c / (1 + g), -1.0))
        factor = np.linalg.cholesky(np.eye(t + 1) - np.outer(within, within)).T @ grown
        found.append(np.linalg.solve(factor, np.linalg.solve(factor.T, features[:, : t + 1].T @ y)))
    return found


@pytest.mark.parametrize("regularization", [1e-2, 1e-4, 1e-6])
def test_nystrom_is_the_least_squares_solution(data, regularization):
    x, y = data
    fitted = NystromKRLS(length_scale=SIGMA, regularization=regularization, centers=x[::10]).fit(x, y)
    np.testing.assert_allclose(fitted.dual_coef_, stacked_coefficients(x, y, x[::10], SIGMA, regularization), atol=1e-8)
    np.testing.assert_array_equal(fitted.centers_, x[::10])
    assert fitted.n_kept_ == 30


def test_incremental_is_batch_at_every_number_of_centres(data):
    x, y = data
    centers = x[:150]  # more than one panel
    fitted = IncrementalNystromKRLS(length_scale=SIGMA, regularization=1e-5, centers=centers).fit(x, y)
    np.testing.assert_array_equal(fitted.path_levels_, np.arange(1, 151))
    path = fitted.predict_path(x[:9])
    assert path.shape == (150, 9, 2)
    for t in range(1, 151):
        exact = RBF(SIGMA)(x[:9], centers[:t]) @ stacked_coefficients(x, y, centers[:t], SIGMA, 1e-5)
        np.testing.assert_allclose(path[t - 1], exact, atol=1e-8)
    np.testing.assert_allclose(path[-1], fitted.predict(x[:9]), atol=1e-10)
    exact = stacked_coefficients(x, y, centers[:40], SIGMA, 1e-5)
    np.testing.assert_allclose(fitted.coefficients_at(40)[:40], exact, atol=1e-7)  # K_mm's condition is 1e4
    assert not fitted.coefficients_at(40)[40:].any()
    with pytest.raises(ParameterError, match="at most the number of centres, 150"):
        fitted.coefficients_at(151)


def test_the_path_is_that_of_algorithm_1_as_printed(data):
    x, y = data
    fitted = IncrementalNystromKRLS(length_scale=SIGMA, regularization=1e-2, centers=x[:40]).fit(x, y)
    for t, alpha in enumerate(algorithm_1(x, y, x[:40], SIGMA, 1e-2), start=1):
        np.testing.assert_allclose(fitted.coefficients_at(t)[:t], alpha, atol=1e-8)


def test_where_algorithm_1_breaks_down_the_path_goes_on():
    """A smooth kernel on a line: K_mm has numerical rank 13 or so, and the downdates fail soon after."""
    x = np.sort((rng := np.random.default_rng(1)).uniform(-1, 1, 200))[:, None]
    y, centers = np.sin(3 * x) + 0.1 * rng.normal(size=x.shape), x[rng.permutation(200)[:60]]
    with pytest.raises(np.linalg.LinAlgError):
        algorithm_1(x, y, centers, 1.0, 1e-10)
    fitted = IncrementalNystromKRLS(length_scale=1.0, regularization=1e-7, centers=centers).fit(x, y)
    assert fitted.n_kept_ < 20
    path = fitted.predict_path(x)
    for t in (1, 5, 12, 30):
        # Beyond the numerical rank accuracy is limited: the rounding of K, 1e-16, is divided by lambda, 1e-7.
        exact = exact_prediction(x, y, centers[:t], 1.0, 1e-7, x[::10])
        np.testing.assert_allclose(path[t - 1, ::10, 0], exact, atol=1e-8 if t < 6 else 1e-5)
    assert (path[1:] == path[:-1]).all(axis=(1, 2)).sum() == 60 - fitted.n_kept_ and np.isfinite(path).all()


@pytest.mark.parametrize("regularization", [1e-12, 1e-9])
def test_tiny_lambda_stays_finite_and_near_the_exact_solution(data, regularization):
    x, y = data
    fitted = IncrementalNystromKRLS(length_scale=3.0, regularization=regularization, centers=x[:120]).fit(x, y)
    exact = RBF(3.0)(x, x[:120]) @ stacked_coefficients(x, y, x[:120], 3.0, regularization)
    # Forming A^T A has a relative error of 1e-16 / lambda.
    np.testing.assert_allclose(fitted.predict(x), exact, atol=max(1e-8, 1e-14 / regularization))


def test_centres_can_be_added_afterwards(data):
    (x, y), settings = data, {"length_scale": SIGMA, "regularization": 1e-5}
    whole, grown = (IncrementalNystromKRLS(centers=x[:m], **settings).fit(x, y) for m in (70, 1))
    for start, stop in ((1, 2), (2, 30), (30, 70)):
        assert grown.set_params(kernel="linear").add_centers(x[start:stop]) is grown  # the kernel of the fit goes on
    np.testing.assert_array_equal(grown.centers_, whole.centers_)
    np.testing.assert_allclose(grown.predict_path(x), whole.predict_path(x), atol=1e-8)
    before = grown.predict(x)
    np.testing.assert_allclose(grown.add_centers(x[:5]).predict(x), before, atol=1e-12)  # they are there already
    assert len(grown.centers_) == len(grown.dual_coef_) == 75
    for error, wrong in ((ShapeError, x[:3, :2]), (NotFiniteError, x[:3] * np.nan)):
        with pytest.raises(error, match="centers"):
            grown.add_centers(wrong)


def test_chosen_levels_of_the_path(data):
    (x, y), settings = data, {"length_scale": SIGMA, "n_centers": 40, "random_state": 0}
    every = IncrementalNystromKRLS(**settings).fit(x, y)
    some = IncrementalNystromKRLS(path=[5, 40], **settings).fit(x, y)
    np.testing.assert_array_equal(some.predict_path(x), every.predict_path(x)[[4, 39]])
    with pytest.raises(ParameterError, match="from 1 to 40"):
        IncrementalNystromKRLS(path=[41], **settings).fit(x, y)


def test_the_echelon_factor_leaves_out_what_depends():
    rows = (rng := np.random.default_rng(2)).normal(size=(9, 150))
    rows[:, 100] = rows[:, 3] - rows[:, 4]
    rows[:, 0] = 0.0
    gram = rows.T @ rows
    factor, kept = echelon_cholesky(gram)
    np.testing.assert_array_equal(kept, np.arange(1, 10))
    np.testing.assert_allclose(factor.T @ factor, gram, atol=1e-10)
    np.testing.assert_array_equal(np.tril(factor[:, kept], -1), 0.0)
    x = rng.normal(size=(200, 1))
    basis = CenterBasis(Kernel("gaussian", 0.3), x)
    assert 20 < len(basis.kept) < 60
    # Columns that are left out are up to the square root of the pivot tolerance, 10 m eps, away from the span.
    np.testing.assert_allclose(basis.echelon.T @ basis.echelon, RBF(0.3)(x), atol=1e-6)


def test_leverage_scores_are_their_definition_and_a_pilot_of_all_gives_them(data):
    x, gram = data[0], RBF(SIGMA)(data[0])
    exact = np.diag(gram @ np.linalg.inv(gram + 1e-3 * N * np.eye(N)))
    np.testing.assert_allclose(leverage_scores(x, length_scale=SIGMA, regularization=1e-3), exact, atol=1e-10)
    every = leverage_scores(x, length_scale=SIGMA, regularization=1e-3, n_pilots=N)
    np.testing.assert_allclose(every, exact, atol=1e-10)
    some = leverage_scores(x, length_scale=SIGMA, regularization=1e-3, n_pilots=N // 2, random_state=0)
    assert 0.4 < np.median(some / exact) < 2.5 and np.corrcoef(some, exact)[0, 1] > 0.5


def test_leverage_sampling_finds_the_rare_samples():
    """Uniform sampling misses ten far-off samples among a thousand similar ones, leverage scores do not."""
    rng = np.random.default_rng(4)
    x = np.concatenate([0.1 * rng.normal(size=(1000, 2)), 20 * rng.normal(size=(10, 2))])
    y, settings = np.linalg.norm(x, axis=1), {"n_centers": 60, "regularization": 1e-4, "random_state": 0}
    by_leverage, uniform = NystromKRLS(sampling="leverage", **settings).fit(x, y), NystromKRLS(**settings).fit(x, y)
    assert by_leverage.score(x, y) > uniform.score(x, y) + 0.2


def test_a_ridge_lost_in_rounding_is_named():
    column, growing = np.ones((50, 1)), GrowingLeastSquares(np.arange(50.0)[:, None], 1e-30, 2)
    with pytest.raises(ParameterError, match=r"regularization is 2e-32, .*singular"):
        growing.extend(np.hstack([column, column, column]))
    with pytest.raises(ParameterError, match="singular"):
        solve_ridge(np.ones((2, 2)), np.ones((2, 1)), 1e-30, 50)
