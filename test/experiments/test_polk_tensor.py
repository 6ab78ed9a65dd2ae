"""The experiments on POLK, textures and tensor kernels, at sizes that take seconds."""

import numpy as np
import pytest

from icub_learning.experiments.data.tables import load_wpbc
from icub_learning.experiments.data.textures import PATCH, TEXTONS, texton_histograms, textures
from icub_learning.experiments.polk import budgeted_sgd, convergence, curves, multidist
from icub_learning.experiments.tensor import layout, synthetic, wpbc
from icub_learning.kernel_methods import Kernel, POLKRegressor

SAMPLES = 1500  # training samples; test/kernel_methods/online/test_polk.py has 5000


def test_polk_multidist(run, monkeypatch):
    monkeypatch.setattr(multidist, "N_TRAIN", SAMPLES)
    monkeypatch.setattr(budgeted_sgd, "STEPS", (0.05, 0.2, 6.0))
    _, found = run("polk-multidist", "--draws", "1")
    excess = {name: one["excess error"][0] for name, one in found["methods"].items()}
    order = {name: one["order"][0] for name, one in found["methods"].items()}
    # The rival on a budget; if it dropped the oldest point, it would exceed the Bayes error by a fifth or more.
    for kind, most, of_rival in (("iterate", 0.15, 0.15), ("average", 0.04, 0.06)):
        assert 12 <= order[f"POLK hinge, K 0.04, {kind}"] <= 22 and excess[f"POLK hinge, K 0.04, {kind}"] < most
        name = f"BSGD, {multidist.BUDGET} points, {kind}"
        assert order[name] == multidist.BUDGET and excess[name] < of_rival
    assert excess["POLK logistic, K 0.01, average"] < 0.015
    for name in ("POLK hinge, K 0.04", "POLK hinge, K 0.01", "functional gradients, hinge"):
        assert excess[f"{name}, average"] < excess[f"{name}, iterate"]
    assert abs(excess["SVM, in batch"]) < 0.02 and order["functional gradients, hinge, average"] > SAMPLES / 5
    changes = {name: one["change"] for name, one in found["methods"].items() if "change" in one}
    # Points are removed as long as the bound allows: the largest change of all steps is close to the bound.
    assert all(0.8 < value <= 1 + 1e-6 for some in changes.values() for value in some)


def test_curves_of_multidist(run, monkeypatch):
    monkeypatch.setattr(budgeted_sgd, "STEPS", (0.05, 0.2, 6.0))
    _, found = run("polk-curves", "--quick", "--on", "multidist", "--draws", "1")
    methods, zero = found["multidist"], {"hinge": 1.0, "logistic": np.log(5)}
    for name, one in methods.items():
        assert one["error"][-1] < 0.45 or name == curves.STUCK  # chance is 0.8
        if len(one["samples"]) > 1:
            assert np.mean(one["risk"][-5:]) < np.mean(one["risk"][:5])
            # The newest iterate jumps, and a function that fits all samples exactly has a larger risk in tests.
            assert min(one["risk"][-5:]) < zero[one["loss"]]
    dense = next(one for name, one in methods.items() if name.startswith("L-BFGS logistic"))
    assert methods["POLK logistic, K 0.01"]["error"][-1] < dense["error"][-1] + 0.05
    rng = np.random.default_rng(0)
    x, y, kernel = rng.normal(size=(60, 2)), rng.integers(3, size=60), Kernel("gaussian", 1.0)
    gram, weights = kernel.gram(x), curves.dense_lbfgs(kernel, x, y, "logistic", np.arange(3), np.zeros((60, 3)))

    def objective(flat):
        scores = gram @ flat.reshape(60, 3)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return -logs[np.arange(60), y].mean() + curves.LAMBDA / 2 * (flat.reshape(60, 3) * scores).sum()

    assert (best := objective(weights.ravel())) < 0.8 < objective(np.zeros(180))
    assert min(objective(weights.ravel() + 0.05 * rng.normal(size=180)) for _ in range(20)) > best


