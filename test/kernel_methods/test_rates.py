"""What theory says of errors: the number of centres regularizes, and random features learn at the optimal rate."""

import numpy as np
import pytest

from icub_learning.kernel_methods import IncrementalNystromKRLS, NystromKRLS


def test_at_tiny_lambda_the_number_of_centres_regularizes():
    """U-shaped in m at lambda = 1e-12; falling, then level, at 1e-3 (thesis 4.2.4)."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, size=(1500, 2))
    y = np.sin(x[:, 0]) * np.cos(x[:, 1]) + 0.5 * rng.normal(size=1500)
    x_test = rng.uniform(-3, 3, size=(1000, 2))
    y_test = np.sin(x_test[:, 0]) * np.cos(x_test[:, 1])
    levels = [5, 40, 400]
    errors = {}
    for level in (1e-12, 1e-3):
        path = IncrementalNystromKRLS(regularization=level, centers=x[:400], path=levels).fit(x, y)
        errors[level] = np.sqrt(np.mean((path.predict_path(x_test)[..., 0] - y_test) ** 2, axis=1))
    few, some, many = errors[1e-12]
    assert some < 0.5 * few
    assert some < 0.5 * many
    assert errors[1e-3][0] > errors[1e-3][1] > 0.98 * errors[1e-3][2]
    assert errors[1e-3][2] < 0.6 * many


def spline(q, x):
    """1 + sum_k 2 cos(2 pi k x) / k^q."""
    k = np.arange(1, 201)
    return 1 + (2 / k**q) @ np.cos(2 * np.pi * np.multiply.outer(k, np.ravel(x)))


@pytest.mark.parametrize(("r", "gamma"), [(11 / 16, 1 / 8), (7 / 8, 1 / 4)])
def test_random_features_learn_splines_at_the_optimal_rate(r, gamma):
    """Fig. 5.2: excess risk n^(-2r / (2r + gamma)) with lambda = n^(-1 / (2r + gamma)) and a power of n features."""
    sizes = np.array([500, 1000, 2000, 4000])
    # psi(omega, x) and the function learned depend on differences alone: tables, all points on their grid.
    table = np.arange(4096) / 4096
    feature, truth = spline(1 / (2 * gamma), table), spline(r / gamma + 0.51, table - 0.3)
    grid = np.arange(4, 4096, 16)
    risks = []
    for n in sizes:
        m = int(5 * n ** ((gamma + 2 * r - 1) / (2 * r + gamma)))
        risk = []
        for trial in range(8):
            rng = np.random.default_rng(trial)
            omega, x = rng.integers(4096, size=m), rng.integers(4096, size=n)
            z, z_grid = (feature[np.subtract.outer(where, omega) % 4096] / np.sqrt(m) for where in (x, grid))
            y = truth[x][:, None] + 0.5 * rng.normal(size=(n, 64))  # 64 draws of the noise are learned in one fit
            # Ridge regression on the features: Nyström with the linear kernel, the unit vectors as centres.
            model = NystromKRLS(kernel="linear", centers=np.eye(m), regularization=n ** (-1 / (2 * r + gamma)))
            risk.append(np.mean((model.fit(z, y).predict(z_grid) - truth[grid][:, None]) ** 2))
        risks.append(np.mean(risk))
    slope = np.polyfit(np.log(sizes), np.log(risks), 1)[0]
    assert slope == pytest.approx(-2 * r / (2 * r + gamma), abs=0.1)
