"""Confidence is a probability: of all labels given with confidence p, the share p is right, on data not seen before."""

import numpy as np
import pytest

from icub_learning.errors import IcubLearningError, NotFiniteError, ShapeError
from icub_learning.recognition import AdaptiveClassifier, IncrementalClassifier
from icub_learning.recognition.classifiers.confidence import Confidence

D = 25


def draw(rng, n, places, spread):
    centres = np.random.default_rng(77).normal(size=(40, D))
    which = rng.choice(places, size=n)
    return centres[which] + spread * rng.normal(size=(n, D)), [f"c{k}" for k in which]


def judged(classifier, x, labels):
    scores = classifier.scores(x)
    names = [classifier.classes[k] for k in scores.argmax(axis=1)]
    right = np.array([a == b for a, b in zip(names, labels, strict=True)])
    return np.array([classifier.confidence(row) for row in scores]), right


@pytest.mark.parametrize("spread", [1.0, 2.0])
@pytest.mark.parametrize("kind", [AdaptiveClassifier, IncrementalClassifier])
def test_calibrated_on_unseen_examples_of_known_classes(kind, spread):
    rng = np.random.default_rng(0)
    classifier = kind(D)
    x, labels = draw(rng, 2400, range(8), spread)
    for k, (row, label) in enumerate(zip(x, labels, strict=True)):
        if kind is IncrementalClassifier and k % 4 == 0:
            classifier.calibrate(row, label)
        classifier.learn(row, label)
    confidence, right = judged(classifier, *draw(rng, 4000, range(8), spread))
    order = np.argsort(confidence)
    gaps = [abs(confidence[part].mean() - right[part].mean()) for part in np.array_split(order, 8)]
    assert np.mean(gaps) < 0.06  # expected calibration error
    assert right[order[-1000:]].mean() > right[order[:1000]].mean()
    assert 0.5 < right.mean() < 0.995  # or there was nothing to calibrate


def test_what_is_unknown_gets_less_confidence():
    rng = np.random.default_rng(1)
    classifier = AdaptiveClassifier(D)
    for k in range(12):  # one object after the other, 20 views each
        for row in draw(rng, 20, [k], 0.5)[0]:
            classifier.learn(row, f"c{k}")
    known, right = judged(classifier, *draw(rng, 600, range(12), 0.5))
    unknown, _ = judged(classifier, *draw(rng, 600, range(12, 40), 0.5))
    assert right.mean() > 0.95
    assert (known[:, None] > unknown).mean() > 0.95
    assert (known >= 0.5).mean() > 0.9
    assert (unknown < 0.5).mean() > 0.75


def test_before_any_outcome_it_goes_by_margin_and_score():
    confidence, factors = Confidence(), np.ones(3)
    sure, torn, weak = (confidence(np.array(s), factors) for s in ([1.0, 0.0, 0.0], [0.5, 0.45, 0.0], [0.1, 0.0, 0.0]))
    assert sure > 0.9 > 0.6 > torn
    assert sure > weak
    assert confidence(np.array([-1.0, -2.0]), np.ones(2)) < 0.1
    assert confidence(np.empty(0), np.empty(0)) == 0.0


def test_outcomes_are_bounded_in_number_and_the_newest_count():
    confidence, factors = Confidence(), np.ones(2)
    for k in range(3000):
        confidence.add(np.array([0.8, 0.2]), factors, int(k >= 1500))
        confidence.add(np.array([0.3, 0.2]), factors, None)
    state = confidence.state()
    assert [len(state[key]) for key in ("known", "unknown", "right")] == [512, 64, 512]
    assert confidence(np.array([0.8, 0.2]), factors) < 0.05
    restored = Confidence.from_state(state)
    assert restored(np.array([0.6, 0.2]), factors) == confidence(np.array([0.6, 0.2]), factors)


def test_it_goes_with_the_state_and_calibrating_leaves_scores_alone():
    rng = np.random.default_rng(2)
    x, labels = draw(rng, 60, range(3), 1.0)
    classifier = IncrementalClassifier(D)
    classifier.calibrate(x[0], "c0")  # nothing known: nothing to be sure of
    assert not len(classifier.state()["confidence.known"])
    for row, label in zip(x, labels, strict=True):
        before = classifier.scores(row)
        classifier.calibrate(row, label)
        np.testing.assert_array_equal(classifier.scores(row), before)
        classifier.learn(row, label)
    assert not len(classifier.state()["confidence.unknown"])  # the first of a class came too early to tell
    classifier.calibrate(x[0], "new")
    assert len(classifier.state()["confidence.unknown"]) == 1
    restored = IncrementalClassifier.from_state(classifier.state())
    scores = classifier.scores(x[0])
    assert restored.confidence(scores) == classifier.confidence(scores)
    assert restored.confidence(scores.tolist()) == classifier.confidence(scores)


def test_bad_scores_are_refused():
    classifier = IncrementalClassifier(D)
    classifier.learn(np.ones(D), "a")
    for bad, error in (
        (np.ones(2), ShapeError),
        ([np.nan], NotFiniteError),
        (0.5, ShapeError),
        (None, IcubLearningError),
    ):
        with pytest.raises(error):
            classifier.confidence(bad)


def test_extreme_outcomes_leave_finite_probabilities():
    confidence = Confidence()
    for k in range(200):
        confidence.add(np.array([1e300, 1e-300]), np.ones(2), k % 2)
        confidence.add(np.array([0.0, 0.0]), np.ones(2), 0)
    for scores in ([1e300, 1e300], [0.0, 0.0], [-1e300, 1.0]):
        assert 0.0 <= confidence(np.array(scores), np.ones(2)) <= 1.0
