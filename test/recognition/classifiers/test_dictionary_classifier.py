"""DictionaryClassifier: objects taught one after another, the size limit, saved states and bad input."""

import numpy as np
import pytest

from icub_learning.errors import IcubLearningError, ParameterError
from icub_learning.recognition.assembly import Settings, make_classifier
from icub_learning.recognition.classifiers.dictionary_classifier import DictionaryClassifier
from icub_learning.testing import same_arrays


def objects(rng, n, n_classes=6, d=40):
    centers = np.abs(np.random.default_rng(9).normal(size=(n_classes, d)))
    labels = np.repeat(np.arange(n_classes), n)
    return centers[labels] + 0.4 * rng.normal(size=(len(labels), d)), [f"object {k}" for k in labels]


@pytest.mark.parametrize("order", ["one after another", "mixed"])
def test_objects_are_learned_in_any_order_within_the_limit(order):
    rng = np.random.default_rng(0)
    x, labels = objects(rng, 50)
    if order == "mixed":
        places = rng.permutation(len(x))
        x, labels = x[places], [labels[place] for place in places]
    classifier = DictionaryClassifier(40, max_dictionary=60)
    for row, label in zip(x, labels, strict=True):
        classifier.learn(row, label)
        assert len(classifier.dictionary) <= 60
    asked, right = objects(rng, 20)
    assert np.mean(np.array(classifier.predict(asked)) == right) > 0.95
    np.testing.assert_allclose(np.linalg.norm(classifier.dictionary, axis=1), 1.0)


def test_features_count_by_their_direction_alone():
    rng = np.random.default_rng(1)
    x, labels = objects(rng, 10)
    small, large = DictionaryClassifier(40), DictionaryClassifier(40)
    small.learn(1e-3 * x, labels)
    large.learn(1e3 * x, labels)
    np.testing.assert_allclose(small.scores(x), large.scores(5 * x), atol=1e-9)


def test_several_rows_are_as_good_as_one_by_one():
    x, labels = objects(np.random.default_rng(2), 10)
    one, other = DictionaryClassifier(40), DictionaryClassifier(40)
    one.learn(x, labels)
    for row, label in zip(x, labels, strict=True):
        other.learn(row, label)
    assert same_arrays(one.state(), other.state())


def test_forgetting_drops_a_class_for_good():
    rng = np.random.default_rng(3)
    x, labels = objects(rng, 30, 3)
    classifier = DictionaryClassifier(40, recoding=0.0)
    classifier.learn(x, labels)
    scores = classifier.scores(x)
    classifier.forget("object 1")
    assert classifier.classes == ["object 0", "object 2"]
    np.testing.assert_allclose(classifier.scores(x), scores[:, [0, 2]], rtol=1e-12)
    classifier.learn(x[:5], labels[:5])  # rehearsal knows of no forgotten class
    assert set(classifier.predict(x[:30])) == {"object 0"}
    with pytest.raises(ParameterError):
        classifier.forget("object 1")


def test_merging_knows_the_objects_of_both():
    rng = np.random.default_rng(4)
    x, labels = objects(rng, 40)
    first, second = DictionaryClassifier(40, max_dictionary=80), DictionaryClassifier(40, max_dictionary=80)
    first.learn(x[:160], labels[:160])  # objects 0 to 3
    second.learn(x[80:], labels[80:])  # objects 2 to 5
    first.merge(second)
    asked, right = objects(rng, 20)
    assert np.mean(np.array(first.predict(asked)) == right) > 0.95
    assert len(first.dictionary) <= 80 and first.counts["object 2"] == 80
    before = first.state()
    for other in (DictionaryClassifier(39), DictionaryClassifier(40, length_scale=0.3), "none"):
        with pytest.raises(ParameterError):
            first.merge(other)
    assert same_arrays(before, first.state())


@pytest.mark.parametrize(
    "settings",
    [
        {"length_scale": 0.0},
        {"step_size": 0.0},
        {"step_size": 1.5},
        {"parsimony": -1.0},
        {"max_dictionary": 0},
        {"max_dictionary": -5},
        {"recoding": 2.0},
    ],
)
def test_settings_outside_their_range_are_refused(settings):
    with pytest.raises(IcubLearningError) as caught:
        DictionaryClassifier(40, **settings)
    assert caught.value.name == next(iter(settings))


def test_the_node_makes_it_by_name():
    settings = Settings(classifier="polk", max_dictionary=7, length_scale=0.4)
    classifier = make_classifier(settings, 5)
    assert isinstance(classifier, DictionaryClassifier)
    assert (classifier.max_dictionary, classifier.length_scale) == (7, 0.4)
