"""FALKON with the logistic loss, against a general optimizer on the same problem."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF

from icub_learning.errors import DataError
from icub_learning.kernel_methods import LogisticFALKON


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    y = np.where(rng.uniform(size=300) < 1 / (1 + np.exp(-3 * np.sin(2 * x[:, 0]) - x[:, 1])), 1.0, -1.0)
    return x, y


@pytest.mark.parametrize("level", [1e-1, 1e-3, 1e-5])
def test_the_objective_is_least(data, level):
    x, y = data
    model = LogisticFALKON(n_centers=30, regularization=level, random_state=0, tol=1e-8).fit(x, y)
    cross, gram = RBF(1.0)(x, model.centers_), RBF(1.0)(model.centers_)

    def objective(alpha):
        margins = y * (cross @ alpha)
        slope = -y / (1 + np.exp(margins)) / len(y)
        value = np.logaddexp(0, -margins).mean() + level / 2 * alpha @ gram @ alpha
        return value, cross.T @ slope + level * gram @ alpha

    least = minimize(objective, np.zeros(30), jac=True, options={"maxiter": 20_000, "gtol": 1e-12})
    ours, gradient = objective(model.dual_coef_)
    assert ours <= least.fun + 1e-9 < objective(np.zeros(30))[0] - 0.01
    assert np.linalg.norm(gradient) < 1e-7
    assert 1 <= model.n_iter_ <= 20 and model.n_products_ >= 1


def test_targets_that_are_no_signs_and_steps_too_few(data):
    x, y = data
    with pytest.raises(DataError, match="holds 0, but must be -1 or"):
        LogisticFALKON().fit(x, (y + 1) / 2)
    with pytest.warns(ConvergenceWarning, match="2 Newton steps"):
        LogisticFALKON(max_iter=2, regularization=1e-6).fit(x, y)
