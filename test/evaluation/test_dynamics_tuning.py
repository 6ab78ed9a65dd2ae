"""Choosing settings: the surface is that of the learners on line, and nothing later is seen by what is earlier."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from helpers.recordings import JOINTS, PERIOD_NS, rigid_recording
from hypothesis import given
from hypothesis import strategies as st

from icub_learning.dynamics import ParametricEstimator, Prediction, assembly
from icub_learning.dynamics.estimators.random_feature_learner import RandomFeatureLearner
from icub_learning.dynamics.motion.noise_levels import LONGEST_LAG
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import DataError, IcubLearningError, ParameterError
from icub_learning.evaluation.dynamics_tuning import check, collect, overall
from icub_learning.evaluation.object_tuning import Views, judge, linear_errors, predict_then_learn
from icub_learning.evaluation.predict_then_learn import evaluate
from icub_learning.kernel_methods import NystromKRLS, RandomFeaturesKRLS
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.random_features import CosineFeatures, draw_seeds
from icub_learning.kernel_methods.tuning import Fold, Grid, PathExplorer, forward_folds
from icub_learning.recognition import IncrementalClassifier
from icub_learning.recursive import RecursiveLeastSquares
from icub_learning.robots import find_urdf

SETTINGS = Settings(
    urdf=find_urdf("ur10"),
    joints=JOINTS,
    output="joint_torque",
    n_random_features=50,
    length_scale=5.0,
    nonparametric_regularization=0.003,
    n_warm_up=20,
)


def make_fold(n=80, k=30, share=1.0, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n + k, 3))
    y = np.column_stack([np.sin(x[:, 0]), x[:, 1] * x[:, 2]]) + 0.1 * rng.normal(size=(n + k, 2))
    return Fold(x[:n], y[:n], x[n:], y[n:], share)


def mean_square(predicted, fold):
    errors = np.mean((predicted - fold.later_targets) ** 2, axis=(1, 2))
    return errors, errors


def surface_of(method, grid, folds):
    explorer = PathExplorer(method, grid, folds, mean_square, 3)
    cells = explorer.cells()
    assert len({cell.key for cell in cells}) == len(cells)
    return explorer.surface({cell.key: explorer.measure(cell) for cell in cells})


GRID = Grid((0.7, 2.0), (0.01, 0.04, 0.3), (10, 20, 40))


@pytest.mark.parametrize("share", [1.0, 0.25])
def test_each_point_of_the_features_surface_is_the_recursive_learner_with_that_lambda(share):
    """lambda on the surface is what RecursiveLeastSquares adds to Z^T Z, on as many features, of all samples."""
    folds = [make_fold(share=share), make_fold(50, share=share, seed=1)]
    surface = surface_of("features", GRID, folds)
    for place in np.ndindex(surface.fold_errors.shape):
        fold, point = folds[place[0]], surface.at(*place[1:])
        features = CosineFeatures(
            Kernel("gaussian", point.length_scale), "fourier", 3, point.size, draw_seeds(3), point.size
        )
        rls = RecursiveLeastSquares(point.size, 2, regularization=point.regularization)
        for _ in range(round(1 / share)):  # the samples that were left out are like those that were kept
            rls.update(features(fold.inputs), fold.targets)
        expected = np.mean((rls.predict(features(fold.later_inputs)) - fold.later_targets) ** 2)
        assert surface.fold_errors[place] == pytest.approx(expected, rel=1e-8)


def test_each_point_of_the_centers_surface_is_a_batch_fit():
    fold = make_fold()
    surface = surface_of("centers", GRID, [fold])
    for place in np.ndindex(surface.errors.shape):
        point = surface.at(*place)
        model = NystromKRLS(
            length_scale=point.length_scale, regularization=point.regularization / 80, n_centers=40, random_state=3
        ).fit(fold.inputs, fold.targets)
        fewer = NystromKRLS(
            length_scale=point.length_scale,
            regularization=point.regularization / 80,
            centers=model.centers_[: point.size],
        )
        expected = np.mean((fewer.fit(fold.inputs, fold.targets).predict(fold.later_inputs) - fold.later_targets) ** 2)
        assert surface.errors[place] == pytest.approx(expected, rel=1e-6)


def test_sizes_and_lambdas_in_powers_of_two_share_paths():
    lambdas = tuple(0.003 * 4.0**power for power in range(9))
    explorer = PathExplorer("features", Grid((1.0,), lambdas, (250, 500, 1000)), [make_fold()], mean_square, 0)
    assert len(explorer.cells()) == 19  # and not 27


def test_the_best_is_the_smallest_within_one_percent():
    errors = np.array([[[0.3, 0.2, 0.199]]])
    grid = Grid((1.0,), (1.0,), (10, 20, 40))
    surface = surface_of("features", grid, [make_fold()])
    assert replace(surface, errors=errors).best().size == 20
    assert replace(surface, errors=np.array([[[0.3, 0.21, 0.199]]])).best().size == 40
    tied = replace(
        surface, grid=replace(grid, regularizations=(1.0, 2.0)), errors=np.zeros((1, 2, 3)), losses=np.zeros((1, 2, 3))
    )
    tied.losses[0, 0] = 1.0
    assert tied.best().regularization == 2.0
    with pytest.raises(DataError, match="lambda"):
        replace(surface, errors=np.full((1, 1, 3), np.inf)).best()


def test_the_geometric_mean_is_not_ruled_by_the_hardest_fold():
    grid = Grid((0.7, 2.0), (0.01,), (10,))
    explorer = PathExplorer("features", grid, [make_fold(), make_fold(seed=1)], mean_square, 0)
    values = {0.7: (1.0, 100.0), 2.0: (4.0, 90.0)}
    results = {cell.key: ([values[cell.length_scale][cell.fold]],) * 2 for cell in explorer.cells()}
    assert explorer.surface(results, "geometric").best().length_scale == 0.7
    assert explorer.surface(results).best().length_scale == 2.0


def test_a_lambda_below_rounding_is_no_choice():
    flat = Fold(np.zeros((30, 2)), np.arange(30.0)[:, None], np.zeros((3, 2)), np.ones((3, 1)))
    surface = surface_of("features", Grid((1.0,), (1e-25, 1.0), (10,)), [flat])
    assert np.isinf(surface.errors[0, 0, 0]) and surface.best().regularization == 1.0


@given(st.integers(8, 500), st.integers(1, 6), st.integers(0, 20), st.one_of(st.none(), st.integers(1, 50)))
def test_folds_go_forward_and_keep_their_gap(n, n_folds, gap, horizon):
    try:
        folds = forward_folds(n, n_folds, gap, horizon)
    except ParameterError:
        assert (n - n // 2) // n_folds <= gap or n // 2 < 1 or n < 2 * n_folds
        return
    assert len(folds) == n_folds
    for learned, later in folds:
        assert learned.start == 0 and learned.stop >= n // 2
        assert later.start == learned.stop + gap and learned.stop < later.stop <= n
        assert horizon is None or later.stop - later.start <= horizon
    assert all(one[0].stop < other[0].stop for one, other in pairwise(folds))


@pytest.mark.parametrize(
    "bad",
    [{"length_scales": ()}, {"length_scales": (0.0,)}, {"regularizations": (1.0, 1.0)}, {"sizes": (2.5,)},
     {"regularizations": (np.nan,)}, {"sizes": (0, 2)}],
)  # fmt: skip
def test_a_bad_grid_is_refused(bad):
    with pytest.raises(IcubLearningError, match=next(iter(bad))):
        Grid(**{"length_scales": (1.0,), "regularizations": (1.0,), "sizes": (2,), **bad})


def learned_inputs(events, settings, monkeypatch):
    """What the features of the node's own estimator get to learn, standardized by its own warm-up."""
    seen = []
    update = RandomFeatureLearner.update

    def spy(learner, x, y):
        if learner.row is not None:
            seen.append(learner.row.__class__(_Identity(), learner.row.mean, learner.row.scale)(x))
        update(learner, x, y)

    monkeypatch.setattr(RandomFeatureLearner, "update", spy)
    regressor = assembly.make_regressor(settings)
    stream = assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))
    evaluate(stream, events)
    return np.array(seen)


