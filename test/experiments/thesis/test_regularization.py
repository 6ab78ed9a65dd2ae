"""Tables 4.1 and 4.3 and figures 5.1 and 5.3 at sizes that take seconds, against scikit-learn and closed forms."""

from unittest.mock import Mock

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from icub_learning.cli.main import main
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
    return np.sqrt(np.mean((model.fit(data.x[rows], data.y[rows]).predict(data.x_test) - data.y_test) ** 2))


@pytest.mark.parametrize("method", table_4_3.METHODS)
def test_five_methods_learn(data, method):
    found = table_4_3.select(method, data, 0.5, 100, 300, 0)
    if method == "KOLS":
        gram, cross = (rbf_kernel(x, data.x, gamma=1 / (2 * 0.5**2)) for x in (data.x, data.x_test))
        interpolated = cross @ (np.linalg.pinv(gram, rcond=300 * np.finfo(float).eps, hermitian=True) @ data.y)
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
        assert found["rule parameter"] <= found["parameter"] <= 500 and 1 <= found["rule loss"] <= 1.01


def test_tables_4_3_and_4_1(run, monkeypatch, data):
    for table, settings, one in ((table_4_3, "SETTINGS", (0.5, 100, 300)), (table_4_1, "SCALES", 0.5)):
        monkeypatch.setattr(table, "_load", lambda name, args: data)
        monkeypatch.setitem(getattr(table, settings), "insurance", one)
    run("table-4.3", "--quick", "--on", "insurance")
    _, found = run("table-4.1", "--quick", "--on", "insurance", "--draws", "1")
    methods = found["sets"]["insurance"]
    assert all(NOISE < one["rmse"] < 1.2 * NOISE for (one,) in methods.values())
    (exact,) = methods["KRLS"]
    assert exact["rmse"] == pytest.approx(kernel_ridge(data, np.arange(300), exact["lambda"], 0.5), rel=1e-6)
    for kind in ("incremental Nyström", "incremental random features"):
        path = methods[kind][0]["path"]
        assert methods[kind][0]["m"] in path["m"] and path["held-out RMSE"][0] > 1.02 * min(path["held-out RMSE"])


