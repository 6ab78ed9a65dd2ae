"""Overlaps, offsets and suppression against brute force."""

import numpy as np
import pytest

from icub_learning.detection.boxes import check_box, moved, offsets, overlaps, suppress
from icub_learning.errors import NotFiniteError, ParameterError, ShapeError

RNG = np.random.default_rng(0)


def boxes(n, rng=RNG):
    corner, size = rng.integers(0, 40, (n, 2)), rng.integers(2, 25, (n, 2))
    return np.concatenate([corner, corner + size], axis=1).astype(float)


def mask(box):
    grid, (x1, y1, x2, y2) = np.zeros((70, 70), dtype=bool), box.astype(int)
    grid[y1:y2, x1:x2] = True
    return grid


def test_overlaps_are_shares_of_pixels():
    a, b = boxes(8), boxes(5)
    expected = [[(mask(p) & mask(q)).sum() / (mask(p) | mask(q)).sum() for q in b] for p in a]
    np.testing.assert_allclose(overlaps(a, b), expected)
    assert overlaps(np.zeros((1, 4)), b).tolist() == [[0.0] * 5]  # a box without an area


def test_moved_undoes_offsets():
    a, b = boxes(20), boxes(20)
    near = np.abs(np.log((b[:, 2:] - b[:, :2]) / (a[:, 2:] - a[:, :2]))).max(axis=1) < 1.0
    assert near.sum() > 3
    np.testing.assert_allclose(moved(a, offsets(a, b), 100, 100)[near], b[near], atol=1e-9)
    assert (moved(a, 5.0 * np.ones((20, 4)), 30, 20) <= [30, 20, 30, 20]).all()
    (far,) = moved(np.array([[20.0, 20.0, 30.0, 40.0]]), np.array([[0.1, -0.2, 2.0, -2.0]]), 100, 100)
    np.testing.assert_allclose(far, [26 - 5 * np.e, 26 - 10 / np.e, 26 + 5 * np.e, 26 + 10 / np.e])  # at most by e


@pytest.mark.parametrize("threshold", [0.1, 0.5])
def test_suppress_keeps_the_best_of_each_group(threshold):
    found, scores = boxes(60), RNG.normal(size=60)
    kept, expected = suppress(found, scores, threshold, 100), []
    for index in np.argsort(-scores):
        if all(overlaps(found[[index]], found[[other]])[0, 0] <= threshold for other in expected):
            expected.append(index)
    assert kept.tolist() == expected and suppress(found, scores, threshold, 3).tolist() == expected[:3]
    halves, equal = np.array([[0, 0, 1, 1.0], [0, 0, 2, 1], [0, 0, 2, 2]]), np.ones(3)  # each half of the next
    assert [suppress(halves, equal, most, 9).tolist() for most in (0.5, 0.49, 0.2)] == [[0, 1, 2], [0, 2], [0]]


def test_boxes_are_checked():
    np.testing.assert_array_equal(check_box([-5, 2, 30, 90], 40, 50), [0, 2, 30, 50])
    assert check_box([38, 48, 41, 50], 40, 50).tolist() == [38, 48, 40, 50]  # 2 px of each side are enough
    small = r"x1 < x2, y1 < y2, at least 2 px of each side within 40 x 50"
    for bad, error, said in (
        ([1, 2, 3], ShapeError, "x1 y1 x2 y2"), ([1, 2, np.nan, 4], NotFiniteError, "box"),
        *((box, ParameterError, small) for box in ([9, 2, 3, 8], [45, 2, 60, 8], [38.1, 2, 60, 8], [2, 48.1, 9, 60])),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            check_box(bad, 40, 50)
