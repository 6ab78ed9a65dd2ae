"""Tuning of object classifiers: the errors are those of the classifiers themselves, and views are seen in order."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icub_learning.errors import DataError, IcubLearningError, ParameterError
from icub_learning.evaluation.object_tuning import Views, forward_folds, increasing, linear_errors, predict_then_learn
from icub_learning.recognition import IncrementalClassifier


def make_views(n=12, d=6, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4, d))
    return Views({label: centre + 0.8 * rng.normal(size=(n, d)) for label, centre in zip("abcd", centres, strict=True)})


def test_linear_errors_are_those_of_the_incremental_classifier():
    """The objects have different numbers of examples, so that recoding matters."""
    views = Views({label: values[: 6 + 2 * k] for k, (label, values) in enumerate(make_views().features.items())})
    fold = views.folds(2, 0)[-1]
    errors, _ = linear_errors(fold, (0.1, 5.0), 0.7)
    for level, error in zip((0.1, 5.0), errors, strict=True):
        classifier = IncrementalClassifier(6, level, 0.7)
        for x, code in zip(fold.inputs, fold.targets, strict=True):
            classifier.learn(x, "abcd"[int(code.argmax())])
        found = classifier.predict(fold.later_inputs)
        expected = np.mean(["abcd".index(one) for one in found] != fold.later_targets.argmax(axis=1))
        assert error == pytest.approx(expected)


def test_views_are_seen_in_turns_and_split_in_order_and_bad_ones_and_bad_regularizations_are_refused():
    views = make_views(5)
    assert [label for label, _ in views.in_turns()] == list("abcd") * 5
    first, last = views.split(0.6)
    np.testing.assert_array_equal(first.features["c"], views.features["c"][:3])
    np.testing.assert_array_equal(last.features["c"], views.features["c"][3:])
    fold = views.folds(2, 0)[0]
    np.testing.assert_array_equal(fold.inputs, np.concatenate([views.features[label][:2] for label in "abcd"]))
    np.testing.assert_array_equal(fold.later_inputs, np.stack([views.features[label][2] for label in "abcd"]))
    right = predict_then_learn(IncrementalClassifier(6), make_views(30).in_turns())
    assert not right[0] and right[60:].mean() > 0.7
    for bad in ((), (0.0,), (1.0, 1.0), (np.nan,)):
        with pytest.raises(IcubLearningError, match="regularizations"):
            increasing("regularizations", bad)
    assert increasing("regularizations", (3.0, 1.0)) == (1.0, 3.0)
    for more, text in (({}, "1 labels with features of 1 sizes"), ({"b": np.ones((3, 4))}, "2 labels .* of 2 sizes")):
        with pytest.raises(DataError, match=text):
            Views({"a": np.ones((3, 2))} | more)
    with pytest.raises(ParameterError, match="of which 'b' has 1"):
        Views({"a": np.ones((3, 2)), "b": np.ones((1, 2))}).split(0.7)
    with pytest.raises(DataError, match="3 samples"):
        forward_folds(3, 1, 0)


@given(st.integers(8, 500), st.integers(1, 6), st.integers(0, 20))
def test_folds_go_forward_and_keep_their_gap(n, n_folds, gap):
    most = (n - n // 2) // (gap + 1)
    try:
        folds = forward_folds(n, n_folds, gap)
    except ParameterError as error:
        bound = f"folds is {n_folds}, but must be at most {most}" if most else f"gap is {gap}"
        assert n_folds > most and bound in str(error)
        return
    assert len(folds) == n_folds <= most
    for learned, later in folds:
        assert learned.start == 0 and learned.stop >= n // 2
        assert later.start == learned.stop + gap and learned.stop < later.stop <= n
    assert folds[-1][1].stop == n and all(one[1].stop == other[0].stop for one, other in pairwise(folds))
