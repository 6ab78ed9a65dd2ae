"""Choosing a classifier of objects: the errors are those of the classifiers, and views are seen in order."""

import numpy as np
import pytest

from icub_learning.errors import DataError, ParameterError
from icub_learning.evaluation.object_tuning import Views, judge, linear_errors, predict_then_learn
from icub_learning.kernel_methods.tuning import Fold
from icub_learning.recognition import IncrementalClassifier


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
