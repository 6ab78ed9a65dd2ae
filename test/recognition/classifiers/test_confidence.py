"""Confidence is a probability: of all labels given with confidence p, the share p is right, on data not seen before."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import logistic, norm

from icub_learning.recognition import AdaptiveClassifier, IncrementalClassifier
from icub_learning.recognition.classifiers.calibration import Confidence, Typicality

D = 25


def draw(rng, n, places, spread):
    centres, which = np.random.default_rng(77).normal(size=(40, D)), rng.choice(places, size=n)
    return centres[which] + spread * rng.normal(size=(n, D)), [f"c{k}" for k in which]


def judged(classifier, x, labels):
    scores = classifier.scores(x)
    names = [classifier.classes[k] for k in scores.argmax(axis=1)]
    right = np.array([a == b for a, b in zip(names, labels, strict=True)])
    return np.array([classifier.confidence(row) for row in scores]), right


@pytest.mark.parametrize("n", [4, 5])
def test_further_views_of_an_object_that_was_shown_a_few_times_are_typical(n):
    """The thirds that are held back differ in size: 5 views are 2, 2 and 1."""
    rejected = []
    for seed in range(6):
        rng, classifier = np.random.default_rng(seed), AdaptiveClassifier(1280)
        centre = np.abs(rng.normal(size=1280))
        classifier.learn(centre + 0.1 * rng.normal(size=(n, 1280)), "mug")
        rejected.append(classifier.typicality(centre + 0.1 * rng.normal(size=(30, 1280))) < 0.05)
    assert np.mean(rejected) < 0.1


def test_recall_of_each_class_is_that_of_its_held_back_views_and_one_of_average_recall():
    scores = np.array([[0.9, 0.1, 0.0, 0.0], [0.2, 0.8, 0.1, 0.0], [0.1, 0.3, 0.2, 0.0], [0.0, 0.0, 0.7, 0.1]])
    targets, weights = np.array([0, 0, 1, 2]), np.array([1.0, 1.0, 0.5, 0.5])  # right: 1 of 2, 1 of 1, 1 of 1
    recall, mean = Confidence().fit(scores, np.ones(4), targets, weights).recall, (1.0 + 0.5 + 0.5) / 3.0
    np.testing.assert_allclose(recall, [(1 + mean) / 3, (0.5 + mean) / 1.5, (0.5 + mean) / 1.5, np.nan])
    classifier = AdaptiveClassifier(D)
    assert classifier.recall.shape == (0,)
    for label in ("a", "b"):
        classifier.learn(np.eye(D)[:6], label)
    assert np.isnan(classifier.recall).all()
    classifier.calibrate()
    assert ((classifier.recall > 0.0) & (classifier.recall < 1.0)).all()  # both look the same
    classifier.learn(np.ones(D), "c")
    assert np.isnan(classifier.recall).tolist() == [False, False, True]
    classifier.forget("a")
    assert np.isnan(classifier.recall).all()


@pytest.mark.parametrize("spread", [1.0, 2.0])
@pytest.mark.parametrize("kind", [AdaptiveClassifier, IncrementalClassifier])
def test_calibrated_on_unseen_examples_of_known_classes(kind, spread):
    rng, classifier = np.random.default_rng(0), kind(D)
    classifier.learn(*draw(rng, 600, range(8), spread))
    confidence, right = judged(classifier, *draw(rng, 2000, range(8), spread))
    order = np.argsort(confidence)
    gaps = [abs(confidence[part].mean() - right[part].mean()) for part in np.array_split(order, 8)]
    assert np.mean(gaps) < 0.06  # expected calibration error
    assert right[order[-500:]].mean() > right[order[:500]].mean()
    assert 0.5 < right.mean() < 0.999  # otherwise there is nothing to calibrate


@pytest.mark.parametrize(
    ("kind", "gap"), [(partial(IncrementalClassifier, regularization=100.0), 0.16), (AdaptiveClassifier, 0.09)]
)
def test_calibrated_anew_when_classes_come(kind, gap):
    """With three classes nearly every label is right; with 40 the same views are often confused.
    With little regularization and about as many examples as features, least squares gets worse with more examples, and
    a model of half of the views says nothing about one of all views. On independent noise, as here, halves that are
    most unlike each other give too low a confidence too: least squares is right more often than it says."""
    rng, classifier = np.random.default_rng(3), kind(D)
    for k in range(40):
        classifier.learn(draw(rng, 12, [k], 2.5)[0], f"c{k}")
        if k in (2, 39):
            confidence, right = judged(classifier, *draw(rng, 600, range(k + 1), 2.5))
            assert abs(confidence.mean() - right.mean()) < gap


@pytest.mark.parametrize(("kind", "seeds"), [(IncrementalClassifier, [8]), (AdaptiveClassifier, range(8, 20))])
def test_not_too_sure_of_objects_that_are_asked_for_in_another_place(kind, seeds):
    """Views are taught in two places in turn, so that each part of the lesson shows both, and queried in a third one.
    The accuracy on twelve objects varies by a tenth or two between draws, so that a mean over draws says more than one
    draw. Least squares is overconfident by 0.2 in the mean of 24 draws, and is tested on one draw."""
    gaps, shares, n_classes = [], [], 12
    for seed in seeds:
        rng = np.random.default_rng(seed)
        centres, places, classifier = 0.8 * rng.normal(size=(n_classes, D)), rng.normal(size=(n_classes, 3, D)), kind(D)
        for k in range(n_classes):
            classifier.learn(centres[k] + places[k, np.arange(20) % 2] + 0.2 * rng.normal(size=(20, D)), f"c{k}")
        asked = np.repeat(centres + places[:, 2], 40, axis=0) + 0.2 * rng.normal(size=(40 * n_classes, D))
        confidence, right = judged(classifier, asked, [f"c{k}" for k in np.repeat(np.arange(n_classes), 40)])
        gaps.append(confidence.mean() - right.mean())
        shares.append(right.mean())
    assert np.mean(shares) < 0.8  # otherwise there is nothing to be unsure of
    assert abs(np.mean(gaps)) < 0.1  # although nearly every view held back from a lesson is named right


def test_before_any_outcome_it_goes_by_margin_and_score_and_extreme_scores_give_probabilities():
    confidence, factors = Confidence(), np.array([1.0, 2.0, 0.25])
    for scores, margin, score in (
        ([1.0, 0.0, 0.0], 1.0, 1.0), ([0.45, 0.5, 0.0], 0.1, 0.25), ([0.2, -0.1, 0.8], 0.75, 2.0), ([-1, -2, -1], 0, 0),
    ):  # fmt: skip
        assert confidence(np.array(scores), factors) == pytest.approx(logistic.cdf(-1 + 4 * margin + score))
    assert confidence(np.array([0.5]), np.ones(1)) == pytest.approx(logistic.cdf(3.5))
    assert confidence(np.empty(0), np.empty(0)) == 0.0
    confidence.fit(np.array([[1e300, 1e-300], [0.0, 0.0], [-1.0, 1e-12]] * 20), np.ones(2), np.tile([0, 1, 1], 20))
    for row in ([1e300, 1.0], [1e-300, 0.0], [-1e300, -1.0]):
        assert 0.0 <= confidence(np.array(row), np.ones(2)) <= 1.0


def test_a_fit_maximizes_the_posterior():
    rng, factors = np.random.default_rng(6), np.array([1.0, 1.5, 0.8])
    scores, weights = rng.uniform(0.0, 1.2, size=(40, 3)), rng.uniform(0.5, 1.0, size=40)
    targets = np.where(rng.uniform(size=40) < 0.7, scores.argmax(axis=1), 0)
    best, margins = scores.max(axis=1), np.diff(np.sort(scores)[:, 1:])[:, 0]
    inputs = np.column_stack([np.ones(40), margins / best, np.minimum(best / factors[scores.argmax(axis=1)], 2.0)])
    signs, prior = np.where(scores.argmax(axis=1) == targets, 1.0, -1.0), np.array([-1.0, 4.0, 1.0])

    def loss(c):
        return weights @ np.logaddexp(0.0, -signs * (inputs @ c)) + 0.05 * ((c - prior) ** 2).sum()

    expected = logistic.cdf(inputs @ minimize(loss, prior, method="BFGS", options={"gtol": 1e-8}).x)
    confidence = Confidence().fit(scores, factors, targets, weights)
    np.testing.assert_allclose([confidence(row, factors) for row in scores], expected, atol=1e-5)


def test_typicality_is_a_smoothed_share_with_the_variance_of_the_scores_it_smooths():
    top, asked = np.random.default_rng(7).uniform(0.3, 1.1, size=30), np.linspace(0.0, 1.4, 9)
    width = 0.9 * top.std() * 30**-0.2
    shrunk = top.mean() + (top - top.mean()) * np.sqrt(1.0 - (width / top.std()) ** 2)
    np.testing.assert_allclose(Typicality(top)(asked), norm.cdf(asked[:, None], shrunk, width).mean(axis=1))
    alike = Typicality(np.full(5, 0.7))(np.array([0.699, 0.7, 0.701]))
    np.testing.assert_allclose(alike, norm.cdf([-1.0, 0.0, 1.0]))  # at least 0.001 wide
    assert Typicality(np.empty(0))(np.array([-0.1, 0.4, 1.3])).tolist() == [0.0, 0.4, 1.0]
