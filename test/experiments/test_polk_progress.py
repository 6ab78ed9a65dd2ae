"""Curves and convergence of POLK, textures, and times and errors of tensor kernels, at sizes that take seconds."""

import numpy as np
import pytest

from icub_learning.experiments.data.textures import PATCH, TEXTONS, texton_histograms, textures
from icub_learning.experiments.polk import budgeted_sgd, convergence, curves
from icub_learning.experiments.tensor import synthetic
from icub_learning.kernel_methods import Kernel, POLKRegressor
from icub_learning.reporting.tables import number


def test_curves_of_multidist(run, cells, monkeypatch):
    monkeypatch.setattr(budgeted_sgd, "STEPS", (0.05, 0.2, 6.0))
    out, found = run("polk-curves", "--quick", "--on", "multidist", "--draws", "1")
    methods = found["multidist"]
    entries = list(curves.comparisons(found))
    worse = [one.what for one in entries if one.worse]
    assert f"Worse than published: {len(worse)} of {len(entries)} figures" in out and all(what in out for what in worse)
    zero = {"hinge": 1.0, "logistic": np.log(5)}
    for name, one in methods.items():
        assert one["error"][-1] < 0.45  # chance is 0.8
        risk, error, _, _, points, *_ = cells(out, name)
        assert (risk, error) == (number(one["last risk"]), number(100 * one["last error"]))
        assert points == number(one["last points"])
        if len(one["samples"]) > 1:
            late = np.array(one["samples"]) >= 480
            assert late.sum() >= 4 and np.mean(np.array(one["error"])[late]) == pytest.approx(one["last error"])
            assert one["samples"] == sorted(set(one["samples"])) and one["samples"][-1] == 600
            assert np.mean(one["risk"][-5:]) < np.mean(one["risk"][:5])
            assert max(one["points"]) < 100
            # The newest iterate jumps, and what fits all samples exactly risks more in tests.
            assert min(one["risk"][-5:]) < zero[one["loss"]]
    # What optimizes on the samples at once has the least risk of the logistic loss on them; POLK is near it in tests.
    dense = next(one for name, one in methods.items() if name.startswith("L-BFGS logistic"))
    assert methods["POLK logistic, K 0.01"]["error"][-1] < dense["error"][-1] + 0.05


def test_lbfgs_is_at_the_optimum():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    kernel = Kernel("gaussian", 1.0)
    gram = kernel.gram(x)
    weights = curves.dense_lbfgs(kernel, x, y, "logistic", np.arange(3), np.zeros((60, 3)))

    def objective(flat):
        scores = gram @ flat.reshape(60, 3)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return -logs[np.arange(60), y].mean() + curves.LAMBDA / 2 * (flat.reshape(60, 3) * scores).sum()

    best = objective(weights.ravel())
    assert best < 0.8 < objective(np.zeros(180))
    for _ in range(20):
        assert objective(weights.ravel() + 0.05 * rng.normal(size=180)) > best


def test_textures_differ():
    images = textures(0)
    assert len(images) == 13
    for image in images.values():
        assert abs(image.mean()) < 1e-9 and image.std() == pytest.approx(1)
    x, y = texton_histograms(400, 0)
    assert x.shape == (400, TEXTONS) and set(y) == set(range(13)) and PATCH == 24
    np.testing.assert_allclose((x**2).sum(axis=1), 1.0)
    # The nearest of the other patches mostly shows the same texture.
    similarity = x @ x.T - 2 * np.eye(400)
    assert np.mean(y[similarity.argmax(axis=1)] == y) > 0.85


def test_convergence(run, cells, monkeypatch):
    monkeypatch.setattr(convergence, "STEPS", (0.4, 0.1))
    out, found = run("polk-convergence", "--quick", "--draws", "1", "--samples", "5000")
    runs, powers = found["runs"], found["powers"]
    assert powers["distance"] < -0.2 and powers["risk"] < -0.5 and "published" in out
    assert 0.3 < powers["remaining"] < 0.8 and found["holds"]
    norm = convergence.Problem().norm
    for one in runs.values():
        assert one["closest"] <= one["distance"] < 0.4 * norm and one["points"] <= convergence.POINTS
    assert runs["diminishing"]["distance"] < runs["eta 0.1"]["distance"] < runs["eta 0.4"]["distance"]
    assert cells(out, "eta 0.1")[:3] == [number(runs["eta 0.1"][key]) for key in ("distance", "closest", "bound")]


def test_the_best_function_is_the_best():
    problem = convergence.Problem()
    least = problem.risk(problem.x, problem.best)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = problem.best + 0.01 * rng.normal(size=convergence.POINTS)
        assert problem.risk(problem.x, other) > least
        gap = other - problem.best
        assert problem.distance(problem.x, other) == pytest.approx(np.sqrt(gap @ problem.gram @ gap), abs=1e-6)
    # Without removal POLK is functional gradient descent, whose distance is that of all its points.
    random = np.random.default_rng(3)
    chosen = random.integers(convergence.POINTS, size=200)
    y = problem.mean[chosen] + convergence.NOISE * random.uniform(-(3**0.5), 3**0.5, size=200)
    plain = POLKRegressor(
        length_scale=convergence.SCALE, regularization=convergence.LAMBDA, step_size=0.2, parsimony=0.0
    )
    plain.fit(problem.x[chosen], y)
    followed = problem.follow({"schedule": "constant", "step_size": 0.2}, 200, 3)
    assert followed["t"][-1] == 200
    # Each of 200 removals moves f by epsilon at most, and contracts afterwards.
    epsilon = convergence.PARSIMONY * 0.2**1.5
    assert abs(followed["distances"][-1] - problem.distance(plain.dictionary_, plain.coef_[:, 0])) < 200 * epsilon
    assert followed["distances"][-1] < 0.6 * problem.norm


def test_tensor_synthetic(run, cells):
    out, found = run("tensor-synthetic", "--quick")
    (one,) = found["times"]
    assert one["n"] == 30 and one["difference"] < 1e-8 and one["without"]["gap"] < 1e-6
    (few,) = found["subsampled"]
    packed, full = (few[layout]["build"] + few[layout]["train"] for layout in ("packed", "full"))
    assert cells(out, "20")[:3] == [number(packed), number(full), number(full / packed)]
    (errors,) = found["errors"]
    validation = np.array(errors["validation"])
    assert validation.shape == (2, len(errors["gammas"]))
    for row, gamma, tests in zip(validation, errors["gamma"], errors["test"], strict=True):
        assert errors["gammas"][int(row.argmin())] == gamma
        # Little weight is as bad as a guess, and more samples are better.
        assert row[0] > 0.7 * errors["guess"] > row.min() and np.mean(tests) < 0.8 * errors["guess"]
    assert np.mean(errors["test"][1]) < np.mean(errors["test"][0])


def test_sparse_problems_are_as_published():
    x, y, w = synthetic.problem(300, 50, 7, 0)
    assert np.count_nonzero(w) == 7 and 0.7 <= np.abs(w[w != 0]).min() <= np.abs(w).max() <= 1
    assert np.std(y - x @ w) == pytest.approx(synthetic.NOISE, rel=0.15)
