"""POLK: functional gradient descent where nothing is cut back, bounded for ever, and close to the best classifier."""

import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.metrics.pairwise import rbf_kernel

from icub_learning.errors import DataError, IcubLearningError, NotFiniteError, ParameterError
from icub_learning.kernel_methods import Kernel, POLKClassifier, POLKRegressor
from icub_learning.kernel_methods.online.losses import MARGIN_LOSSES, square

LOSSES = ["logistic", "hinge", "squared_hinge"]


def multidist(seed, n_train=5000, n_test=2500):
    """Return training and test (x, y) of the sources' five mixtures of planar Gaussians, and the Bayes rule's error."""
    rng, angles = np.random.default_rng(seed), 2 * np.pi * np.arange(5) / 5
    means = np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, None] + rng.normal(size=(5, 3, 2))
    n = n_train + n_test
    y = rng.integers(5, size=n)
    x = means[y, rng.integers(3, size=n)] + np.sqrt(0.2) * rng.normal(size=(n, 2))
    density = np.exp(-((x[n_train:, None, None] - means) ** 2).sum(axis=-1) / 0.4).sum(axis=-1)
    return (x[:n_train], y[:n_train]), (x[n_train:], y[n_train:]), (density.argmax(axis=1) != y[n_train:]).mean()


def samples(n=120, n_classes=3, seed=0):
    return (rng := np.random.default_rng(seed)).normal(size=(n, 3)), rng.integers(n_classes, size=n)


def loss_of(f, y, loss):
    """Return the loss of the scores f (C,) for one target."""
    if loss == "square":
        return 0.5 * np.sum((f - y) ** 2)
    if len(f) == 1:
        margin = f[0] if y == 1 else -f[0]
        if loss == "logistic":
            return np.log1p(np.exp(-margin))
    else:
        margin = f[y] - max(np.delete(f, y))
        if loss == "logistic":
            return np.log(np.exp(f).sum()) - f[y]
    return max(0.0, 1 - margin) ** (2 if loss == "squared_hinge" else 1)


@pytest.mark.parametrize("loss", [*LOSSES, "square"])
@pytest.mark.parametrize("n_columns", [1, 4])
def test_derivatives_are_those_of_the_losses(loss, n_columns):
    """Scores include wide margins, which the learned functions below are too small for."""
    scores = 2 * (rng := np.random.default_rng(0)).normal(size=(30, n_columns))
    targets = rng.normal(size=(30, n_columns)) if loss == "square" else rng.integers(max(2, n_columns), size=30)
    values, found = (square if loss == "square" else MARGIN_LOSSES[loss])(scores, targets)
    for f, y, one, slope in zip(scores, targets, values, found, strict=True):
        assert one == pytest.approx(loss_of(f, y, loss), abs=1e-7)
        np.testing.assert_allclose(slope, approx_fprime(f, loss_of, 1e-7, y, loss), atol=1e-6)


@pytest.mark.parametrize("batch_size", [1, 16, 32, 64])
def test_points_on_a_line_which_nearly_depend_on_each_other_are_learned(batch_size):
    x = np.random.default_rng(0).normal(size=(6400, 1))
    assert POLKRegressor(batch_size=batch_size, step_size=0.5).fit(x, np.sin(x[:, 0])).score(x, np.sin(x[:, 0])) > 0.9


