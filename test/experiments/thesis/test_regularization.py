"""Tables 4.1 and 4.3 and figures 5.1 and 5.3 at sizes that take seconds, against scikit-learn and closed forms."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from icub_learning.errors import ParameterError
from icub_learning.experiments.data.benchmarks import Benchmark
from icub_learning.experiments.thesis import figure_5_1, figure_5_3, table_4_1, table_4_3
from icub_learning.kernel_methods import diagnostics as bounds

NOISE = 0.2


def draw(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 3))
    return x, np.sin(4 * x[:, 0]) + x[:, 1] ** 2 - 1 + NOISE * rng.normal(size=n)


@pytest.fixture
def data():
    return Benchmark(*draw(0, 300), *draw(1, 1000))


def kernel_ridge(data, rows, level, scale):
    model = KernelRidge(kernel="rbf", gamma=1 / (2 * scale**2), alpha=level * len(rows))
    predicted = model.fit(data.x[rows], data.y[rows]).predict(data.x_test)
    return np.sqrt(np.mean((predicted - data.y_test) ** 2))


@pytest.mark.parametrize("method", table_4_3.METHODS)
def test_five_methods_learn(data, method):
    found = table_4_3.select(method, data, 0.5, 100, 300, 0)
    if method == "KOLS":
        gram, cross = (rbf_kernel(x, data.x, gamma=1 / (2 * 0.5**2)) for x in (data.x, data.x_test))
        floor = 300 * np.finfo(float).eps
        interpolated = cross @ (np.linalg.pinv(gram, rcond=floor, hermitian=True) @ data.y)
        assert found["n"] == 300 and found["parameter"] is None
        # The cut-off of the pseudo-inverse decides the last digits; what matters is that nothing regularizes.
        assert found["rmse"] == pytest.approx(np.sqrt(np.mean((interpolated - data.y_test) ** 2)), rel=0.5)
        assert found["rmse"] > 3 * NOISE
    else:
        assert found["n"] == 240 and NOISE < found["rmse"] < 1.15 * NOISE < 0.5 * data.y_test.std()
    if method == "KRLS":
        learned = np.random.default_rng(0).permutation(300)[60:]
        assert found["rmse"] == pytest.approx(kernel_ridge(data, learned, found["parameter"], 0.5), rel=1e-6)
        assert found["rmse"] < 1.03 * min(kernel_ridge(data, learned, level, 0.5) for level in table_4_3.LAMBDAS[30::5])
    if method in ("ES", "NYTRO"):
        assert found["rule parameter"] <= found["parameter"] <= 500
        assert 1 <= found["rule loss"] <= 1.01


def test_table_4_3(run, monkeypatch, data):
    monkeypatch.setattr(table_4_3, "_load", lambda name, args: data)
    monkeypatch.setitem(table_4_3.SETTINGS, "insurance", (0.5, 100, 300))
    run("table-4.3", "--quick", "--on", "insurance")


def test_table_4_1(run, monkeypatch, data):
    monkeypatch.setattr(table_4_1, "_load", lambda name, args: data)
    monkeypatch.setitem(table_4_1.SCALES, "insurance", 0.5)
    _, found = run("table-4.1", "--quick", "--on", "insurance", "--draws", "1")
    methods = found["sets"]["insurance"]
    assert all(NOISE < one["rmse"] < 1.2 * NOISE for (one,) in methods.values())
    (exact,) = methods["KRLS"]
    assert exact["rmse"] == pytest.approx(kernel_ridge(data, np.arange(300), exact["lambda"], 0.5), rel=1e-6)
    for kind in ("incremental Nyström", "incremental random features"):
        path = methods[kind][0]["path"]
        assert methods[kind][0]["m"] in path["m"] and path["held-out RMSE"][0] > 1.02 * min(path["held-out RMSE"])


def test_figure_5_3(run, monkeypatch, data):
    x, y = np.vstack([data.x, data.x_test]), np.concatenate([data.y, data.y_test])
    monkeypatch.setattr(figure_5_3, "samples", lambda name, path: (x[:800], y[:800]))
    monkeypatch.setitem(figure_5_3.SETTINGS, "pumadyn32nh", (0.5, 1e-9, 0.5, 300))
    _, found = run("figure-5.3", "--quick", "--on", "pumadyn32nh", "--draws", "2")
    for kind in ("features", "centres"):
        one = found["pumadyn32nh"][kind]
        floor = NOISE / y[:800].std()
        assert floor < one["error"] < 1.3 * floor
        # Too few oversmooth, too many fit the noise.
        assert one["mean"][0] > 1.5 * one["error"] and one["mean"][-1] > 1.05 * one["error"]
        assert found["pumadyn32nh"]["m"][0] < one["best"] < found["pumadyn32nh"]["m"][-1]


def test_figure_5_1(run):
    _, found = run("figure-5.1", "--quick", "--samples", "100", "--draws", "3")
    checks = found["checks"]
    assert checks["theorem 2: KOLS"][0] == pytest.approx(checks["theorem 2: KOLS"][1], rel=1e-3)
    assert all(0 < risk <= bound * (1 + 1e-3) for risk, bound in checks.values())
    assert checks["theorem 3: KRLS at 1 / (n SNR)"][0] < 0.5 * checks["theorem 2: KOLS"][0]
    for row in found["rows"]:
        assert row["effective"] <= row["maximal"] <= min(100, 1 / row["lambda"]) * (1 + 1e-9)
        assert 2 < row["enough"] < 100 < row["theorem 5"]
        assert row["path"]["ratio"][0] > 2 and row["path"]["ratio"][-1] == pytest.approx(1.0, abs=1e-3)


def test_expected_risks_are_means_over_noise():
    problem = figure_5_1.Problem(60, 0)
    filtered = problem.values / (problem.values + 0.06)
    rng = np.random.default_rng(0)
    smoother = (problem.vectors * filtered) @ problem.vectors.T
    noise = figure_5_1.NOISE * rng.normal(size=(60, 20_000))
    errors = smoother @ (problem.mean[:, None] + noise) - problem.mean[:, None]
    assert problem.risk(filtered) == pytest.approx(np.mean(errors**2), rel=0.02)


def test_the_maps_of_figure_5_1():
    maps = figure_5_1.exponents()
    corner = {name: some[-1, 0] for name, some in maps.items() if name not in ("r", "gamma")}
    # r = 1/2, gamma = 1: the square root of n, whatever is drawn (theorem 9).
    assert list(corner.values()) == pytest.approx([0.5] * 4)
    third = int(np.argmin(np.abs(maps["gamma"] - 1 / 3)))
    # r = 1/2, gamma = 1/3, alpha = gamma: n^(gamma / (1 + gamma)) = n^(1/4), the thesis's example.
    assert maps["random features, alpha = gamma"][third, 0] == pytest.approx(0.25, abs=0.01)
    assert maps["random features, alpha = 1"][0, -1] == pytest.approx(0.5)  # r = 1, gamma = 0: n^(1/2)


def test_bounds_on_centres():
    assert bounds.centers_for_expected_risk(10, 1000, 500.0, 1e-3, 0.25) == int(np.ceil(1282 * np.log(2e9)))
    assert bounds.centers_for_optimal_rate(5, 1.0, 1e-3, 0.1) == int(np.ceil(67 * np.log(120_000)))
    assert bounds.centers_for_optimal_rate(100, 1.0, 1e-3, 0.1) == int(np.ceil(500 * np.log(120_000)))
    assert bounds.leverage_centers_for_optimal_rate(2, 1000, 0.1) == int(np.ceil(334 * np.log(480_000)))
    assert bounds.leverage_centers_for_optimal_rate(10, 1000, 0.1, 2) == int(np.ceil(3120 * np.log(480_000)))
    for bad in ((0, 10, 1, 0.1), (1, 10, 0, 0.1), (1, 10, 1, 0), (1, 10, 1, 0.1, 1.0), (1, 10, 1, 0.1, 0.0)):
        with pytest.raises(ParameterError):
            bounds.centers_for_expected_risk(*bad)
    with pytest.raises(ParameterError):
        bounds.leverage_centers_for_optimal_rate(2, 1000, 0.1, 0.5)