def test_tables_4_1_and_4_3_learn_each_target_in_its_unit(monkeypatch, tmp_path):
    """Insurance: signs, halved; CPU and CT slices as they come; years in [0, 1]; pumadyn32nh with a deviation of 1."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(1000, 2)), rng.uniform(3.0, 7.0, size=1000)
    names = "rmse", "held-out RMSE", "m", "lambda", "seconds"
    outcome = dict.fromkeys(names, 1.0) | {"path": {"m": [3], "held-out RMSE": [0.1]}}
    monkeypatch.setattr(table_4_1, "insurance", lambda _: Benchmark(x, np.sign(y - 5), x, np.sign(y - 5)))
    monkeypatch.setattr(table_4_1, "samples", lambda *_: (x, y))
    monkeypatch.setattr(table_4_1, "judge", judge := Mock(return_value=outcome))
    monkeypatch.setattr(table_4_1, "draw", Mock())
    assert main(["reproduce", "table-4.1", "--draws", "1", "--out", str(tmp_path), "--on", *table_4_1.SCALES]) == 0
    given = {scale: data for _, data, scale, *_ in (call.args for call in judge.call_args_list)}
    found = {name: given[scale] for name, scale in table_4_1.SCALES.items()}
    assert set(found["insurance"].y) == set(found["insurance"].y_test) == {-0.5, 0.5}
    whole = {name: np.sort(np.concatenate([one.y, one.y_test])) for name, one in found.items()}
    np.testing.assert_array_equal([whole["cpuSmall"], whole["ct-slices"]], [np.sort(y)] * 2)
    np.testing.assert_allclose(whole["pumadyn32nh"], np.sort(y) / y.std())
    np.testing.assert_allclose(whole["year-prediction"], (np.sort(y) - y.min()) / np.ptp(y))
    assert [len(found[name].x) for name in list(found)[1:]] == [800, 800, 900, 500]
    np.testing.assert_array_equal(found["year-prediction"].x_test, x[900:])  # the last songs
    chosen = dict.fromkeys(("seconds", "rmse", "parameter", "rule parameter", "rule rmse", "rule loss"), 1.0) | {"n": 9}
    place, signs = Mock(return_value=Mock(ratio=3e3, regularization=0.1, maximal=20.0)), np.sign(y - 5)
    given = {"insurance": table_4_1.insurance, "adult": lambda _: Benchmark(x, signs, x, signs), "save": Mock(),
             "samples": lambda name, _: (x, signs if name == "breast-cancer" else y), "signal_to_noise": place,
             "effective_dimensions": place, "select": (select := Mock(return_value=chosen))}  # fmt: skip
    for name, one in given.items():
        monkeypatch.setattr(table_4_3, name, one)
    assert main(["reproduce", "table-4.3", "--out", str(tmp_path), "--on", *table_4_3.SETTINGS]) == 0
    (axes,) = given["save"].call_args.args[0].axes
    assert {(*one.xy, one.xyann[1]) for one in axes.texts} == {(1000, 20, 0)} and axes.lines[-1].get_marker() == ">"
    asked = [call.args for call in select.call_args_list]
    for name, (_, data, *settings, _) in zip(table_4_3.SETTINGS, asked[::5], strict=True):
        target = np.concatenate([data.y, data.y_test])
        assert (set(target) == {-1.0, 1.0}) == (name not in ("pumadyn32nh", "diabetes"))
        assert set(target) == {-1.0, 1.0} or target.std() == pytest.approx(1.0)
        assert len(data.x) == len(data.y) == len(target) // 2 and settings == [*table_4_3.SETTINGS[name]]


def test_figures_5_1_and_5_3(run, monkeypatch, data):
    _, found = run("figure-5.1", "--quick", "--samples", "100", "--draws", "3")
    checks = found["checks"]
    assert checks["theorem 2: KOLS"][0] == pytest.approx(checks["theorem 2: KOLS"][1], rel=1e-3)
    assert all(0 < risk <= bound * (1 + 1e-3) for risk, bound in checks.values())
    assert checks["theorem 3: KRLS at 1 / (n SNR)"][0] < 0.5 * checks["theorem 2: KOLS"][0]
    for row in found["rows"]:
        assert row["effective"] <= row["maximal"] <= min(100, 1 / row["lambda"]) * (1 + 1e-9)
        assert 2 < row["enough"] < 100 < row["theorem 5"]
        assert row["path"]["ratio"][0] > 2 and row["path"]["ratio"][-1] == pytest.approx(1.0, abs=1e-3)
    maps = figure_5_1.exponents()
    corner = {name: some[-1, 0] for name, some in maps.items() if name not in ("r", "gamma")}
    # r = 1/2, gamma = 1: the square root of n, whatever is drawn (theorem 9).
    assert list(corner.values()) == pytest.approx([0.5] * 4)
    third = int(np.argmin(np.abs(maps["gamma"] - 1 / 3)))
    # r = 1/2, gamma = 1/3, alpha = gamma: n^(gamma / (1 + gamma)) = n^(1/4), the thesis's example.
    assert maps["random features, alpha = gamma"][third, 0] == pytest.approx(0.25, abs=0.01)
    assert maps["random features, alpha = 1"][0, -1] == pytest.approx(0.5)  # r = 1, gamma = 0: n^(1/2)
    problem = figure_5_1.Problem(60, 0)
    filtered, rng = problem.values / (problem.values + 0.06), np.random.default_rng(0)
    smoother = (problem.vectors * filtered) @ problem.vectors.T
    noise = figure_5_1.NOISE * rng.normal(size=(60, 20_000))
    errors = smoother @ (problem.mean[:, None] + noise) - problem.mean[:, None]
    assert problem.risk(filtered) == pytest.approx(np.mean(errors**2), rel=0.02)
    assert bounds.centers_for_expected_risk(10, 1000, 500.0, 1e-3, 0.25) == int(np.ceil(1282 * np.log(2e9)))
    assert bounds.centers_for_optimal_rate(5, 1.0, 1e-3, 0.1) == int(np.ceil(67 * np.log(120_000)))
    assert bounds.centers_for_optimal_rate(100, 1.0, 1e-3, 0.1) == int(np.ceil(500 * np.log(120_000)))
    assert bounds.leverage_centers_for_optimal_rate(2, 1000, 0.1) == int(np.ceil(334 * np.log(480_000)))
    assert bounds.leverage_centers_for_optimal_rate(10, 1000, 0.1, 2) == int(np.ceil(3120 * np.log(480_000)))
    wrong = (0, 10, 1, 0.1), (1, 10, 0, 0.1), (1, 10, 1, 0), (1, 10, 1, 0.1, 1.0), (1, 10, 1, 0.1, 0.0)
    count, with_leverage = bounds.centers_for_expected_risk, bounds.leverage_centers_for_optimal_rate
    for function, bad in (*((count, one) for one in wrong), (with_leverage, (2, 1000, 0.1, 0.5))):
        with pytest.raises(ParameterError):
            function(*bad)
    x, y = np.vstack([data.x, data.x_test]), np.concatenate([data.y, data.y_test])
    monkeypatch.setattr(figure_5_3, "samples", lambda name, path: (x[:800], y[:800]))
    monkeypatch.setitem(figure_5_3.SETTINGS, "pumadyn32nh", (0.5, 1e-9, 0.5, 300))
    text, found = run("figure-5.3", "--quick", "--on", "pumadyn32nh", "--draws", "2")
    for kind in ("features", "centres"):
        one, floor = found["pumadyn32nh"][kind], NOISE / y[:800].std()
        assert f" {one['error']:.4f} " in text and f" {one['mean'][-1]:.4f} " in text
        assert floor < one["error"] < 1.3 * floor
        assert one["mean"][0] > 1.5 * one["error"] and one["mean"][-1] > 1.05 * one["error"]
        assert found["pumadyn32nh"]["m"][0] < one["best"] < found["pumadyn32nh"]["m"][-1]
