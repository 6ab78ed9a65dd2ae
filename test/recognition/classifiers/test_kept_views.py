"""A bounded memory of views, and the parts in which they are held back."""

import tracemalloc

import numpy as np
import pytest

from icub_learning.errors import StateError
from icub_learning.recognition.classifiers.kept_views import N_PARTS, KeptViews, n_paired, rounded, unit

D = 7


def filled(counts, n_features=D, seed=0):
    kept, rng = KeptViews(n_features), np.random.default_rng(seed)
    for index, count in enumerate(counts):
        for _ in range(count):
            kept.add(3.0 * rng.normal(size=n_features), index)
    return kept


def test_rows_are_unit_vectors_in_steps_whose_products_add_up_exactly():
    rng = np.random.default_rng(0)
    rows = np.array(list(map(rounded, x := 3.0 * rng.normal(size=(50, D)))))
    np.testing.assert_allclose(rows, x / np.linalg.norm(x, axis=1, keepdims=True), atol=2.0**-17)
    np.testing.assert_allclose(unit(np.array([[0.0, 0.0], [3e300, 4e300]])), [[0.0, 0.0], [0.6, 0.8]])
    sums = [sum((np.outer(row, row) for row in rows[rng.permutation(50)]), np.zeros((D, D))) for _ in range(3)]
    for other in (*sums, rows.T @ rows):
        np.testing.assert_array_equal(other, sums[0])
    kept = filled([4, 3])
    kept.forget(0)
    assert kept.targets.tolist() == [0] * 3
    kept.add(np.arange(D) + 1.0, 0)
    np.testing.assert_allclose(kept.examples[-1], np.arange(D) + 1.0, rtol=1e-4)
    kept.add(1e100 * (np.arange(D) < 2), 0)
    assert kept.examples.max() == 1e100  # rounding takes none beyond what is accepted


def test_the_largest_class_gives_up_views_and_what_stays_is_the_same_in_any_order():
    d = 50_000  # features; at most 32 such views are kept
    rng = np.random.default_rng(1)
    views = [(row, index) for index, n in enumerate((30, 5, 20)) for row in rng.normal(size=(n, d)).astype(np.float32)]
    found = []
    for seed in range(3):
        kept = KeptViews(d)
        for place in np.random.default_rng(seed).permutation(len(views)) if seed else range(len(views)):
            kept.add(views[place][0].astype(float), views[place][1])
        assert len(kept) == 32 and np.bincount(kept.targets)[1] == 5
        assert abs(int(np.bincount(kept.targets)[0]) - int(np.bincount(kept.targets)[2])) <= 1
        found.append({(index, row.tobytes()) for row, index in zip(kept.rows, kept.targets.tolist(), strict=True)})
    assert found[0] == found[1] == found[2]
    assert [KeptViews(d).capacity for d in (1, 1875, 1876, 45_454, 10**6)] == [800, 800, 799, 33, 32]


def test_what_is_kept_of_a_class_is_spread_over_what_was_taught_and_its_order_is_known():
    n, d = 4000, 8000  # views and features; at most 187 such views are kept
    kept, view = KeptViews(d), np.zeros(d)
    for angle in np.linspace(0.0, 1.0, n):
        view[:2] = np.cos(angle), np.sin(angle)
        kept.add(view, 0)
    seen, parts = np.arctan2(kept.rows[:, 1], kept.rows[:, 0]), kept.parts()
    assert len(seen) == kept.capacity == 187
    assert np.abs(np.quantile(seen, [0.25, 0.5, 0.75]) - [0.25, 0.5, 0.75]).max() < 0.1
    assert seen[parts == 0].max() < seen[parts == 1].min() < seen[parts == 1].max() < seen[parts == 2].min()
    np.testing.assert_array_equal(KeptViews.from_state(kept.state(), d, 1).parts(), parts)


def test_parts_are_thirds_in_the_order_of_learning_also_of_few_views_and_those_that_do_not_differ():
    kept = KeptViews(D)
    for index in [0] * 8 + [1] * 3 + [2] + [0] * 2 + [3] * 2:
        kept.add(np.ones(D), index)
    found = [kept.parts()[kept.targets == index].tolist() for index in range(4)]
    assert found == [[0] * 4 + [1] * 3 + [2] * 3, [0, 1, 2], [0], [0, 1]]
    assert kept.unlike_parts().tolist() == kept.parts().tolist()
    assert all(few.unlike_parts().tolist() == few.parts().tolist() for few in map(filled, ([3, 3, 3], [1, 1, 2], [])))


