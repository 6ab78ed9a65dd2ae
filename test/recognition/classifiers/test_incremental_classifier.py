"""IncrementalClassifier against Algorithm 2 solved in batch; its labels, its states, and what it refuses."""

from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
from helpers.unchanged import unchanged
from hypothesis import example, given, settings
from hypothesis import strategies as st

from icub_learning.errors import IcubLearningError, NotFiniteError, ParameterError, ShapeError, StateError
from icub_learning.features import NystromFeatures, RandomFourierFeatures
from icub_learning.recognition import AdaptiveClassifier, IncrementalClassifier
from icub_learning.recursive import RegularizedCovariance

D = 12


def batch_scores(z, labels, classes, regularization, recoding, asked):
    """Algorithm 2 with all examples at hand: W = (Z^T Z + lambda I)^-1 Z^T Y Gamma^alpha, by a QR factorization."""
    d, coded = z.shape[1], np.array([[float(label == name) for name in classes] for label in labels])
    q, r = np.linalg.qr(np.vstack([z, np.sqrt(regularization) * np.eye(d)]))
    weights = np.linalg.solve(r, q.T @ np.vstack([coded, np.zeros((d, len(classes)))]))
    return asked @ weights * (len(labels) / coded.sum(axis=0)) ** recoding


def sample(rng, n, n_classes, d=D):
    labels = [f"object {i}" for i in rng.integers(n_classes, size=n)]
    centres = np.random.default_rng(99).normal(size=(n_classes, d))
    return np.array([centres[int(label.split()[1])] for label in labels]) + rng.normal(size=(n, d)), labels