@pytest.mark.parametrize("loss", [*LOSSES, "square"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_without_cutting_back_it_is_functional_gradient_descent(loss, n_classes):
    """The recursion written out, f_t on all of its past points; the derivatives are tested above."""
    x, y = samples(n_classes=n_classes)
    y = np.column_stack([np.sin(x[:, 0]), x[:, 1]]) if loss == "square" else y
    settings = {"loss": loss, "step_size": 0.7, "regularization": 0.05, "batch_size": 7, "length_scale": 0.9}
    kernel, derivative = Kernel("gaussian", 0.9)(x, x), square if loss == "square" else MARGIN_LOSSES[loss]
    weights = np.zeros((len(x), 2 if loss == "square" else 1 if n_classes == 2 else 4))
    for start in range(0, len(x), 7):
        now = slice(start, min(start + 7, len(x)))
        slope = derivative(kernel[now] @ weights, y[now])[1]
        weights *= 1 - 0.7 * 0.05
        weights[now] -= 0.7 / (now.stop - now.start) * slope
    model = (POLKRegressor if loss == "square" else POLKClassifier)(parsimony=0.0, **settings).fit(x, y)
    points, order = model.dictionary_, np.flatnonzero(weights.any(axis=1))
    np.testing.assert_array_equal(points, x[order])
    np.testing.assert_allclose(model.coef_, weights[order], atol=1e-14)
    scores, found = kernel @ weights, model.predict(x) if loss == "square" else model.decision_function(x)
    np.testing.assert_allclose(found, scores[:, 0] if found.ndim == 1 else scores, atol=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial"])
@pytest.mark.parametrize("loss", LOSSES)
def test_each_step_moves_at_most_the_bound_from_the_step_without_cutting_back(kernel, loss):
    x, y = samples(300)
    x, settings = 0.5 * x, {"degree": 2, "parsimony": 0.1, "step_size": 0.1, "batch_size": 4, "regularization": 0.01}
    model = POLKClassifier(kernel=kernel, loss=loss, **settings)
    model.partial_fit(x[:4], y[:4], classes=[0, 1, 2])
    made = Kernel(kernel, 1.0, 2)
    for start in range(4, 300, 4):
        now, old_points, old_weights = slice(start, start + 4), model.dictionary_, model.coef_
        _, slope = MARGIN_LOSSES[loss](made(x[now], old_points) @ old_weights, y[now])
        model.partial_fit(x[now], y[now])
        points = np.concatenate([old_points, x[now], model.dictionary_])
        difference = np.concatenate([(1 - 0.1 * 0.01) * old_weights, -0.1 / 4 * slope, -model.coef_])
        moved = np.sqrt(max(0.0, np.einsum("ij,ij->", difference, made.gram(points) @ difference)))
        assert moved <= 0.1 * 0.1**1.5 + 1e-6
        assert model.compression_error_ - 1e-3 <= moved <= model.compression_error_ + 1e-5
        assert model.error_bound_ == pytest.approx(0.1 * 0.1**1.5)
    assert model.model_order_ < 250


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_the_norm_stays_within_what_theory_allows_and_the_limit_radius_is_the_published_one(loss):
    """|f_t| <= C X / lambda with |l'| <= C = sqrt(2) and k(x, x) <= X^2 = 1."""
    (x, y), model = samples(400), POLKClassifier(loss=loss, regularization=0.5, step_size=1.5, parsimony=0.001)
    for start in range(0, 400, 20):
        model.partial_fit(x[start : start + 20], y[start : start + 20], classes=[0, 1, 2])
        assert model.norm_ <= np.sqrt(2) / 0.5 + 1e-9
    model = POLKClassifier(step_size=0.25, regularization=0.1, parsimony=0.2)
    assert model.limit_radius(3.0) == pytest.approx(0.5 / 0.1 * (0.2 + np.sqrt(0.2**2 + 0.1 * 3.0)))
    model = POLKClassifier(parsimony=1e6, loss=loss).fit(x, y)  # a huge budget empties the dictionary
    assert model.model_order_ == 0 and model.dictionary_.shape == (0, 3) and model.coef_.shape == (0, 3)
    np.testing.assert_array_equal(model.decision_function(x), 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_order_and_memory_are_bounded_over_100_000_samples(loss):
    (x, y), _, _ = multidist(0, n_train=100_000)
    orders, rooms, settings = [], [], {"length_scale": 0.6**0.5, "step_size": 6.0, "batch_size": 32, "parsimony": 0.04}
    model = POLKClassifier(loss=loss, classes=range(5), **settings)
    for some in np.split(np.arange(100_000), 100):
        model.partial_fit(x[some], y[some])
        orders.append(model.model_order_)
        rooms.append(len(pickle.dumps(model)))
    assert max(orders[50:]) <= max(orders[:50]) + 3 < 40
    assert rooms[-1] <= rooms[10] + 100  # some integers take more digits


@pytest.mark.parametrize("seed", range(4))
def test_multidist_with_the_published_settings(seed):
    train, test, bayes = multidist(seed)
    settings = {"length_scale": 0.6**0.5, "step_size": 6.0, "regularization": 1e-6, "batch_size": 32}
    model = POLKClassifier(loss="hinge", parsimony=0.04, **settings).fit(*train)
    assert 12 <= model.model_order_ <= 22 and 1 - model.score(*test) <= bayes + 0.04
    assert 1 - POLKClassifier(loss="logistic", parsimony=0.01, **settings).fit(*train).score(*test) <= bayes + 0.015


@pytest.mark.parametrize("averaging", [1, 5, 32])
@pytest.mark.parametrize("loss", ["hinge", "square"])
def test_the_average_is_that_of_the_steps(averaging, loss):
    """Iterates are averaged one by one with the weights 4 / (t + 3) at step t = 1, 2, ..., later 1 / averaging."""
    (x, y), settings = samples(60), {"step_size": 0.5, "parsimony": 0.0, "averaging": averaging, "batch_size": 2}
    square, first = loss == "square", {} if loss == "square" else {"classes": [0, 1, 2]}
    model = POLKRegressor(**settings) if square else POLKClassifier(loss=loss, **settings)
    y = x[:, 0] ** 2 if square else y
    start, average = 0, None
    for t in range(30):
        now = slice(2 * t, 2 * t + 2)
        if loss != "square" and not np.isin(y[now], y[: now.start]).all():
            start = t  # a new class restarts the average
        model.partial_fit(x[now], y[now], **(first if t == 0 else {}))
        iterate = Kernel("gaussian", 1.0)(x, model.dictionary_) @ model.coef_
        rate = max(1 / averaging, 4 / (t - start + 4))
        average = iterate if average is None else (1 - rate) * average + rate * iterate
    out = model.predict(x) if loss == "square" else model.decision_function(x)
    np.testing.assert_allclose(out, average[:, 0] if loss == "square" else average, atol=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial"])
@pytest.mark.parametrize("limit", [None, 6])
def test_the_average_is_projected_onto_the_points_that_stay(kernel, limit):
    """The reference is least squares on the Gram matrix, over points that were there or came with the step."""
    x, y = samples(200)
    x, settings = 0.5 * x, {"kernel": kernel, "degree": 2, "step_size": 0.2, "parsimony": 0.1, "max_dictionary": limit}
    model, made = POLKClassifier(averaging=3, batch_size=4, classes=[0, 1, 2], **settings), Kernel(kernel, 1.0, 2)
    model.partial_fit(x[:40], y[:40])
    removed = 0
    for start in range(40, 200, 4):
        points, averages = model.dictionary_, model.averaged_coef_
        model.partial_fit(x[start : start + 4], y[start : start + 4])
        kept = model.dictionary_
        removed += len(points) - sum((kept == point).all(axis=1).any() for point in points)
        projected = np.linalg.lstsq(made(kept, kept), made(kept, points) @ averages, rcond=1e-14)[0]
        expected = projected + (model.coef_ - projected) / 3
        np.testing.assert_allclose(made(x, kept) @ model.averaged_coef_, made(x, kept) @ expected, atol=1e-6)
    assert removed > 3


def test_classes_may_come_one_after_the_other():
    rng, centers = np.random.default_rng(0), np.array([[0, 0], [3, 0], [0, 3], [3, 3]])
    x = np.concatenate([center + 0.5 * rng.normal(size=(60, 2)) for center in centers])
    y = np.repeat(["pen", "cup", "box", "toy"], 60)
    two = POLKClassifier().partial_fit(x[:60], y[:60]).partial_fit(x[60:120], y[60:120])
    assert two.classes_.tolist() == ["pen", "cup"] and two.coef_.shape[1] == 1
    kernel = Kernel("gaussian", 1.0)
    margin = (kernel(x[:120], two.dictionary_) @ two.coef_)[:, 0]
    two.partial_fit(x[120:121], y[120:121])
    assert two.classes_.tolist() == ["pen", "cup", "box"] and two.coef_.shape[1] == 3
    scores = two.decision_function(x[:120])
    np.testing.assert_allclose(scores, kernel(x[:120], two.dictionary_) @ two.coef_)  # the average starts anew
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], margin, atol=0.2)  # up to the step of the new sample
    order = rng.permutation(240)
    two.partial_fit(x[order], y[order])
    assert two.score(x, y) > 0.95
    three = POLKClassifier().partial_fit(x[:180], y[:180])
    margins = (kernel(x[:180], three.dictionary_) @ three.coef_)[:, :2]
    three.partial_fit(x[180:181], y[180:181])
    np.testing.assert_allclose(np.diff(three.decision_function(x[:180])[:, :2]), np.diff(margins), atol=0.2)
    one = POLKClassifier().partial_fit(x[:60], y[:60]).partial_fit(x[[60, 120]], y[[60, 120]])  # two more at once
    assert (one.predict(x[:60]) == "pen").all() and one.predict(x[[60, 120]]).tolist() == ["cup", "box"]


@pytest.mark.parametrize("kind", [POLKClassifier, POLKRegressor])
def test_a_refused_lesson_changes_nothing(kind):
    x, labels = samples(60)
    spoiled, huge, one = x.copy(), x.copy(), np.arange(60) == 15
    spoiled[7, 1], huge[13, 0] = np.nan, 1e200
    if kind is POLKClassifier:
        own, y, targets = {"classes": [0, 1, 2]}, labels, {"unseen": 9}
    else:
        own, y, targets = {}, x[:, 0], {"not finite target": np.inf, "huge target": 1e200}
    model = kind(kernel="polynomial", batch_size=8, step_size=0.01, **own).partial_fit(x, y)
    before = pickle.dumps(model)
    lessons = {
        "not finite": (spoiled, y), "lengths": (x, y[:-1]), "width": (x[:, :2], y), "overflow later": (huge, y),
        "one axis": (x[:, 0], y), "three axes": (x[..., None], y),
        **{why: (x, np.where(one, target, y)) for why, target in targets.items()},
    }  # fmt: skip
    for why, lesson in lessons.items():
        with pytest.raises(IcubLearningError):
            model.partial_fit(*lesson)
        assert pickle.dumps(model) == before, why
    fails = kind(kernel=lambda a, b: np.where(a[:, :1] == x[45, 0], np.nan, rbf_kernel(a, b)), batch_size=8, **own)
    with pytest.raises(NotFiniteError, match="kernel"):  # in the second batch
        fails.partial_fit(x[:32], y[:32]).partial_fit(x[32:], y[32:])
    assert fails.n_samples_seen_ == 32
    first = kind(kernel="polynomial", degree=60, **own)
    with pytest.raises(ParameterError):
        first.partial_fit(np.full((3, 2), 1e3), np.arange(3))
    assert not hasattr(first, "n_samples_seen_")


def test_an_unseen_label_is_named():
    x, y = samples()
    with pytest.raises(DataError, match=r"label 7.*classes"):
        POLKClassifier(classes=[0, 1, 2]).fit(x, np.where(y == 2, 7, y))
    model = POLKClassifier().partial_fit(x, y, classes=[0, 1, 2])
    with pytest.raises(DataError, match=r"label 'cup'|label 7"):
        model.partial_fit(x, np.where(y == 2, 7, y))
    with pytest.raises(DataError, match="labels such as 'mug', but those before are such as '1'"):
        POLKClassifier().partial_fit(x, y).partial_fit(x, np.where(y == 2, "cup", "mug"))
    many = "at least 2 different labels"
    for classes, words in (([0, 1], "first call"), ([0, 1, 2, 2], many), ([1], many), ([[0], [1], [2]], many)):
        with pytest.raises(ParameterError, match=f"^classes .*{words}"):
            model.partial_fit(x, y, classes=classes)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_coin_betting_is_the_sum_of_gradients_times_the_wealth(loss):
    """The reference is sums over all points and the definition of the wealth; the derivatives are tested above."""
    x, y = samples(80)
    unused = {"step_size": 1.0, "regularization": 2.0}  # a constant step of 1 would have to be below 1 / 2
    model = POLKClassifier(loss=loss, schedule="coin", parsimony=0.0, length_scale=1.0, **unused).fit(x, y)
    kernel = Kernel("gaussian", 1.0)
    total, wealth = np.zeros((80, 3)), 1.0  # row t: -g / L of sample t
    for t in range(80):
        scores = wealth / (t + 1) * (kernel(x[t : t + 1], x[:t]) @ total[:t])[0] if t else np.zeros(3)
        total[t] = -MARGIN_LOSSES[loss](scores[None], y[t : t + 1])[1][0] / np.sqrt(2)
        wealth += total[t] @ scores
    asked = np.random.default_rng(1).normal(size=(20, 3))
    ours = kernel(asked, model.dictionary_) @ model.coef_
    np.testing.assert_allclose(ours, wealth / 81 * kernel(asked, x) @ total, atol=1e-8)
