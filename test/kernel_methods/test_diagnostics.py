"""Effective dimensions, signal-to-noise ratio and regimes against their definitions and simulated data."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from icub_learning.errors import DataError, NotFiniteError, ParameterError, ShapeError
from icub_learning.kernel_methods import diagnostics
from icub_learning.kernel_methods.diagnostics import costs, effective_dimensions, fastest_method, signal_to_noise

N = 150
X = np.random.default_rng(0).normal(size=(N, 2))


@pytest.mark.parametrize("regularization", [1e-1, 1e-3, 1e-5])
def test_dimensions_are_their_definition_and_in_their_order(regularization):
    gram = RBF(1.0)(X)
    hat = gram @ np.linalg.inv(gram + regularization * N * np.eye(N))
    found = effective_dimensions(X, regularization=regularization)
    assert found.effective == pytest.approx(np.trace(hat), abs=1e-8)
    assert found.maximal == pytest.approx(N * np.diag(hat).max(), abs=1e-6)
    assert found.effective <= found.maximal <= 1 / regularization and found.regularization == regularization
    some = effective_dimensions(X, regularization=regularization, n_pilots=100, random_state=0)
    assert 0.8 * found.effective < some.effective < 1.7 * found.effective


@pytest.mark.parametrize("ratio", [0.3, 3.0, 30.0])
def test_the_ratio_of_simulated_problems_is_found(ratio):
    """The targets are functions of known norm ||f||_H on the leading components of the kernel, plus known noise."""
    x = (rng := np.random.default_rng(1)).uniform(-3, 3, size=(300, 1))
    values, vectors = np.linalg.eigh(RBF(0.5)(x))
    kept = values >= values[-5]
    coordinates = rng.normal(size=(5, 40))  # their sum of squares is ||f||_H^2
    coordinates *= np.sqrt(ratio * 0.01 / (coordinates**2).sum(axis=0))
    f = vectors[:, kept] @ (np.sqrt(values[kept])[:, None] * coordinates)
    y = f + 0.1 * rng.normal(size=f.shape)
    found = signal_to_noise(x, y, length_scale=0.5)
    # Each target is likely as N(0, s (K + r I)); the best s for a ridge r is the mean of squares over K + r.
    ridges = values[-1] * np.geomspace(1e-6, 1.0, 3001)
    spread, squares = values[:, None] + ridges, ((vectors.T @ y) ** 2).mean(axis=1)
    scales = squares @ (1 / spread) / 300
    best = int(np.argmin(300 * np.log(scales) + np.log(spread).sum(axis=0)))
    noise = scales[best] * ridges[best]
    assert noise == pytest.approx(0.01, rel=0.1) and found.noise_variance / 40 == pytest.approx(noise, rel=1e-3)
    assert found.ratio == pytest.approx(squares @ (values / spread[:, best] ** 2) / noise, rel=3e-3)
    assert ratio / 4 < found.ratio < 4 * ratio and found.regularization == pytest.approx(1 / (300 * found.ratio))
    assert found.squared_norm == pytest.approx(found.ratio * found.noise_variance)
    one = signal_to_noise(x, y[:, 0], length_scale=0.5)
    assert one == signal_to_noise(x, y[:, :1], length_scale=0.5) != signal_to_noise(x, y[:, :1])


def test_costs_and_regimes_are_those_of_the_paper():
    n = 10**6
    found, m = costs(n, 100.0, 0.01), 100 * np.log(n * n * 0.01)
    exact = {"KRLS": n**3, "early stopping": n**2 * 1e4, "NystromKRLS": n * m**2, "NYTRO": n * m * 1e4}
    assert found == pytest.approx(exact)
    # NYTRO is faster than NystromKRLS exactly where d >= 1 / (lambda log(n / lambda)).
    for ratio in (1e-4, 1e-2, 0.1):
        edge = n * ratio / np.log(n * n * ratio)
        assert costs(n, 1.1 * edge, ratio)["NYTRO"] < costs(n, 1.1 * edge, ratio)["NystromKRLS"]
        assert costs(n, 0.9 * edge, ratio)["NYTRO"] > costs(n, 0.9 * edge, ratio)["NystromKRLS"]
    assert fastest_method(n, 10.0, 100.0) == "NystromKRLS"  # few dimensions
    assert fastest_method(n, 0.9 * n * 1e-3, 1e-3) == "NYTRO"  # noisy, many dimensions
    assert fastest_method(n, 0.5 * n, 0.9) == "early stopping"  # half as many dimensions as samples, noisy
    assert fastest_method(n, n, 1.0) == "KRLS"  # SNR about one, dimension about n
    table = diagnostics.regime_map(1000, [1.0, 10.0, 900.0], [1e-2, 1.0, 100.0])
    few, equal = "NystromKRLS", "KRLS"  # of methods that cost the same the one without centres is named
    assert table.tolist() == [[few, "NYTRO", ""], [few, few, equal], [few, few, equal]]  # 900 > 1 / lambda = 10
    assert costs(100, 1e-6, 1e-4) == {"KRLS": 1e6, "early stopping": 1e4, "NystromKRLS": 100.0, "NYTRO": 100.0}
    assert costs(100, 100.0, 10) == {"KRLS": 1e6, "early stopping": 1e7, "NystromKRLS": 1e6, "NYTRO": 1e7}
    assert costs(2, 2.0 + 1e-10, 1)["KRLS"] == 8.0  # one centre and one iteration at least, n centres at most


def test_bad_input_is_named():
    x, y = X, np.sin(X[:, 0])
    for error, words, bad in (
        (ParameterError, "regularization", lambda: effective_dimensions(x, regularization=0.0)),
        *((ShapeError, "X", lambda bad=bad: effective_dimensions(bad)) for bad in (x[0], x[:0], x[:, :0])),
        (NotFiniteError, "y", lambda: signal_to_noise(x, y * np.nan)),
        *((ShapeError, r"y .*\(150,\) or \(150, T\)", lambda bad=bad: signal_to_noise(x, bad))
          for bad in (y[1:], y[:, None, None], np.empty((N, 0)))),
        (ParameterError, "n_pilots", lambda: effective_dimensions(x, n_pilots=0)),
        (ParameterError, f"n_pilots .* samples, {N}", lambda: effective_dimensions(x, n_pilots=N + 1)),
        (ParameterError, "working precision", lambda: effective_dimensions(x[[0] * N], regularization=1e-30)),
        *((ParameterError, name, lambda name=name: costs(**{"n": 9, "dimension": 1.0, "ratio": 1.0, name: 0}))
          for name in ("dimension", "ratio")), (ParameterError, "n is 1", lambda: costs(1, 1.0, 1.0)),
        (DataError, "constant", lambda: signal_to_noise(x, np.ones(N))),
        (DataError, "kernel is 0", lambda: signal_to_noise(0.0 * x, y, kernel="linear")),
        (ParameterError, "^n is 0", lambda: diagnostics.leverage_centers_for_optimal_rate(10.0, 0)),
        (ParameterError, "^n is 0", lambda: diagnostics.centers_for_expected_risk(10.0, 0, 1.0, 1.0)),
        (ParameterError, "a probability in", lambda: diagnostics.centers_for_optimal_rate(1.0, 1.0, 0.1, 0.0)),
        (ParameterError, r"at most min\(n, 1 / lambda\*\) = 10", lambda: costs(1000, 11.0, 0.01)),
        (ShapeError, "smoother", lambda: diagnostics.fixed_design_risk(np.eye(3), np.zeros(4), 1.0)),
        (ParameterError, "noise_variance", lambda: diagnostics.fixed_design_risk(np.eye(4), np.zeros(4), -1.0)),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            bad()
