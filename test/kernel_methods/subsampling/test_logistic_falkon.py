"""FALKON with the logistic loss, against a general optimizer on the same problem."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF

from icub_learning.errors import DataError
from icub_learning.kernel_methods import LogisticFALKON

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = np.where(RNG.uniform(size=300) < 1 / (1 + np.exp(-3 * np.sin(2 * X[:, 0]) - X[:, 1])), 1.0, -1.0)


def objective(alpha, x, y, centers, level):
    """Return mean log(1 + exp(-y f)) + level / 2 |f|^2 and its gradient, f = sum_j alpha_j k(centre j, .)."""
    cross, gram = RBF(1.0)(x, centers), RBF(1.0)(centers)
    margins = y * (cross @ alpha)
    slope, value = -y * expit(-margins) / len(y), np.logaddexp(0, -margins).mean() + level / 2 * alpha @ gram @ alpha
    return value, cross.T @ slope + level * gram @ alpha


@pytest.mark.parametrize("level", [1e-1, 1e-3, 1e-5])
def test_the_objective_is_least(level):
    model = LogisticFALKON(n_centers=30, regularization=level, random_state=0, tol=1e-8).fit(X, Y)
    given = X, Y, model.centers_, level
    least = minimize(objective, np.zeros(30), given, jac=True, options={"maxiter": 20_000, "gtol": 1e-12})
    ours, gradient = objective(model.dual_coef_, *given)
    assert ours <= least.fun + 1e-9 < objective(np.zeros(30), *given)[0] - 0.01 and np.linalg.norm(gradient) < 1e-7
    assert 1 <= model.n_iter_ <= 20 and model.n_products_ >= 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_step_raises_the_objective():
    """A few wrong labels among separable ones and a tiny lambda: full Newton steps would lead up."""
    x = 3 * (rng := np.random.default_rng(1)).normal(size=(60, 3))
    y, level, values = np.where(x[:, 0] > 1, 1.0, -1.0) * np.where(rng.permutation(60) < 3, -1, 1), 1e-9, []
    for steps in range(9, 30):  # lambda has come down to its own value by then
        model = LogisticFALKON(n_centers=30, regularization=level, random_state=0, max_iter=steps).fit(x, y)
        values.append(objective(model.dual_coef_, x, y, model.centers_, level)[0])
    assert (np.diff(values) <= 1e-12).all() and values[-1] < 0.7 * values[0]


def test_targets_that_are_no_signs_and_steps_too_few():
    with pytest.raises(DataError, match="holds 0, but must be -1 or"):
        LogisticFALKON().fit(X, (Y + 1) / 2)
    with pytest.warns(ConvergenceWarning, match="2 Newton steps") as caught:
        model = LogisticFALKON(max_iter=2, regularization=1e-6).fit(X, Y)
    assert model.score(X, Y) == np.mean(np.sign(model.predict(X)) == Y)
    assert caught[0].filename == __file__  # where it was asked for
