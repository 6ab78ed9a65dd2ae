"""RegularizedCovariance against plain linear algebra."""

import numpy as np
import pytest
from helpers.unchanged import unchanged
from helpers.versions import every_version

from icub_learning.errors import IcubLearningError, ParameterError
from icub_learning.recursive import RegularizedCovariance, _cholesky

version = every_version(_cholesky)


def learned(d, n=50, regularization=0.3, seed=0):
    z, covariance = np.random.default_rng(seed).normal(size=(n, d)), RegularizedCovariance(d, regularization)
    covariance.update(z)
    return covariance, z, z.T @ z + np.diag(np.broadcast_to(regularization, d))


@pytest.mark.parametrize("d", [1, 5, 8, 9, 16, 33, 130])
def test_factor_and_solutions(d, version):
    covariance, z, a = learned(d, regularization=np.linspace(0.3, 2.0, d))
    for row in z[:3]:
        covariance.update(row)
        a += np.outer(row, row)
    np.testing.assert_allclose(covariance.factor.T @ covariance.factor, a, rtol=1e-11, atol=1e-11)
    for rows in (z[:1], z[:8], z[:11]):
        solution, leverages = covariance.solve(rows)
        np.testing.assert_allclose(solution, np.linalg.solve(a, rows.T).T, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(leverages, np.einsum("ij,ij->i", rows, solution), rtol=1e-8)
    single, leverage = covariance.solve(z[0])
    assert single.shape == (d,) and np.ndim(leverage) == 0 and covariance.solve(np.empty((0, d)))[0].shape == (0, d)


@pytest.mark.parametrize("n", [3, 60])
def test_merging_adds_the_samples(n):
    first, _, a = learned(12, n, 0.3)
    second, z, _ = learned(12, n, 5.0, seed=1)
    first.merge(second)
    np.testing.assert_allclose(first.factor.T @ first.factor, a + z.T @ z, rtol=1e-10, atol=1e-10)
    rows = second.equivalent_rows()
    np.testing.assert_allclose(rows.T @ rows, z.T @ z, rtol=1e-10, atol=1e-10)
    first.withdraw(z)
    np.testing.assert_allclose(first.factor.T @ first.factor, a, rtol=1e-9, atol=1e-9)
    with unchanged(first), pytest.raises(ParameterError, match="more than was learned"):
        first.withdraw(z)
    for other in (RegularizedCovariance(11), None, first.factor):
        with pytest.raises(ParameterError):
            first.merge(other)


@pytest.mark.parametrize("z", [np.full(9, np.nan), np.ones(8), np.ones((2, 10)), np.full(9, 1e150), "text"])
def test_bad_rows_change_nothing(z):
    with unchanged(covariance := learned(9)[0]), pytest.raises(IcubLearningError):
        covariance.update(z)