def test_random_parts_are_thirds_and_the_same_in_any_order():
    rng = np.random.default_rng(3)
    x, labels, found = rng.normal(size=(23, D)), np.repeat([0, 1, 2], [12, 8, 3]), []
    for order in (np.arange(23), rng.permutation(23)):
        kept = KeptViews(D)
        for place in order:
            kept.add(x[place], int(labels[place]))
        found.append(kept.random_parts()[np.argsort(order)])
    np.testing.assert_array_equal(found[0], found[1])
    assert [np.bincount(found[0][labels == k]).tolist() for k in range(3)] == [[4, 4, 4], [3, 3, 2], [1, 1, 1]]
    assert (np.diff(found[0][:12]) < 0).any()  # not in the order of learning


@pytest.mark.parametrize("twins, in_order, still", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 0, 3)])
def test_views_in_pairs_whose_order_does_not_show_them_are_held_back_by_opposite_thirds(twins, in_order, still):
    found = []
    for seed in range(10):
        rng, kept = np.random.default_rng(seed), KeptViews(D)
        for index in range(4):
            views = rng.normal(size=D) + rng.normal(size=(24, D))
            if twins:
                views = np.repeat(views[:12], 2, axis=0) + 0.05 * rng.normal(size=(24, D))
            for row in views if in_order else rng.permutation(views):
                kept.add(row, index)
        for row in np.repeat(views[rng.integers(24, size=still)], 20, axis=0):  # lessons of an object that lies still
            kept.add(row + 0.01 * rng.normal(size=D), index)
        different = kept.n_different(2 * np.bincount(kept.targets))  # of twice as many views as are kept
        assert np.median(different) == pytest.approx(12 if twins else 48, rel=0.15)
        opposite, paired = kept.opposite_parts(N_PARTS), twins and not in_order
        assert (opposite != kept.parts()).any()
        found.append(np.array_equal(kept.unlike_parts(), opposite if paired else kept.parts()))
    assert np.mean(found) >= 0.9  # two standard errors leave one in forty to chance


def test_pairs_are_counted_as_one_by_one():
    x, parts = np.random.default_rng(2).normal(size=(15, 3)), np.arange(15) // 5

    def nearest(place):
        return min([k for k in range(15) if parts[k] != parts[place]], key=lambda k: np.linalg.norm(x[k] - x[place]))

    assert 0 < n_paired(x @ x.T, parts) == sum(nearest(nearest(place)) == place for place in range(15)) < 15


def test_opposite_parts_are_two_sides_in_whatever_order_they_were_taught():
    rng, kept = np.random.default_rng(1), KeptViews(D)
    sides = {0: rng.permutation(np.repeat([0, 1], 6)), 1: np.array([1, 0])}
    for index, own in sides.items():
        for side in own:
            kept.add(np.eye(D)[3 * index] + np.eye(D)[3 * index + 1 + side] + 0.1 * rng.normal(size=D), index)
    kept.add(np.ones(D), 2)
    parts, targets = kept.opposite_parts(2), kept.targets
    for index, own in sides.items():
        assert parts[targets == index].tolist() in (own.tolist(), (1 - own).tolist())
    assert parts[targets == 2].tolist() == [0]


def test_states_that_do_not_fit_are_refused():
    state, lengths = filled([4, 3]).state(), np.ones(7)
    for name, *wrong in (
        ("own", np.full(7, 2), np.full(7, -1), np.full(7, 0.5), np.zeros(8)), ("rows", np.ones((7, 2)), np.ones(7)),
        ("rows", np.ones((801, D))), ("lengths", -lengths, np.ones(8), np.ones((7, 1))),
    ):  # fmt: skip
        for value in wrong:
            with pytest.raises(StateError, match=f"{name} (have|are|contain)"):
                KeptViews.from_state(state | {name: value}, D, 2)
    assert len(KeptViews.from_state(state | {"lengths": np.zeros(7)}, D, 2)) == 7


def test_all_memory_is_taken_with_the_first_view():
    view = np.arange(50_000.0)
    tracemalloc.start()
    try:
        kept, first = filled([1], n_features=len(view)), tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for index in (0, 1) * 30:
            kept.add(view + index, index)
        kept.forget(0)
        now, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert first > 32 * view.nbytes and now - first < view.nbytes  # memory of 33 views
    assert most - first < 10 * view.nbytes  # adding a view never copies all of them