class _Identity:
    def standardized(self, x, mean, scale):
        return (x - mean) / scale


@pytest.mark.parametrize("estimator", ["semiparametric", "nonparametric"])
def test_the_samples_are_those_that_the_node_learns(estimator, monkeypatch):
    settings = replace(SETTINGS, estimator=estimator)
    events = list(rigid_recording(300, noise=0.5).events())
    samples = collect(events, settings)
    expected = learned_inputs(events, settings, monkeypatch)
    np.testing.assert_allclose(samples.scaled(samples.inputs), expected, rtol=1e-9, atol=1e-9)
    third = collect(events, settings, stride=3)
    np.testing.assert_array_equal(third.inputs, samples.inputs[::3])


def test_what_is_learned_knows_nothing_of_what_is_later():
    """Other efforts and motions after the end of a fold change nothing in what the fold learns."""
    recording = rigid_recording(600, noise=0.5)
    position, effort = recording.position.copy(), recording.effort.copy()
    position[480:] += 0.2
    effort[480:] *= -3
    changed = replace(recording, position=position, effort=effort)
    samples = [collect(one.events(), SETTINGS) for one in (recording, changed)]
    lag = round(4 / 3 * LONGEST_LAG * 1e9 / PERIOD_NS)  # samples: smoothing comes in blocks of a third of the lag
    border = 480 - SETTINGS.n_warm_up - lag  # what is learned up to here has seen no change
    for n in (100, 250, border):
        fold, same = (one.fold(slice(0, n), slice(n + 10, n + 30)) for one in samples)
        np.testing.assert_array_equal(fold.inputs, same.inputs)
        np.testing.assert_array_equal(fold.targets, same.targets)
    fold, other = (one.fold(slice(0, 500), slice(510, 530)) for one in samples)
    assert (fold.targets[-5:] != other.targets[-5:]).any()