def taught(n=80, n_classes=5, seed=0, **settings):
    classifier = IncrementalClassifier(D, **settings)
    classifier.learn(*sample(np.random.default_rng(seed), n, n_classes))
    return classifier


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000), n=st.integers(1, 120), n_classes=st.integers(1, 12),
    regularization=st.sampled_from([1e-3, 1.0, 50.0]), recoding=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
)  # fmt: skip
def test_equal_to_algorithm_2_in_batch_however_many_come_at_once(seed, n, n_classes, regularization, recoding):
    rng = np.random.default_rng(seed)
    x, labels = sample(rng, n, n_classes)
    asked, classifier = rng.normal(size=(4, D)), IncrementalClassifier(D, regularization, recoding)
    for start, k in pairwise([0, *sorted(set(rng.integers(1, n + 1, size=5).tolist()) | {1, n})]):
        classifier.learn(*((x[start], labels[start]) if k == start + 1 else (x[start:k], labels[start:k])))
        classes = list(dict.fromkeys(labels[:k]))
        assert (classifier.classes, classifier.counts) == (classes, {one: labels[:k].count(one) for one in classes})
        expected = batch_scores(x[:k], labels[:k], classes, regularization, recoding, asked)
        np.testing.assert_allclose(classifier.scores(asked), expected, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(classifier.scores(asked[0]), expected[0], rtol=1e-8, atol=1e-8)


def test_recoding_can_be_changed_at_any_time_and_leaves_weights_alone():
    classifier = taught(recoding=0.0)
    weights, plain = classifier.weights, classifier.scores(np.ones(D))
    counts = np.array(list(classifier.counts.values()))
    for alpha in (0.0, 0.5, 1.0):
        classifier.recoding = alpha
        np.testing.assert_allclose(classifier.scores(np.ones(D)), plain * (counts.sum() / counts) ** alpha)
    np.testing.assert_array_equal(classifier.weights, weights)
    for bad in (-0.1, 1.1, np.nan, "much"):
        with pytest.raises(ParameterError):
            classifier.recoding = bad
    assert classifier.recoding == 1.0


def test_prediction_is_the_label_of_the_largest_score():
    classifier, (x, _) = taught(), sample(np.random.default_rng(6), 40, 5)
    expected = [classifier.classes[i] for i in classifier.scores(x).argmax(axis=1)]
    assert classifier.predict(x) == expected and classifier.predict(x[0]) == expected[0]
    for bad, error in (([0.1] * 4, ShapeError), ([*[0.1] * 4, np.nan], NotFiniteError)):
        with pytest.raises(error):
            classifier.confidence(bad)
    classifier = IncrementalClassifier(D)  # without a class there are no scores and no prediction
    assert classifier.scores(np.ones(D)).shape == (0,) and classifier.scores(np.ones((3, D))).shape == (3, 0)
    assert classifier.confidence([]) == 0.0
    with pytest.raises(ParameterError, match="learn an example first"):
        classifier.predict(np.ones(D))


def test_no_rows_and_labels_that_do_not_fit_the_rows_teach_nothing():
    with unchanged(classifier := taught()):
        classifier.learn(np.empty((0, D)), "nothing")
        classifier.learn(np.empty((0, D)), [])
        for labels in ([], ["a"], ["a"] * 4, ["a", "", "c"], ["a", 3, "c"]):
            with pytest.raises(ParameterError):
                classifier.learn(np.ones((3, D)), labels)


def test_forgetting_leaves_what_the_others_alone_would_teach_and_renaming_changes_a_name_only():
    classifier, x = taught(regularization=1.0), np.random.default_rng(7).normal(size=(20, D))
    (views, labels), classes = sample(np.random.default_rng(0), 80, 5), classifier.classes
    classifier.forget(classes[1])
    kept, left = [classes[i] for i in (0, 2, 3, 4)], np.array(labels) != classes[1]
    assert classifier.classes == kept and classes[1] not in classifier.counts
    expected = batch_scores(views[left], np.array(labels)[left], kept, 1.0, 0.7, x)
    np.testing.assert_allclose(classifier.scores(x), expected, atol=1e-4)  # kept views are rounded
    few, many = taught(1, 1, regularization=1e-12), taught(1000, 1)
    for one in (few, many):
        one.forget("object 0")
    assert np.linalg.cond(few._covariance.factor) > 1e6  # the rounding exceeds the regularization: they stay
    assert np.sum(many._covariance.factor**2) < 3000  # how 200 views vary; with their mean it is 5200
    classifier.learn(x, classes[1])  # the class may come back, as the last one
    assert classifier.classes[-1] == classes[1] and classifier.counts[classes[1]] == 20
    before, classes = classifier.scores(x), classifier.classes
    classifier.rename(classes[2], "cup")
    assert classifier.classes == [*classes[:2], "cup", *classes[3:]]
    np.testing.assert_array_equal(classifier.scores(x), before)
    classifier.rename("cup", "cup")
    classifier.learn(x[0], "cup")
    assert len(classifier.classes) == len(classes)


@pytest.mark.parametrize("overlap", [0, 1, 3, None])  # number of common classes; None: the first learner has none
def test_merging_equals_having_seen_all_and_what_does_not_fit_is_refused(overlap):
    rng = np.random.default_rng(9)
    x, labels = sample(rng, 90, 6)
    kinds, drawn = np.array([int(label.split()[1]) for label in labels]), rng.random(90) < 0.5
    mine = np.zeros(90, bool) if overlap is None else (kinds < 3) | ((kinds < 3 + overlap) & drawn)
    first, second = IncrementalClassifier(D, 0.3, 0.6), IncrementalClassifier(D, 7.0, 0.1)
    for row, label, own in zip(x, labels, mine, strict=True):
        (first if own else second).learn(row, label)
    with unchanged(second):
        first.merge(second)
    asked = rng.normal(size=(6, D))
    expected = batch_scores(x, labels, first.classes, 0.3, 0.6, asked)
    np.testing.assert_allclose(first.scores(asked), expected, rtol=1e-8, atol=1e-8)
    assert sum(first.counts.values()) == 90
    first.learn(asked, "new")  # the merged classifier goes on learning
    expected = batch_scores(np.vstack([x, asked]), labels + ["new"] * 6, first.classes, 0.3, 0.6, asked)
    np.testing.assert_allclose(first.scores(asked), expected, rtol=1e-8, atol=1e-8)
    for other in (IncrementalClassifier(D + 1), IncrementalClassifier(D, feature_map=MAPS["nystrom"]), "text", None):
        with unchanged(classifier := taught()), pytest.raises(ParameterError):
            classifier.merge(other)


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=10))
@example(["a", " ", "a\x00", "\x00", "\ud800", "käse 🧀", "'", '"', "\\", "\n", "x" * 1024, "0", "None", "[]"])
@settings(deadline=None, max_examples=30)
def test_any_labels_are_kept_apart_and_survive_saving(labels):
    classifier = IncrementalClassifier(1)
    for label in labels:
        classifier.learn([2.0], label)
    assert classifier.counts == {label: labels.count(label) for label in labels}
    assert list(IncrementalClassifier.from_state(classifier.state()).counts.items()) == list(classifier.counts.items())


@pytest.mark.parametrize("bad", ["", "x" * 1025, "x" * 10_000, None, b"bytes", ["a"], dict.fromkeys("abc")], ids=repr)
def test_bad_labels_are_refused_and_teach_nothing(bad):
    with unchanged(classifier := taught()):
        with pytest.raises(ParameterError) as caught:
            classifier.learn(np.ones(D), bad)
        assert caught.value.name == "label" and len(str(caught.value)) < 200
        for teach, given in ((classifier.learn, np.ones((3, D))), (classifier.rename, "object 0")):
            with pytest.raises(ParameterError):
                teach(given, bad)


