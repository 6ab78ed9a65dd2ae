"""The experiments on kernel methods, at sizes that take seconds, and the closed forms that figure 5.2 stands on."""

from unittest.mock import MagicMock, Mock

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from icub_learning.cli.main import main
from icub_learning.experiments import falkon
from icub_learning.experiments.data.benchmarks import Benchmark
from icub_learning.experiments.data.tables import unit_interval
from icub_learning.experiments.thesis import figure_5_2, nytro, spline_rates, table_6_2
from icub_learning.kernel_methods import KRLS, NystromKRLS

NOISE = 0.005  # standard deviation, a quarter of the target's


def ridge_error(x, y, order, n, scale, level):
    """Return the RMSE of scikit-learn's kernel ridge regression, trained on the first n of `order`, on the others."""
    learned, others = np.split(order, [n])
    model = KernelRidge(kernel="rbf", gamma=1 / (2 * scale**2), alpha=n * level).fit(x[learned], y[learned])
    return np.sqrt(np.mean((model.predict(x[others]) - y[others]) ** 2))


def test_figures_4_1_and_4_2(run, tmp_path):
    """On made-up data with the columns of pumadyn32nh, three of which matter; this project lacks the real data."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2.3, 2.3, (1600, 32))
    table = np.column_stack([x, 0.03 * np.sin(x[:, :3] @ [2 / 3, -1 / 3, 1 / 6]) + NOISE * rng.normal(size=1600)])
    (folder := tmp_path / "pumadyn32nh").mkdir()
    np.savetxt(folder / "Prototask.data.gz", table)
    _, found = run("figure-4.1", "--quick", "--data", tmp_path)
    rows, scale = found["pumadyn32nh"]["rows"], found["pumadyn32nh"]["target_deviation"]
    assert scale == pytest.approx(table[:1000, -1].std())
    # With as many centres as samples, Nyström KRLS is kernel ridge regression, which scikit-learn computes too.
    x, orders = unit_interval(table[:, :-1]), [np.random.default_rng(seed).permutation(1000) for seed in (1, 2)]
    expected = np.mean([ridge_error(x, table[:, -1], order, 500, 2.66, 1e-3) for order in orders])
    assert rows[1]["test"] == pytest.approx(expected, rel=1e-5)
    assert NOISE < rows[0]["test"] < 1.1 * rows[1]["test"] < 0.45 * scale
    surface = np.array(found["pumadyn32nh"]["surface"])
    assert surface.shape == (5, 5) and rows[2]["test"] == pytest.approx(surface.min(), rel=0.1)
    # Ten centres do not span 32 dimensions, and lambda = 1 leaves next to nothing of the target.
    assert surface[:3, 0].min() > 2 * surface[:3, 1:].max() and surface[-1].min() > 0.9 * scale
    assert all(row["test"] < 8 for row in found["breast-cancer"]["rows"])
    run("figure-4.2", "--quick", "--data", folder)


@pytest.mark.parametrize("line", ["nytro --quick", "tensor-layout"])
def test_beside_their_records(run, line):
    run(*line.split())


def test_nytro_is_timed_on_as_many_noisy_samples_as_the_description_says(monkeypatch, tmp_path, capsys):
    for name in ("NYTRO", "NystromKRLS", "draw"):
        monkeypatch.setattr(nytro, name, Mock())
    assert main(["reproduce", "nytro", "--out", str(tmp_path)]) == 0
    (x, y), sizes = nytro.NYTRO.return_value.fit.call_args.args, (250, 500, 1000, 2000)
    assert f"n = {len(x)} samples of 12 inputs, t = {nytro.ITERATIONS}" in capsys.readouterr().out and x.shape[1] == 12
    assert f"n = {len(x)}:" in nytro.DESCRIPTION and f"m {sizes[-1]}." in nytro.DESCRIPTION
    asked = [(one.kwargs["n_centers"], one.kwargs["tol"]) for one in nytro.NYTRO.call_args_list]
    assert asked == [(m, 0.0) for m in sizes]
    np.testing.assert_allclose(nytro.NystromKRLS.call_args_list[-2].kwargs["path"], np.logspace(-15, 0, 100))
    noise = (y - np.sin(x[:, 0])) / 0.3
    np.testing.assert_allclose([noise.mean(), noise.std(), (noise**4).mean()], [0.0, 1.0, 3.0], atol=0.2)


def test_figure_5_2(run, monkeypatch):
    monkeypatch.setattr(figure_5_2, "CASES", figure_5_2.CASES[1:])  # `test_the_simulation` covers both
    _, found = run("figure-5.2", "--quick", "--draws", "20")
    (case,) = found["cases"]
    theory = {"risk": -0.875, "regularization": -0.5, "features": 0.5, "centers": 0.125}
    assert case["theory"] == pytest.approx(theory)
    assert abs(case["exponents"]["risk"] - theory["risk"]) < 4 * case["their_errors"]["risk"] + 0.05
    assert case["features"][0] > 1 and 1 < case["centers"][0] <= case["centers"][-1] < 101


def test_table_6_2(run, monkeypatch):
    rng = np.random.default_rng(0)
    x = (rng.uniform(size=(2400, 40)) < 0.3).astype(float)
    y = np.where(x[:, :6].sum(axis=1) + 0.5 * rng.normal(size=2400) > 1.75, 1.0, -1.0)
    monkeypatch.setattr(table_6_2, "adult", lambda path: Benchmark(x[:1500], y[:1500], x[1500:], y[1500:]))
    _, found = run("table-6.2", "--quick")
    for name, most in (("breast-cancer", 7), ("adult", 42)):  # half of the made-up labels of adult are +1
        one = found["sets"][name]
        errors = {method: np.mean([some[1] for some in all_]) for method, all_ in one["hinge, error, seconds"].items()}
        assert list(errors) == list(table_6_2.METHODS) and max(errors.values()) < most
        for outcomes in one["hinge, error, seconds"].values():
            assert np.mean([some[0] for some in outcomes]) < 0.9  # the zero function has a hinge loss of 1
        # theta = 1 oversmooths: its loss is far from the least, both on training samples and in tests.
        theta = one["smoothing"]["theta"]
        tests, learned = np.array(theta["hinge in tests"]), np.array(theta["hinge on the samples learned"])
        assert theta["values"][0] == 0.0 and theta["values"][-1] == 1.0
        assert tests[-1] == max(tests) > 1.4 * min(tests) and learned[-1] > 1.4 * min(learned)
        assert learned[-1] == pytest.approx(tests[-1], rel=0.2)
        assert all(len(losses) == 10 and losses[-1] < losses[0] < 1 for losses in one["hinge by passes"].values())


def test_falkon(run, monkeypatch):
    monkeypatch.setattr(falkon, "QUICK_SIZES", ((500, 30), (800, 60)))
    monkeypatch.setattr(falkon, "threadpool_limits", MagicMock())  # a second thread would only wait
    monkeypatch.setattr(falkon, "TEST", 2000)
    # Standard deviation of sin(2 x_1) + cos(x_2 x_3) + tanh(x_4 + ... + x_10) / 2 for normal x, by sampling.
    x = np.random.default_rng(0).normal(size=(100_000, 10))
    deviation = np.std(np.sin(2 * x[:, 0]) + np.cos(x[:, 1] * x[:, 2]) + 0.5 * np.tanh(x[:, 3:].sum(axis=1)))
    (said, found), limit = run("falkon", "--quick"), 0.9 * deviation
    assert found["growth"] is None and "Time grows" not in said  # milliseconds are no law
    for row in found["rows"]:
        assert row["falkon_error"] == pytest.approx(row["nystrom_error"], rel=0.01)
        assert row["sklearn_error"] == pytest.approx(row["nystrom_error"], rel=0.01)
        assert row["preconditioned_error"] == pytest.approx(row["krls_error"], rel=0.01)
        assert row["krls_error"] < row["nystrom_error"] < row["features_error"] < limit
        assert row["iterations_to_1_percent"] <= 5
    for row in found["theory"]:
        assert row["lambda"] == pytest.approx(row["n"] ** -0.5)
        assert row["m"] == int(np.ceil(np.sqrt(row["n"]))) and row["t"] == int(np.ceil(np.log(row["n"])))
        assert row["falkon_error"] == pytest.approx(row["nystrom_error"], rel=0.02)
        assert row["krls_error"] < row["falkon_error"] < deviation
    train, _ = falkon.sample(500, 0)
    chosen = falkon.choose_levels(train, 50, 0)
    errors = [ridge_error(*train, np.arange(500), 400, 3.0, level) for level in falkon.LAMBDAS]
    assert chosen["krls"] == falkon.LAMBDAS[int(np.argmin(errors))] and set(chosen) == {"nystrom", "features", "krls"}


def spline(order, x, z):
    """K_q(x, z) = 1 + sum_k 2 cos(2 pi k (x - z)) / k^q."""
    k = np.arange(1, spline_rates.HARMONICS + 1)
    return 1 + (2 / k**order) @ np.moveaxis(np.cos(2 * np.pi * k * (x - z)[..., None]), -1, -2)


@pytest.mark.parametrize(("r", "gamma"), [(11 / 16, 1 / 8), (7 / 8, 1 / 4)])
def test_the_simulation_is_krls_with_the_spline_kernel(r, gamma):
    """Coefficients on the basis against KRLS with the kernel of the source, and risks against sums over a grid."""
    n = 60
    random = np.random.default_rng([5, n, 0])
    x, grid = random.uniform(size=n), (np.arange(2000) + 0.5) / 2000
    order, place = r / gamma + 0.5 + spline_rates.SLACK, np.array([[spline_rates.X0]])
    f, truth = (spline(order, some[None], place)[0] for some in (x, grid))
    y = f + spline_rates.NOISE * random.normal(size=n)
    np.testing.assert_allclose(spline_rates.basis(x) @ spline_rates.truth(r, gamma), f, atol=1e-12)
    simulation = spline_rates.Simulation(n, r, gamma, 1, 5)
    risks = simulation.kernel_risks()[0]

    def kernel(a, b):
        return spline(1 / gamma, a[:, :1], b[:, :1].T)

    for place in (40, 60, 90):
        model = KRLS(kernel=kernel, regularization=spline_rates.LEVELS[place]).fit(x[:, None], y)
        assert risks[place] == pytest.approx(np.mean((model.predict(grid[:, None]) - truth) ** 2), rel=1e-6)
    # Nyström with the first centres of the simulation; with as many centres as basis functions it is KRLS.
    drawn = random.uniform(size=2 * spline_rates.HARMONICS + 1)
    counts, by_centers = simulation.center_risks(spline_rates.LEVELS[60], 0.0)
    assert counts == list(range(1, 2 * spline_rates.HARMONICS + 2))
    assert by_centers[0, -1] == pytest.approx(risks[60], rel=1e-4)
    few = NystromKRLS(kernel=kernel, regularization=spline_rates.LEVELS[60], centers=drawn[:7, None])
    predicted = few.fit(x[:, None], y).predict(grid[:, None])
    assert by_centers[0, 6] == pytest.approx(np.mean((predicted - truth) ** 2), rel=1e-6)


def test_many_random_features_do_as_well_as_the_kernel():
    simulation = spline_rates.Simulation(800, 7 / 8, 1 / 4, 10, 0)
    risk, level = spline_rates.choose(simulation.kernel_risks())
    counts, risks = simulation.feature_risks(level, 1.02 * risk)
    assert counts == sorted(set(counts)) and counts[0] == 1
    mean = risks.mean(axis=0)
    assert mean[0] > 2 * risk and mean[-1] <= 1.02 * risk
    assert 5 < spline_rates.enough(counts, risks, spline_rates.NEAR * risk) <= counts[-1]
