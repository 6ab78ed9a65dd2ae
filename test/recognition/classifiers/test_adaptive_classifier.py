"""The default classifier: exact statistics of all views in whatever order, and confidence where it is justified."""

import tracemalloc

import numpy as np
import pytest

from icub_learning.errors import ShapeError, StateError
from icub_learning.recognition import AdaptiveClassifier
from icub_learning.recognition.classifiers import calibration, kept_views
from icub_learning.recognition.classifiers.kinds import from_state
from icub_learning.recognition.classifiers.whitened import Machine, Portion, Statistics
from icub_learning.testing import same_arrays

D = 12


def views(rng, n, k, spread=0.4):
    return np.maximum(np.random.default_rng(k).normal(size=D) + spread * rng.normal(size=(n, D)), 0.0) + 0.05


def lessons(counts, seed=0, first=0, spread=0.4, twins=False, **settings):
    """Return a generator and a classifier taught `counts[k]` views of object k, which has centre `first` + k."""
    rng, classifier = np.random.default_rng(seed), AdaptiveClassifier(D, **settings)
    for k, n in enumerate(counts):
        seen = views(rng, n, first + k, spread)
        if twins:
            seen = rng.permutation(np.concatenate([seen, seen + 0.01 * rng.normal(size=seen.shape)]))
        classifier.learn(seen, f"object {k}")
    return rng, classifier


def right(classifier, rng, classes, n=60):
    asked = np.concatenate([views(rng, n, k) for k in classes])
    return np.mean([a == f"object {k}" for a, k in zip(classifier.predict(asked), np.repeat(classes, n), strict=True)])


def test_scores_are_those_of_the_machine_of_all_views_with_recoded_kept_ones():
    counts, recoding = [6, 3, 9], 0.5
    (_, classifier), rng = lessons(counts, recoding=recoding), np.random.default_rng(0)
    x = [views(rng, n, k) for k, n in enumerate(counts)]
    rows, targets = np.array([kept_views.rounded(row) for part in x for row in part]), np.repeat(np.arange(3), counts)
    sums = np.array([rows[targets == k].sum(axis=0) for k in range(3)])
    known = Statistics(rows, targets, sums, np.array(counts), None)
    machine, asked = Machine(Portion(known, np.ones(18, dtype=bool)), classifier.shrinkage), views(rng, 4, 1)
    found, a = machine.scores(asked), classifier.mean_weight
    assert (classifier.shrinkage, a) in {(s, a) for s in calibration.SHRINKAGES for a in calibration.MEAN_WEIGHTS}
    expected = (found.views * (6 / np.minimum(counts, 6)) ** recoding + a * found.means) / (1 + a)  # 6: mean of counts
    np.testing.assert_allclose(classifier.scores(asked), expected, atol=1e-6)
    np.testing.assert_allclose(classifier.scores(asked[0]), expected[0], atol=1e-6)


def test_the_order_of_views_changes_nothing_of_what_is_known_of_all_of_them():
    rng = np.random.default_rng(1)
    x, labels = np.concatenate([views(rng, 400, k) for k in range(3)]), np.repeat(["a", "b", "c"], 400)
    one, other, order = AdaptiveClassifier(D), AdaptiveClassifier(D), np.random.default_rng(2).permutation(len(x))
    one.learn(x, labels.tolist())
    for place in order:
        other.learn(x[place], labels[place])
    assert one.n_kept == other.n_kept == kept_views.MAX_VIEWS
    places = [other.classes.index(name) for name in one.classes]
    np.testing.assert_array_equal(one.state()["second"], other.state()["second"])
    np.testing.assert_array_equal(one.state()["moments.sums"], other.state()["moments.sums"][places])
    assert (one.shrinkage, one.mean_weight) == (other.shrinkage, other.mean_weight)


@pytest.mark.parametrize("n", [1, 5, 40])
def test_a_class_that_is_learned_and_forgotten_leaves_no_trace(n):
    _, classifier = lessons([8, 5, 7])
    before, asked = classifier.state(), views(np.random.default_rng(3), 6, 1)
    judged = classifier.judge(asked)
    classifier.learn(views(np.random.default_rng(4), n, 9), "passing")
    classifier.judge(asked)
    classifier.forget("passing")
    assert same_arrays(classifier.state(), before) and same_arrays(vars(classifier.judge(asked)), vars(judged))


def test_of_a_forgotten_class_with_more_views_than_are_kept_the_mean_goes():
    (_, classifier), rng, others = lessons([600, 600], 5), np.random.default_rng(5), AdaptiveClassifier(D)
    gone, stays = views(rng, 600, 0), views(rng, 600, 1)
    classifier.forget("object 0")
    others.learn(stays, "object 1")
    rows = np.array([kept_views.rounded(row) for row in gone])
    centred = rows - rows.mean(axis=0)
    expected = others.state()["second"] + np.triu(centred.T @ centred)
    np.testing.assert_allclose(classifier.state()["second"], expected, atol=1e-9)


def test_many_classes_and_views_are_named_as_well_as_few():
    rng, classifier = lessons([60] * 30, 6, spread=0.25)  # one object after the other, more views than are kept
    assert classifier.n_kept == kept_views.MAX_VIEWS
    assert right(classifier, rng, range(30), 20) > 0.6  # accuracy in 12 dimensions; the Bayes rule has 0.69
    _, few = lessons([3] * 30, 7, spread=0.25)
    assert right(few, rng, range(30), 20) < right(classifier, rng, range(30), 20)