@pytest.mark.parametrize("unknown", ["unknown", "", None, 3, "x" * 10_000])
def test_unknown_labels_are_named(unknown):
    with unchanged(classifier := taught()):
        for change in (classifier.forget, lambda label: classifier.rename(label, "new")):
            with pytest.raises(ParameterError) as caught:
                change(unknown)
            assert len(str(caught.value)) < 400 and "object 0" in str(caught.value)
        with pytest.raises(ParameterError):
            classifier.rename("object 0", "object 1")


def test_at_most_ten_labels_are_named_and_of_long_ones_the_beginning():
    classifier, labels = IncrementalClassifier(D), ["a" * 40, "b" * 41, *"cdefghij", "eleventh"]
    ten = f"one of ['{'a' * 40}', '{'b' * 37}...', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'"
    for n, bound in ((0, "a label that was learned"), (10, f"{ten}]"), (11, f"{ten}, ...]")):
        for label in labels[:n]:
            classifier.learn(np.ones(D), label)
        with pytest.raises(ParameterError) as caught:
            classifier.forget("cup")
        assert caught.value.bound == bound


BAD = [
    (NotFiniteError, np.r_[np.ones(D - 1), np.inf]), (NotFiniteError, np.vstack([np.ones((9, D)), np.full(D, np.nan)])),
    (ShapeError, np.ones(D - 1)), (ShapeError, np.ones((2, D + 1))), (ParameterError, np.full(D, 1e101)),
]  # fmt: skip


@pytest.mark.parametrize(("error", "x"), BAD)
def test_bad_features_are_refused_and_teach_nothing(error, x):
    with unchanged(classifier := taught()):
        with pytest.raises(error):
            classifier.learn(x, "new")
        for ask in (classifier.scores, classifier.predict, classifier.typicality, classifier.judge):
            with pytest.raises(error) if error is not ParameterError else nullcontext():
                ask(x)


@pytest.mark.parametrize(("name", "bad"), [
    *(("n_features", value) for value in (0, 2.5)), *(("regularization", value) for value in (0.0, -1.0, np.nan)),
    *(("recoding", value) for value in (-0.1, 1.1)), ("feature_map", RandomFourierFeatures(D + 1, 10)),
])  # fmt: skip
def test_bad_settings_are_refused(name, bad):
    with pytest.raises(IcubLearningError, match=name):
        IncrementalClassifier(**{"n_features": D, name: bad})


MAPS = {
    "random_fourier": RandomFourierFeatures(D, 60, length_scale=3.0, seed=4),
    "nystrom": NystromFeatures(np.random.default_rng(10).normal(size=(30, D)), length_scale=3.0),
}


@pytest.mark.parametrize("kind", [AdaptiveClassifier, IncrementalClassifier])
@pytest.mark.parametrize("feature_map", MAPS.values(), ids=MAPS)
def test_a_map_in_front_is_the_classifier_on_mapped_features(feature_map, kind):
    x, labels = sample(np.random.default_rng(11), 60, 4)
    mapped, plain = kind(D, recoding=0.5, feature_map=feature_map), kind(feature_map.n_features, recoding=0.5)
    mapped.learn(x, labels)
    plain.learn(feature_map.transform(x), labels)
    np.testing.assert_array_equal(mapped.scores(x), plain.scores(feature_map.transform(x)))
    restored = kind.from_state(mapped.state())
    np.testing.assert_array_equal(restored.scores(x), mapped.scores(x))
    restored.merge(mapped)
    assert restored.n_samples == 120


def test_states_of_others_are_refused():
    good = taught().state()
    labels = [{"moments.labels": np.frombuffer(text, np.uint8)} for text in (b'["a", "a", "b", "c", "d"]', b"{}")]
    spoiled = [good | one for one in (
        {"version": np.asarray(99)}, *labels, {"moments.counts": good["moments.counts"] - 100},
        {"n_features": np.asarray(D + 1)}, {"feature_map.kind": np.asarray("fourier")},
        {"covariance.regularization": np.linspace(1.0, 2.0, D)},
    )]  # fmt: skip
    for d in (D - 1, D + 1):
        spoiled.append(good | {f"covariance.{key}": value for key, value in RegularizedCovariance(d).state().items()})
    for state in spoiled:
        with pytest.raises(StateError):
            IncrementalClassifier.from_state(state)
