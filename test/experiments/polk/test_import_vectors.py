"""The import vector machine against sums over samples, SciPy's minimizer, and choices that are worse."""

import numpy as np
import pytest
from scipy.optimize import minimize

from icub_learning.errors import ParameterError
from icub_learning.experiments.polk import import_vectors as module
from icub_learning.experiments.polk.import_vectors import import_vectors
from icub_learning.kernel_methods import Kernel

KERNEL, LAMBDA, CLASSES = Kernel("gaussian", 0.8), 1e-3, 3


@pytest.fixture(scope="module")
def samples():
    rng, y = np.random.default_rng(0), np.arange(60) % CLASSES
    return rng.normal(size=(60, 2)) + 1.5 * np.eye(CLASSES)[y][:, :2], y


def objective(weights, x, y, chosen):
    """Return mean softmax loss + LAMBDA / 2 |f|^2."""
    gram = np.exp(-((x[:, None] - x[chosen]) ** 2).sum(axis=-1) / (2 * 0.8**2))
    scores = gram @ weights
    losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(y)), y]
    return losses.mean() + LAMBDA / 2 * np.sum(weights * (gram[chosen] @ weights))


def fit(x, y, chosen):
    """Return the least objective with these points, and its weights."""
    start = np.zeros(len(chosen) * CLASSES)
    found = minimize(lambda flat: objective(flat.reshape(-1, CLASSES), x, y, chosen), start, method="BFGS", tol=1e-7)
    return found.fun, found.x.reshape(len(chosen), CLASSES)


def newton_decrease(x, y, chosen, weights):
    """Return g' H^-1 g / 2 of the objective in all kernel weights, H and g summed sample by sample."""
    gram = np.exp(-((x[:, None] - x[chosen]) ** 2).sum(axis=-1) / (2 * 0.8**2))
    penalty = LAMBDA * gram[chosen]
    gradient, hessian = (penalty @ weights).ravel(), np.kron(penalty, np.eye(CLASSES))
    for row, label in zip(gram, y, strict=True):
        chances = np.exp(row @ weights)
        chances /= chances.sum()
        gradient += np.outer(row, chances - np.eye(CLASSES)[label]).ravel() / len(x)
        hessian += np.kron(np.outer(row, row), np.diag(chances) - np.outer(chances, chances)) / len(x)
    return gradient @ np.linalg.solve(hessian, gradient) / 2


def test_each_point_promises_the_largest_decrease_and_all_weights_are_optimal(samples):
    x, y = samples
    found = import_vectors(KERNEL, x, y, LAMBDA, most=4, candidates=len(x))
    assert len(found.chosen) == 4 and found.objectives[0] == pytest.approx(np.log(CLASSES))
    for order, chosen in enumerate(found.chosen):
        before = list(found.chosen[:order])
        weights = fit(x, y, before)[1] if before else np.zeros((0, CLASSES))
        more, left = np.vstack([weights, np.zeros(CLASSES)]), np.setdiff1d(np.arange(len(x)), before)
        promised = {index: newton_decrease(x, y, [*before, index], more) for index in left}
        assert promised[chosen] == pytest.approx(max(promised.values()), rel=1e-5)
        assert found.objectives[order + 1] == pytest.approx(fit(x, y, [*before, chosen])[0], rel=1e-6)
    np.testing.assert_array_equal(found.points, x[found.chosen])
    assert objective(found.weights, x, y, found.chosen) == pytest.approx(found.objectives[-1], rel=1e-9)


def test_it_ends_where_a_point_gains_little_and_takes_no_point_twice(samples):
    x, y = samples
    twice = import_vectors(KERNEL, np.concatenate([x, x]), np.concatenate([y, y]), 0.1, candidates=40, seed=1)
    gains = -np.diff(twice.objectives) / twice.objectives[1:]
    assert all(gains[:-1] >= module.TOLERANCE) and 0 <= gains[-1] < module.TOLERANCE
    assert len(np.unique(twice.points, axis=0)) == len(twice.points) < len(x)
    assert len(import_vectors(KERNEL, np.repeat(x[:2], 30, axis=0), y, 1e-6).chosen) <= 2
    with pytest.raises(ParameterError, match="at least 3"):
        import_vectors(KERNEL, x, y > 0, LAMBDA)