def test_what_names_more_held_back_views_right_is_chosen():
    """Directions of large variance say nothing: a small shrinkage whitens them. On noise the default mostly stays."""
    rng, loud = np.random.default_rng(7), AdaptiveClassifier(60)
    centres, along = rng.normal(size=(20, 60)), np.linalg.qr(rng.normal(size=(60, 30)))[0].T
    for k in range(20):
        loud.learn(centres[k] + (10.0 * rng.normal(size=(30, 30))) @ along + 0.1 * rng.normal(size=(30, 60)), str(k))
    assert loud.shrinkage == min(calibration.SHRINKAGES)
    stayed = 0
    for _ in range(20):  # by chance, the default, one of fifteen pairs, is chosen once or twice
        noise = AdaptiveClassifier(D)
        noise.learn(rng.normal(size=(48, D)), np.repeat(["a", "b", "c", "d"], 12).tolist())
        stayed += (noise.shrinkage, noise.mean_weight) == (0.5, 0.3)
    assert stayed >= 12


def typicality(counts, n_seeds=6, **settings):
    """Return the typicality of new views of each object taught (seed, object, view), and of six others (seed, view)."""
    known, new = [], []
    for seed in range(n_seeds):
        rng, classifier = lessons(counts, seed, 10 * seed, **settings)
        known.append([classifier.typicality(views(rng, 100, k + 10 * seed)) for k in range(len(counts))])
        new.append(classifier.typicality(np.concatenate([views(rng, 100, k) for k in range(200, 206)])))
    return np.array(known), np.array(new)


@pytest.mark.parametrize(("counts", "twins"), [*(([n] * k, False) for n in (3, 20) for k in (2, 6)), ([12] * 4, True)])
def test_known_views_are_rejected_at_the_rate_asked_for_and_new_ones_are_not_typical(counts, twins):
    """Twins are taught with a near copy each, in any order, and queried without: thirds in order would reject half."""
    known, new = typicality(counts, twins=twins)
    assert abs((known < 0.1).mean() - 0.1) < 0.06 and (new < 0.1).mean() > 2.0 * (known < 0.1).mean()


def test_typicality_of_new_views_allows_for_what_a_third_of_the_views_teaches():
    """Half of the held-back views are expected to score lower than a new one, not .58 of them."""
    known, _ = typicality([6] * 5, 8)
    assert abs(known.mean() - 0.5) < 0.05
    known, _ = typicality([30, 30, 30, 30, 3], 8)  # the last one is hardly called unknown more often
    assert abs((known[:, :4] < 0.1).mean() - 0.1) < 0.04 and (known[:, 4] < 0.1).mean() < 0.12


def test_one_view_says_something_and_nothing_says_nothing():
    classifier = AdaptiveClassifier(D)
    found = classifier.judge(np.ones(D))
    assert (found.nearest, found.confidence, found.typicality, classifier.typicality(np.ones(D))) == ("", 0, 0, 0)
    x = views(np.random.default_rng(4), 1, 0)[0]
    classifier.learn(x, "mug")
    found = classifier.judge(x)
    assert (found.nearest, found.typicality > 0.5) == ("mug", True)
    classifier.forget("mug")
    assert classifier.typicality(x) == 0.0


def test_more_classes_than_kept_views(monkeypatch):
    for bound in ("MIN_VIEWS", "MAX_VIEWS"):
        monkeypatch.setattr(kept_views, bound, 5)
    rng, classifier = lessons([4] * 12, 9, spread=0.1)
    assert classifier.n_kept == 5 and right(classifier, rng, range(12), 10) > 0.6
    for k in range(11):
        classifier.forget(f"object {k}")
    assert classifier.judge(views(rng, 1, 11)[0]).nearest == "object 11"


def test_merging_is_having_seen_what_both_saw():
    rng = np.random.default_rng(5)
    both, first, second = AdaptiveClassifier(D), AdaptiveClassifier(D), AdaptiveClassifier(D)
    for k in range(4):
        rows = views(rng, 6, k)
        both.learn(rows, f"object {k}")
        (first if k < 2 else second).learn(rows, f"object {k}")
    first.merge(second)
    x = views(rng, 5, 2)
    np.testing.assert_array_equal(first.scores(x), both.scores(x))


def test_what_is_merged_and_forgotten_leaves_no_trace():
    """Views come rounded, to multiples of which a unit vector may not be one any more: rounding again changes them."""
    for seed in range(60):
        rng, one, other = np.random.default_rng(seed), AdaptiveClassifier(16), AdaptiveClassifier(16)
        one.learn(rng.random((3, 16)), "mug")
        other.learn(np.tile(rng.integers(0, 9, 16) + 0.0, (5, 1)), "duck")
        before = one.state()
        one.merge(other)
        assert one.judge(np.ones(16)).nearest in ("mug", "duck")
        one.forget("duck")
        assert same_arrays(one.state(), before)
    with pytest.raises(ShapeError, match=r"\(n, 16\) with n of at least 1"):
        one.judge(np.zeros((0, 16)))


def test_a_model_of_a_classifier_that_is_gone_of_an_earlier_version_or_of_other_sizes_is_refused():
    good = lessons([6, 4])[1].state()
    lacking, other = {key: good[key] for key in good if key != "second"}, {**good, "second": np.eye(D - 1)}
    gone = "'kernel' is not one of adaptive, rlsc: teach again"
    for kind, state, said in (("kernel", good, gone), ("adaptive", lacking, "second"), ("adaptive", other, "second")):
        with pytest.raises(StateError, match=said):
            from_state(kind, state)


def test_calibrating_again_and_again_takes_no_more_memory():
    (_, classifier), x, in_use = lessons([100, 100, 100]), np.ones(D), []
    tracemalloc.start()
    try:
        for _ in range(6):
            classifier.learn(x, "object 0")
            classifier.judge(x)
            in_use.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert in_use[-1] - in_use[1] < 8 * 300**2 / 10  # [bytes] a tenth of one matrix between 300 views
