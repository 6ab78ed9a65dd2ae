"""Learners from dictionaries: river's own checks, and the batch solutions that they must equal."""

import subprocess
import sys

import numpy as np
import pytest

from icub_learning.errors import ParameterError, SampleError
from icub_learning.recognition import IncrementalClassifier
from icub_learning.recursive import RecursiveLeastSquares
from icub_learning.streaming import RandomFourierRegressor, RLSClassifier, RLSMultiTargetRegressor, RLSRegressor
from icub_learning.streaming.linear import grown

ESTIMATORS = [RLSRegressor, RLSMultiTargetRegressor, RLSClassifier, RandomFourierRegressor]
NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.timeout(300)
def test_rivers_checks_of_estimators_pass(kind: type) -> None:
    checks, model = pytest.importorskip("river.checks", reason="river is not installed"), kind()
    run = [check for check in checks.yield_checks(model) if check.__name__ not in model._unit_test_skips()]
    assert len(run) > 20
    for check in run:
        check(model.clone())


def test_they_stand_in_rivers_pipelines_and_learn() -> None:
    pytest.importorskip("river", reason="river is not installed")
    from river import datasets, evaluate, linear_model, metrics, preprocessing

    def score(model: object, data: object, metric: metrics.base.Metric) -> float:
        evaluate.progressive_val_score(data, preprocessing.StandardScaler() | model, metric)
        return float(metric.get())

    rivals = RLSRegressor(), linear_model.LinearRegression()
    ours, theirs = (score(model, datasets.TrumpApproval(), metrics.MAE()) for model in rivals)
    assert ours < theirs
    accuracy = score(RLSClassifier(recoding=0.3), datasets.ImageSegments().take(800), metrics.Accuracy())
    assert accuracy > 0.75  # there are seven classes


@pytest.mark.parametrize("late", [0, 40])
def test_it_equals_ridge_regression_on_all_samples_so_far_and_a_feature_that_comes_late_was_zero(late: int) -> None:
    one, both = RLSRegressor(regularization=0.5), RLSMultiTargetRegressor(regularization=0.5)
    rows, targets = [], []
    rng = np.random.default_rng(0)
    for i, row in enumerate(rng.normal(size=(300, 4))):
        x, y = dict(zip(NAMES, row.tolist(), strict=True)), float(row @ [1, -2, 0.5, 0] + 3.0 + 0.1 * rng.normal())
        seen = {name: value for name, value in x.items() if i >= late or name != "b"}
        one.learn_one(seen, y)
        both.learn_one(seen, {"y": y, "twice": 2 * y})
        rows.append([1.0, *(seen.get(name, 0.0) for name in NAMES)])
        targets.append(y)
    z = np.array(rows)
    expected = np.linalg.solve(z.T @ z + 0.5 * np.eye(5), z.T @ targets)
    assert one.weights == pytest.approx(dict(zip(NAMES, expected[1:], strict=True)), abs=1e-10)
    assert one.predict_one({}) == pytest.approx(expected[0], abs=1e-10)
    assert both.predict_one(x) == pytest.approx({"y": z[-1] @ expected, "twice": 2 * z[-1] @ expected})


def test_growth_keeps_what_forgetting_left() -> None:
    rng = np.random.default_rng(1)
    z, y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    forgetful, young = RecursiveLeastSquares(2, 1, 0.3, 0.95), RecursiveLeastSquares(2, 1, 0.3)
    for learner in (forgetful, young):
        learner.update(z[:, :2], y[:, :1])
    after = grown(forgetful, 3, 2, 0.3)
    np.testing.assert_allclose(after.factor[:2, :2], forgetful.factor, atol=1e-14)
    np.testing.assert_array_equal(after.prior, [*forgetful.prior, 0.3])
    both = grown(young, 3, 2, 0.3)
    both.update(z, y)
    rows, targets = np.r_[np.c_[z[:, :2], np.zeros(60)], z], np.r_[np.c_[y[:, :1], np.zeros(60)], y]
    batch = np.linalg.solve(rows.T @ rows + 0.3 * np.eye(3), rows.T @ targets)
    np.testing.assert_allclose(both.weights, batch, atol=1e-12)
    with pytest.raises(ParameterError, match="n_features is 2, but must be at least 3"):
        grown(both, 2, 2)


