"""Memory that is taken once, and that a calibration makes do with."""

import tracemalloc

import numpy as np
import pytest

from icub_learning.recognition.classifiers.kept_views import MAX_VIEWS
from icub_learning.recognition.classifiers.kernel_classifier import KernelClassifier
from icub_learning.recognition.classifiers.workspace import CHUNK, Workspace, chunks, gathered

D = 20


def test_what_does_not_fit_is_an_array_of_its_own():
    workspace = Workspace(5)
    large = workspace.take(2, 3)
    small = workspace.take(1, 5)  # still all there
    assert large.shape == (2, 3)
    assert not np.shares_memory(large, small)


@pytest.mark.parametrize("n", [0, 1, CHUNK, 3 * CHUNK + 1])
def test_chunks_are_all_rows_in_order(n):
    assert [place for rows in chunks(n) for place in range(n)[rows]] == list(range(n))


def test_gathered_is_indexing_by_rows_and_columns():
    matrix, rows, columns = np.arange(30.0).reshape(5, 6), np.array([4, 0]), np.array([1, 5, 2])
    out = np.empty((2, 3))
    assert gathered(matrix, rows, columns, out) is out
    np.testing.assert_array_equal(out, matrix[np.ix_(rows, columns)])


def test_learning_and_calibrating_again_allocates_no_large_array():
    rng = np.random.default_rng(0)
    classifier = KernelClassifier(D)
    for k in range(3):
        classifier.learn(np.eye(D)[k] + 0.2 * rng.normal(size=(MAX_VIEWS // 3 + 1, D)), f"object {k}")
    x = np.eye(D)[0] + 0.2 * rng.normal(size=D)
    classifier.judge(x)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        classifier.learn(x, "object 0")
        classifier.judge(x)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert classifier.n_kept == MAX_VIEWS
    assert peak < 0.3 * 8 * MAX_VIEWS**2  # bytes of one matrix of inner products
