"""A bounded memory of views, and the parts in which they are held back."""

import numpy as np
import pytest

from icub_learning.errors import StateError
from icub_learning.recognition.classifiers.kept_views import KeptViews, unit
from icub_learning.recognition.classifiers.workspace import Workspace

D = 7


def filled(counts, n_features=D, seed=0):
    kept, rng = KeptViews(n_features), np.random.default_rng(seed)
    for index, count in enumerate(counts):
        for _ in range(count):
            kept.add(3.0 * rng.normal(size=n_features), index)
    return kept


def test_gram_is_that_of_the_rows_however_it_grew():
    kept = filled([4, 3])
    assert kept.gram.shape == (7, 7)
    kept.add(np.arange(D) + 1.0, 1)
    kept.forget(0)
    np.testing.assert_allclose(kept.gram, kept.rows @ kept.rows.T, atol=1e-14)
    assert kept.targets.tolist() == [0] * 4
    np.testing.assert_allclose(np.linalg.norm(kept.rows, axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(kept.examples[-1], np.arange(D) + 1.0, rtol=1e-6)


def test_the_largest_class_gives_up_its_oldest_view():
    kept = filled([30, 5], n_features=50_000)  # at most 32 views of so many features
    assert (len(kept), np.bincount(kept.targets).tolist()) == (32, [27, 5])
    newest = filled([30, 5], n_features=50_000).rows[-1]
    np.testing.assert_array_equal(kept.rows[-1], newest)
    np.testing.assert_allclose(kept.gram, kept.rows @ kept.rows.T, atol=1e-12)


def test_parts_are_halves_in_order_and_thirds_of_few_views():
    kept = KeptViews(D)
    order = [0] * 8 + [1] * 3 + [2] + [0] * 2 + [3] * 2
    for index in order:
        kept.add(np.ones(D), index)
    parts, targets = kept.parts(), kept.targets
    assert parts[targets == 0].tolist() == [0] * 5 + [1] * 5
    assert parts[targets == 1].tolist() == [0, 1, 2]
    assert parts[targets == 2].tolist() == [0]
    assert parts[targets == 3].tolist() == [0, 1]


def test_opposite_parts_are_two_sides_in_whatever_order_they_were_taught():
    rng, kept = np.random.default_rng(1), KeptViews(D)
    sides = {0: rng.permutation(np.repeat([0, 1], 6)), 1: np.array([1, 0])}
    for index, own in sides.items():
        for side in own:
            kept.add(np.eye(D)[3 * index] + np.eye(D)[3 * index + 1 + side] + 0.1 * rng.normal(size=D), index)
    kept.add(np.ones(D), 2)
    few = [-0.9, 0.8, 0.1, -1.0, 0.9]  # places along a line: thirds of one, two and two views
    for place in few:
        kept.add(np.eye(D)[6] + place * np.eye(D)[5], 3)
    parts, targets = kept.opposite_parts(Workspace(0)), kept.targets
    for index, own in sides.items():
        assert parts[targets == index].tolist() in (own.tolist(), (1 - own).tolist())
    assert parts[targets == 2].tolist() == [0]
    assert [set(np.flatnonzero(parts[targets == 3] == part)) for part in (0, 2)] in ([{0, 3}, {4}], [{1, 4}, {3}])
    assert np.bincount(kept.parts()).tolist() == np.bincount(parts).tolist()


def test_state():
    kept = filled([4, 3])
    other = KeptViews.from_state(kept.state(), D, 2)
    np.testing.assert_array_equal(other.gram, kept.gram)
    np.testing.assert_array_equal(other.examples, kept.examples)
    for key, value in (("own", np.full(7, 2)), ("rows", np.ones((7, 2))), ("lengths", -np.ones(7))):
        with pytest.raises(StateError):
            KeptViews.from_state({**kept.state(), key: value}, D, 2)


def test_unit_of_zero_and_of_huge_rows():
    np.testing.assert_allclose(unit(np.array([[0.0, 0.0], [3e300, 4e300]])), [[0.0, 0.0], [0.6, 0.8]])