def test_textures_differ():
    made = textures(0)
    images, places = np.array(list(made.values())), np.fft.fftfreq(256)
    np.testing.assert_allclose([images.mean(axis=(1, 2)), images.std(axis=(1, 2))], [[0.0] * 13, [1.0] * 13], atol=1e-9)
    # Mean steps from pixel to pixel, downwards and to the right, of the pictures that were looked at.
    steps = [5600, 5572, 3305, 3313, 2947, 2956, 5484, 2868, 2948, 5481, 8372, 8383, 5040, 5046, 3118, 5257, 5744,
             6377, 6069, 4234, 3434, 3478, 4496, 4506, 3435, 3481]  # fmt: skip
    found = [np.abs(np.diff(image, axis=axis)).mean() for image in images for axis in (0, 1)]
    np.testing.assert_allclose(found, np.array(steps) / 1e4, atol=1e-4)
    # The stronger waves along x or y of canvas have a period of 9 pixels; stripes have one of 11, turned by 0.3 rad.
    for name, period, angles in (("canvas", 9, (0, np.pi / 2)), ("stripes", 11, (0.3,))):
        wave = places[list(np.unravel_index(np.argmax(np.abs(np.fft.fft2(made[name]))), (256, 256)))][::-1]
        waves = [[np.cos(a + turn) / period, np.sin(a + turn) / period] for a in angles for turn in (0, np.pi)]
        assert any(np.allclose(wave, one, atol=1 / 256) for one in waves)
    x, y = texton_histograms(400, 0)
    assert x.shape == (400, TEXTONS) and set(y) == set(range(13)) and PATCH == 24
    np.testing.assert_allclose((x**2).sum(axis=1), 1.0)
    assert np.mean(y[(x @ x.T - 2 * np.eye(400)).argmax(axis=1)] == y) > 0.85


def test_convergence(run, monkeypatch):
    monkeypatch.setattr(convergence, "STEPS", (0.4, 0.1))
    _, found = run("polk-convergence", "--quick", "--draws", "1", "--samples", "5000")
    runs, powers = found["runs"], found["powers"]
    assert powers["distance"] < -0.2 and powers["risk"] < -0.5 and 0.3 < powers["remaining"] < 0.8 and found["holds"]
    problem = convergence.Problem()
    for one in runs.values():
        assert one["closest"] <= one["distance"] < 0.4 * problem.norm and one["points"] <= convergence.POINTS
    assert runs["diminishing"]["distance"] < runs["eta 0.1"]["distance"] < runs["eta 0.4"]["distance"]
    least, rng = problem.risk(problem.x, problem.best), np.random.default_rng(0)
    for _ in range(20):
        other = problem.best + (gap := 0.01 * rng.normal(size=convergence.POINTS))
        assert problem.risk(problem.x, other) > least
        assert problem.distance(problem.x, other) == pytest.approx(np.sqrt(gap @ problem.gram @ gap), abs=1e-6)
    # Without removal POLK is functional gradient descent, and its distance is that of an expansion in all points.
    chosen = (random := np.random.default_rng(3)).integers(convergence.POINTS, size=200)
    y = problem.mean[chosen] + convergence.NOISE * random.uniform(-(3**0.5), 3**0.5, size=200)
    settings = {"length_scale": convergence.SCALE, "regularization": convergence.LAMBDA, "parsimony": 0.0}
    plain = POLKRegressor(step_size=0.2, **settings).fit(problem.x[chosen], y)
    followed = problem.follow({"schedule": "constant", "step_size": 0.2}, 200, 3)
    # Each of 200 removals moves f by at most epsilon, and later steps contract that change.
    epsilon = convergence.PARSIMONY * 0.2**1.5
    assert abs(followed["distances"][-1] - problem.distance(plain.dictionary_, plain.coef_[:, 0])) < 200 * epsilon
    assert followed["distances"][-1] < 0.6 * problem.norm and followed["t"][-1] == 200