def test_residuals_are_those_of_the_parameters_at_the_end_of_what_is_learned():
    """Of a rigid body, once its parameters are known, nothing is left: no matter how wrong they were before."""
    settings = replace(SETTINGS, friction=False, parametric_regularization=1e-8)
    fold = collect(rigid_recording(600).events(), settings).folds(2, 5, 50)[-1]
    scale = rigid_recording(600).effort.std(axis=0)
    assert (np.abs(fold.targets) < 0.2 * scale).mean() > 0.95
    assert (np.abs(fold.later_targets) < 0.2 * scale).mean() > 0.95


class Notebook:
    """An estimator that only writes down what it is to learn, with the rows of the regressor at that time."""

    def __init__(self, regressor):
        self.regressor, self.samples = regressor, []

    def predict(self, q, v, a):
        return Prediction(*np.zeros((4, 3)))

    def update(self, q, v, a, y, known=None, stamp=None, published=None):
        self.samples.append((self.regressor(q, v, a), self.regressor(*known), np.array(known), y))


@pytest.mark.parametrize("stride", [1, 3])
def test_a_fold_is_made_of_residuals_computed_by_hand(stride):
    """y - Phi pi at the motion known at once, pi from a rigid-body estimator that learned the samples before."""
    events = list(rigid_recording(400, noise=0.5).events())
    regressor = assembly.make_regressor(SETTINGS)
    notebook = Notebook(regressor)
    evaluate(assembly.make_stream(SETTINGS, regressor, notebook), events)
    rigid, parameters, predicted = ParametricEstimator(regressor), [], []
    for rows, known_rows, _, y in notebook.samples:
        parameters.append(rigid.parameters)
        predicted.append(known_rows @ rigid.parameters)
        rigid.learn(rows, y)
    kept = slice(SETTINGS.n_warm_up, None, stride)
    known_rows, known, measured = (np.array([one[k] for one in notebook.samples[kept]]) for k in (1, 2, 3))
    learned, later = slice(0, 60), slice(70, 80)
    last = parameters[kept][59]
    samples = collect(events, SETTINGS, stride)
    fold = samples.fold(learned, later)
    at_once = known_rows @ last
    np.testing.assert_allclose(fold.targets, (measured - at_once)[learned], rtol=0, atol=1e-9)
    np.testing.assert_allclose(fold.later_targets, (measured - at_once)[later], rtol=0, atol=1e-9)
    np.testing.assert_allclose(samples.inputs, np.column_stack([known.reshape(len(known), -1), predicted[kept]]))
    mean, scale = samples.scaled.mean, samples.scaled.scale
    later_inputs = np.column_stack([known.reshape(len(known), -1), at_once])[later]
    np.testing.assert_allclose(fold.later_inputs, (later_inputs - mean) / scale, rtol=0, atol=1e-9)