def test_the_classifier_is_the_one_of_objects() -> None:
    rng = np.random.default_rng(2)
    model, reference = RLSClassifier(recoding=0.7, intercept=False), IncrementalClassifier(4, 1.0, 0.7)
    for i in range(120):
        label = "rare" if i % 20 == 0 else "usual"
        x = rng.normal(size=4) + (label == "rare")
        model.learn_one(dict(zip(NAMES, x, strict=True)), label)
        reference.learn(x, label)
    for x in rng.normal(size=(20, 4)):
        expected = dict(zip(reference.classes, reference.scores(x), strict=True))
        assert model.scores_one(dict(zip(NAMES, x, strict=True))) == pytest.approx(expected, abs=1e-10)


def test_one_sample_shows_the_gaussian_kernel() -> None:
    model, known = RandomFourierRegressor(1000, regularization=0.25), np.array([0.3, -1.0])
    model.learn_one(dict(zip("ab", known, strict=True)), 5.0)
    for x in ([0.3, -1.0], [1.3, -0.5], [0.3, 3.0]):
        kernel, asked = np.exp(-0.5 * np.sum((known - x) ** 2)), dict(zip("ab", x, strict=True))
        assert model.predict_one(asked) == pytest.approx(5.0 * kernel / 1.25, abs=0.3)
        assert model.leverage_one(asked) == pytest.approx((1.0 - kernel**2 / 1.25) / 0.25, abs=0.15)
    for name, value in (("n_features", 0), ("n_features", 3), ("length_scale", 0.0), ("seed", -1)):
        with pytest.raises(ParameterError, match=name):
            RandomFourierRegressor(**{name: value})


def test_it_learns_what_no_line_can() -> None:
    curved, straight = RandomFourierRegressor(length_scale=0.5), RLSRegressor()
    rng = np.random.default_rng(4)
    errors: dict[str, list[float]] = {"curved": [], "straight": []}
    for x in rng.uniform(-2, 2, size=400):
        for name, model in (("curved", curved), ("straight", straight)):
            errors[name].append(model.predict_one({"x": x}) - np.sin(3 * x))
            model.learn_one({"x": x}, float(np.sin(3 * x)))
    assert np.std(errors["curved"][200:]) < 0.02 < 0.5 < np.std(errors["straight"][200:])


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("value", ["red", float("nan"), None, 1e101, 10**400, np.float32("inf")])
def test_what_is_no_number_is_refused_and_changes_nothing(kind: type, value: object) -> None:
    model, y = kind(), {"y": 1.0} if kind is RLSMultiTargetRegressor else 1.0
    model.learn_one({"a": 1.0}, y)
    before = model.predict_one({"a": 2.0, "b": 1.0})
    with pytest.raises(SampleError, match="y is NaN"):
        RLSClassifier().learn_one({"a": 1.0}, float("nan"))
    with pytest.raises(SampleError, match=r"x\['b'\] is .*numbers are needed"):
        model.learn_one({"a": 5.0, "b": value}, y)
    if kind is RLSMultiTargetRegressor:  # it would be learned as 0
        with pytest.raises(SampleError, match="y lacks 'y'"):
            model.learn_one({"a": 5.0, "b": 2.0}, {"late": 1.0})
    assert model.predict_one({"a": 2.0, "b": 1.0}) == before


def test_too_many_features_are_refused() -> None:
    model = RLSRegressor(max_features=2)
    with pytest.raises(ParameterError, match="features is 3, but must be at most max_features = 2"):
        model.learn_one(dict.fromkeys("abc", 1.0), 1.0)
    assert model.predict_one({"a": 1.0}) == 0.0


def test_they_work_without_river() -> None:
    program = """
import sys
sys.modules["river"] = None
from icub_learning.streaming import RLSRegressor
model = RLSRegressor()
model.learn_one({"a": 1.0}, 2.0)
bases = {base.__module__ for base in type(model).__mro__}
print(model.predict_one({"a": 1.0}) > 1.0, *(name for name in bases if name.startswith("river")))
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["True"]