@pytest.fixture
def patients(tmp_path):
    """Write patients whose time depends on the product of two features and class on its sign; degree 2 learns both. The
    kernel of degree 2 has no odd terms; the features are far from zero, to test that they are centred."""
    rng, rows = np.random.default_rng(0), [["status", "time", *(f"f{j}" for j in range(5))], ["R", 1.0, *["NA"] * 5]]
    for row in rng.normal(size=(194, 5)):
        product = row[0] * row[1]
        rows.append(["R" if product > 0.2 else "N", 10 + product + 0.1 * rng.normal(), *(100 + 7 * row)])
    path = tmp_path / "wpbc.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in rows))
    return path


def test_tensor_wpbc(run, patients, monkeypatch):
    monkeypatch.setattr(layout, "MOST_FULL", 8 * 60**4)  # [bytes] excludes 120 patients, which take seconds
    monkeypatch.setattr(wpbc, "SIZES", (30, 60))
    _, found = run("tensor-wpbc", "--data", patients, "--splits", "2", "--draws", "2")
    for name, most in (("time", 0.25), ("class", 0.75)):
        for split in found["splits"][name]:
            for one in split.values():  # errors are relative to that of guessing the mean
                assert wpbc.GAMMAS[int(np.argmin(one["validation"]))] == one["gamma"] and np.mean(one["errors"]) < 1
            assert np.mean(split["60"]["errors"]) < most
            assert len(set(split["60"]["errors"])) == 1 and len(set(split["30"]["errors"])) == 2
    assert np.mean([one["60"]["wrong"] for one in found["splits"]["class"]]) < 30
    assert found["build"][0]["difference"] < 1e-8
    x = np.random.default_rng(0).normal(size=(4, 3))
    full, a = layout.FullTensor(x), np.random.default_rng(1).normal(size=4)
    sums = np.einsum("ai,bi,ci,di->abcd", x, x, x, x) ** 2
    np.testing.assert_allclose(full.gradient(a), np.einsum("abcd,b,c,d->a", sums, a, a, a))


def test_test_rows_do_not_change_what_is_learned_of_wpbc(patients):
    data = load_wpbc(patients)
    assert data.features.shape == (194, 5) and set(data.recurred) == {-1.0, 1.0}
    training, spoiled = np.arange(60), data.features.copy()
    spoiled[60:] *= 1000
    np.testing.assert_array_equal(wpbc.scale(data.features, training)[:60], wpbc.scale(spoiled, training)[:60])
    assert wpbc.scale(data.features, training)[:60].std(axis=0) == pytest.approx(np.ones(5))
    parts = np.split(np.arange(194), [60, 120])
    one, swapped = wpbc.judge_split(data.features, data.time, parts, 2, 0), data.time.copy()
    swapped[120:] = swapped[120:][::-1]
    other = wpbc.judge_split(data.features, swapped, parts, 2, 0)
    assert [entry["gamma"] for entry in one.values()] == [entry["gamma"] for entry in other.values()]
    assert np.mean(other[60]["errors"]) > 1 > np.mean(one[60]["errors"])


def test_tensor_selection_and_synthetic(run):
    _, found = run("tensor-synthetic", "--quick")
    (one,) = found["times"]
    assert one["n"] == 30 and one["difference"] < 1e-8 and one["without"]["gap"] < 1e-6
    (errors,) = found["errors"]
    validation = np.array(errors["validation"])
    for row, gamma, tests in zip(validation, errors["gamma"], errors["test"], strict=True):
        assert errors["gammas"][int(row.argmin())] == gamma
        assert row[0] > 0.7 * errors["guess"] > row.min() and np.mean(tests) < 0.8 * errors["guess"]
    assert validation.shape == (2, len(errors["gammas"])) and np.mean(errors["test"][1]) < np.mean(errors["test"][0])
    x, y, w = synthetic.problem(300, 50, 7, 0)
    assert np.count_nonzero(w) == 7 and 0.7 <= np.abs(w[w != 0]).min() <= np.abs(w).max() <= 1
    assert np.std(y - x @ w) == pytest.approx(synthetic.NOISE, rel=0.15)
    _, found = run("tensor-selection", "--draws", "1")
    for name in ("order 4", "lasso"):
        one = found["found"][f"m 160, {name}"]
        assert one["true"][0] >= 10 and one["true in top 17"][0] >= 8