def test_the_check_is_the_evaluation_and_can_stop_learning():
    events = list(rigid_recording(400, noise=0.5).events())
    regressor = assembly.make_regressor(SETTINGS)
    stream = assembly.make_stream(SETTINGS, regressor, assembly.make_estimator(SETTINGS, regressor))
    plain = evaluate(stream, events)
    on, start = check(events, SETTINGS, 280)
    np.testing.assert_array_equal(on.predicted, plain.predicted)
    assert start == 280
    stopped, _ = check(events, SETTINGS, 280, stop_learning=True)
    np.testing.assert_array_equal(stopped.predicted[:280], plain.predicted[:280])
    assert stopped.n_learned <= 280 < on.n_learned


def test_overall_is_the_geometric_mean_of_what_varies():
    assert overall(np.array([0.1, 0.4, np.nan])) == pytest.approx(0.2)


@pytest.mark.parametrize("bad", [{"estimator": "parametric"}, {"forgetting": 0.99}, {"nonparametric": "nystrom"}])
def test_what_cannot_be_tuned_is_refused(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        collect(rigid_recording(300).events(), replace(SETTINGS, **bad))


def make_views(n=12, d=6, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4, d))
    return Views({label: centre + 0.8 * rng.normal(size=(n, d)) for label, centre in zip("abcd", centres, strict=True)})


def test_linear_errors_are_those_of_the_incremental_classifier():
    """Also where objects have different numbers of examples, so that recoding counts."""
    views = Views({label: values[: 6 + 2 * k] for k, (label, values) in enumerate(make_views().features.items())})
    fold = views.folds(2, 0, unit_length=False)[-1]
    errors, _ = linear_errors(fold, (0.1, 5.0), 0.7)
    for level, error in zip((0.1, 5.0), errors, strict=True):
        classifier = IncrementalClassifier(6, level, 0.7)
        for x, code in zip(fold.inputs, fold.targets, strict=True):
            classifier.learn(x, "abcd"[int(code.argmax())])
        found = classifier.predict(fold.later_inputs)
        expected = np.mean(["abcd".index(one) for one in found] != fold.later_targets.argmax(axis=1))
        assert error == pytest.approx(expected)


def test_views_are_seen_in_turns_and_split_in_order():
    views = make_views(5)
    assert [label for label, _ in views.in_turns()] == list("abcd") * 5
    first, last = views.split(0.6)
    np.testing.assert_array_equal(first.features["c"], views.features["c"][:3])
    np.testing.assert_array_equal(last.features["c"], views.features["c"][3:])
    fold = views.folds(2, 0, unit_length=True)[0]
    np.testing.assert_allclose(np.linalg.norm(fold.inputs, axis=1), 1.0)
    right = predict_then_learn(IncrementalClassifier(6), make_views(30).in_turns())
    assert not right[0] and right[60:].mean() > 0.7


def test_judge_recodes_as_the_classifier_does():
    fold = Fold(np.zeros((4, 1)), np.eye(2)[[0, 0, 0, 1]], np.zeros((1, 1)), np.array([[0.0, 1.0]]))
    scores = np.array([[[0.5, 0.3]]])  # 3 of 4 examples are of the first class
    assert judge(0.0)(scores, fold)[0] == 1.0
    assert judge(1.0)(scores, fold)[0] == 0.0


@pytest.mark.parametrize("features", [{"a": np.ones((3, 2))}, {"a": np.ones((3, 2)), "b": np.ones((3, 4))}])
def test_bad_views_are_refused(features):
    with pytest.raises(DataError):
        Views(features)
    with pytest.raises(ParameterError):
        make_views(2).split(0.99)


def test_random_features_and_recursive_learner_agree_on_what_lambda_means():
    fold = make_fold()
    batch = RandomFeaturesKRLS(n_features=30, regularization=0.5 / 80, random_state=3).fit(fold.inputs, fold.targets)
    surface = surface_of("features", Grid((1.0,), (0.5,), (30,)), [fold])
    expected = np.mean((batch.predict(fold.later_inputs) - fold.later_targets) ** 2)
    assert surface.best().error == pytest.approx(expected, rel=1e-9)
