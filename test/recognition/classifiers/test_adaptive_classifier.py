"""AdaptiveClassifier: what it holds out, what it chooses and why, and that it stays the classifier it claims to be."""

import numpy as np
import pytest

from icub_learning.errors import IcubLearningError, ParameterError, StateError
from icub_learning.features import RandomFourierFeatures
from icub_learning.recognition import AdaptiveClassifier, IncrementalClassifier
from icub_learning.recognition.classifiers.held_out import HeldOut
from icub_learning.recognition.classifiers.selection import RECODINGS, RULES, choose, count_correct

D = 20


def sample(n_classes, n, seed=0, spread=1.0, d=D):
    """Rows, labels in turn; nearby classes, so that accuracy is neither 0 nor 1."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(1234).normal(size=(n_classes, d))
    places = np.arange(n) % n_classes
    return centres[places] + spread * rng.normal(size=(n, d)), [f"c{place}" for place in places]


def learn_all(classifier, x, labels):
    for row, label in zip(x, labels, strict=True):
        classifier.learn(row, label)
    return classifier


def same(first, second):
    return first.keys() == second.keys() and all(np.array_equal(first[key], second[key]) for key in first)


def reference(classifier, x, labels):
    """An IncrementalClassifier that learned what this one says it learned: all but every 6th of each class."""
    seen, plain = {}, IncrementalClassifier(D, classifier.regularization, classifier.recoding)
    for row, label in zip(x, labels, strict=True):
        seen[label] = seen.get(label, 0) + 1
        if seen[label] % 6:
            plain.learn(row, label)
    return plain


def test_scores_are_exact_also_after_the_regularization_has_moved():
    x, labels = sample(5, 400, spread=2.5)
    classifier = AdaptiveClassifier(D)
    moved = set()
    for k, (row, label) in enumerate(zip(x, labels, strict=True), 1):
        classifier.learn(row, label)
        if k % 10 == 0:
            moved.add(classifier.regularization)
    assert len(moved) > 1
    np.testing.assert_allclose(classifier.scores(x), reference(classifier, x, labels).scores(x), rtol=1e-8, atol=1e-8)


def test_every_sixth_example_of_a_class_is_held_out_and_a_class_with_fewer_loses_none():
    x, _ = sample(1, 13)
    classifier = AdaptiveClassifier(D)
    for k, row in enumerate(x, 1):
        classifier.learn(row, "a")
        assert classifier.n_held_out == k // 6
        assert classifier.counts == {"a": k}
    learn_all(classifier, x[:5], ["b"] * 5)
    assert classifier.n_held_out == 2
    assert classifier.n_samples == 18


def test_when_too_many_are_held_out_the_oldest_are_learned_after_all():
    held, remaining = HeldOut(2), {0: [], 1: [], 2: []}
    for k in range(900):
        held.add(np.full(2, k), k % 2 if k < 600 else 2)
        remaining[k % 2 if k < 600 else 2].append(k)
        taken = held.evict(3)
        if k < 512:
            assert taken is None
        else:
            row, crowded = taken
            assert len(remaining[crowded]) == max(map(len, remaining.values()))
            assert row[0] == remaining[crowded].pop(0)
    assert len(held) == 512
    assert max(map(len, remaining.values())) - min(map(len, remaining.values())) <= 1
    assert held.examples()[0][:, 0].tolist() == sorted(k for rows in remaining.values() for k in rows)
    assert HeldOut(1).evict(0) is None
    x, labels = sample(2, 4000, d=2)
    classifier = AdaptiveClassifier(2)
    classifier.learn(x, labels)
    assert classifier.n_held_out == 512
    assert classifier.n_samples == 4000
    assert classifier._moments.counts.sum() == 4000 - 512


def test_count_correct_tries_every_recoding_without_trying_any():
    rng = np.random.default_rng(3)
    for n_classes in (1, 2, 7):
        scores = rng.uniform(0.01, 1.0, size=(200, n_classes))
        own = rng.integers(n_classes, size=200)
        log_ratio = np.log(rng.uniform(1.0, 100.0, n_classes))
        log_ratio[-1] = log_ratio[0]
        expected = [((scores * np.exp(a * log_ratio)).argmax(axis=1) == own).sum() for a in RECODINGS]
        np.testing.assert_array_equal(count_correct(scores, own, log_ratio), expected)


def test_an_example_with_no_score_above_zero_for_its_class_counts_as_wrong():
    scores = np.array([[-1.0, -2.0], [-0.5, 0.1], [0.1, -0.5]])
    np.testing.assert_array_equal(count_correct(scores, np.zeros(3, int), np.zeros(2)), np.ones(len(RECODINGS)))


def test_choice_of_the_thesis_and_ours():
    right = np.zeros((2, len(RECODINGS)))
    right[0] = 80
    right[1] = 90 - np.arange(len(RECODINGS))  # one more is lost with each step of alpha
    errors = np.zeros(2)
    assert choose("published", right, errors, 100) == (1, 0)  # any loss is too much
    assert choose("standard_error", right, errors, 100) == (1, 3)  # p = 0.9: a standard error of 3
    right[0, 10] = 90
    assert choose("published", right, errors, 100) == (0, 10)  # the best regularization of each alpha
    assert choose("standard_error", right, errors, 100) == (1, 3)  # the best one without recoding
    right[1] = right[0]
    for rule in RULES:
        assert choose(rule, right, np.array([2.0, 1.0]), 100)[0] == 1  # equal: the smaller errors
    right[:, 0], right[:, 1:] = 100, 99
    for rule in RULES:
        assert choose(rule, right, errors, 100)[1] == 0  # no error at all has no standard error


def late_class(rule, seed):
    """Accuracy on all and on a late class with few examples."""
    x, labels = sample(6, 1500, seed, spread=1.6)
    unseen, names = sample(6, 1200, seed + 1, spread=1.6)
    classifier = AdaptiveClassifier(D, rule=rule)
    late = [label == "c5" for label in labels]
    learn_all(classifier, x[~np.array(late)], [label for label in labels if label != "c5"])
    learn_all(classifier, x[late][:5], ["c5"] * 5)
    right = np.array([a == b for a, b in zip(classifier.predict(unseen), names, strict=True)])
    return right.mean(), right[np.array(names) == "c5"].mean(), classifier


def test_our_choice_is_better_on_a_late_class_and_no_worse_on_all():
    published, ours = (
        np.mean([late_class(rule, seed)[:2] for seed in range(5)], axis=0) for rule in ("published", "standard_error")
    )
    assert ours[1] > published[1] + 0.05
    assert ours[0] >= published[0]


def test_the_choice_is_the_one_that_the_definition_gives():
    _, _, classifier = late_class("standard_error", 0)
    rows, own = classifier._held_out.examples()
    counts = classifier._moments.counts
    exact = []
    for value in classifier.regularizations:
        covariance = classifier._covariance.with_regularization(value)
        exact.append(rows @ covariance.solve(classifier._moments.sums)[0].T)
    j = classifier.regularizations.index(classifier.regularization)
    right = np.array([((exact[j] * (counts.sum() / counts) ** a).argmax(axis=1) == own).sum() for a in RECODINGS])
    floor = right[0] / len(own) - np.sqrt(right[0] / len(own) * (1 - right[0] / len(own)) / len(own))
    assert classifier.recoding == RECODINGS[np.flatnonzero(right / len(own) >= floor)[-1]]
    best = max((scores.argmax(axis=1) == own).mean() for scores in exact)
    assert right[0] / len(own) > best - 0.03  # no regularization is much better


def test_without_well_known_classes_the_settings_hold():
    x, labels = sample(3, 30)
    classifier = learn_all(AdaptiveClassifier(D, (0.5, 5.0, 50.0), recoding=0.3), x, labels)
    assert (classifier.regularization, classifier.recoding) == (5.0, 0.3)


def test_forgetting_drops_the_class_and_what_is_held_out_of_it():
    x, labels = sample(4, 240)
    classifier = learn_all(AdaptiveClassifier(D), x, labels)
    held = classifier.n_held_out
    classifier.forget("c1")
    assert classifier.classes == ["c0", "c2", "c3"]
    assert classifier.n_held_out == held * 3 // 4
    assert "c1" not in classifier.predict(x)
    with pytest.raises(ParameterError):
        classifier.forget("c1")
    learn_all(classifier, x[1::4], labels[1::4])
    assert classifier.counts["c1"] == 60
    accuracy = np.mean([a == b for a, b in zip(classifier.predict(x), labels, strict=True)])
    assert accuracy > 0.9
    for name in classifier.classes:
        classifier.forget(name)
    assert classifier.scores(x[0]).shape == (0,)
    assert classifier.n_held_out == 0
    classifier.learn(x[0], "again")
    assert classifier.predict(x[0]) == "again"


def test_merging_pools_what_is_learned_and_what_is_held_out():
    x, labels = sample(4, 240)
    first = learn_all(AdaptiveClassifier(D, (1.0,), recoding=0.5), x[:120], labels[:120])
    second = learn_all(AdaptiveClassifier(D, (0.1, 10.0)), x[120:], labels[120:])
    second.rename("c3", "c4")
    before = second.state()
    held = first.n_held_out + second.n_held_out
    first.merge(second)
    assert same(before, second.state())
    assert first.n_held_out == held
    assert first.counts == {"c0": 60, "c1": 60, "c2": 60, "c3": 30, "c4": 30}
    plain = IncrementalClassifier(D, 1.0, first.recoding)
    for part in (slice(0, 120), slice(120, 240)):
        seen = {}
        for row, label in zip(x[part], labels[part], strict=True):
            seen[label] = seen.get(label, 0) + 1
            if seen[label] % 6:
                plain.learn(row, "c4" if part.start and label == "c3" else label)
    np.testing.assert_allclose(first.scores(x), plain.scores(x), rtol=1e-8, atol=1e-8)
    for other in (IncrementalClassifier(D), AdaptiveClassifier(D + 1), None):
        with pytest.raises(ParameterError):
            first.merge(other)


@pytest.mark.parametrize("n", [0, 1, 40, 400])
def test_a_restored_classifier_goes_on_bit_for_bit(n, tmp_path):
    x, labels = sample(5, n + 100, spread=2.5)
    classifier = learn_all(AdaptiveClassifier(D, feature_map=RandomFourierFeatures(D, 40, 5.0)), x[:n], labels[:n])
    np.savez(tmp_path / "state.npz", **classifier.state())
    with np.load(tmp_path / "state.npz", allow_pickle=False) as file:
        restored = AdaptiveClassifier.from_state(dict(file))
    assert same(classifier.state(), restored.state())
    for one in (classifier, restored):
        learn_all(one, x[n:], labels[n:])
    assert same(classifier.state(), restored.state())
    np.testing.assert_array_equal(classifier.scores(x), restored.scores(x))


def test_damaged_states_are_refused():
    x, labels = sample(3, 60)
    state = learn_all(AdaptiveClassifier(D), x, labels).state()
    AdaptiveClassifier.from_state(state)
    for key in state:
        for spoiled in ({k: v for k, v in state.items() if k != key}, {**state, key: np.full((2, 2, 2), np.nan)}):
            with pytest.raises(StateError):
                AdaptiveClassifier.from_state(spoiled)
    for key, value in {"place_in_force": 100, "held_out.own": np.full(9, 3), "recoding_in_force": 2.0}.items():
        with pytest.raises(StateError):
            AdaptiveClassifier.from_state({**state, key: np.asarray(value)})


@pytest.mark.parametrize(
    "arguments",
    [
        {"regularizations": ()},
        {"regularizations": (1.0, 1.0)},
        {"regularizations": (1.0, 0.1)},
        {"regularizations": (0.0, 1.0)},
        {"regularizations": (np.nan,)},
        {"regularizations": "many"},
        {"hold_out": 1},
        {"well_known": 0},
        {"rule": "best"},
        {"recoding": 2.0},
        {"n_features": 0},
    ],
)
def test_bad_settings_are_refused(arguments):
    with pytest.raises(IcubLearningError):
        AdaptiveClassifier(**{"n_features": D, **arguments})


def test_bad_input_teaches_nothing():
    x, labels = sample(3, 60)
    classifier = learn_all(AdaptiveClassifier(D), x, labels)
    before = classifier.state()
    spoiled = x[:8].copy()
    spoiled[-1, 3] = np.nan
    for rows, label in ((spoiled, "a"), (x[:3], ["a", "b"]), (x[:3], ["a", "", "b"]), (x[0, :-1], "a"), (x[0], "")):
        with pytest.raises(IcubLearningError):
            classifier.learn(rows, label)
    assert same(before, classifier.state())


def test_a_regularization_that_drowns_in_rounding_is_left_alone():
    x, labels = sample(3, 400, spread=3.0)
    classifier = AdaptiveClassifier(D, (1e-30, 1e-25, 1e-20, 1.0))
    learn_all(classifier, 1e4 * x, labels)
    assert np.isfinite(classifier.scores(x)).all()
