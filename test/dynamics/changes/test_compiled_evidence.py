"""The compiled algebra of evidence against NumPy, on random numbers of all sizes, and its checks of arguments."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.dynamics.changes import _evidence

SIZES = st.integers(1, 9)
SEEDS = st.integers(0, 2**32 - 1)
KEPT = np.array([0.9, 0.99])


def definite(rng, n):
    factor = rng.standard_normal((n, n + 3))
    return factor @ factor.T


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(expected).max()))


def filter_of(rng, m):
    """Return gain (2 m, m) and root (m, m), with numbers below its diagonal that must not count."""
    root = np.linalg.cholesky(definite(rng, m)).T + np.tril(rng.standard_normal((m, m)), -1)
    return rng.standard_normal((2 * m, m)), root


def stepped(state, columns, gain, root):
    """Return what `step` says it writes."""
    m = len(columns)
    state = np.repeat(KEPT, m)[:, None] * state
    innovation = columns - state[:m] - state[m:]
    return state + gain @ innovation, np.linalg.solve(np.triu(root).T, innovation)


@settings(max_examples=50, deadline=None)
@given(SEEDS, SIZES)
def test_remember(seed, m):
    rng = np.random.default_rng(seed)
    near, far = 2, 5
    past, moments, error = rng.standard_normal((far + 1, m)), rng.standard_normal((4, m, m)), rng.standard_normal(m)
    mean = rng.standard_normal(m)
    new_past, new_mean = np.vstack([past[1:], error]), 0.9 * mean + 0.1 * error
    centred = new_past - new_mean
    products = [np.outer(centred[-1], centred[-1 - lag]) for lag in (0, near, far)] + [np.outer(new_mean, new_mean)]
    expected = moments + (np.array(products) - moments) / 7.0
    _evidence.remember(past, mean, moments, np.empty((2, m)), error, m, near, far, 0.1, 7.0)
    np.testing.assert_array_equal(past, new_past)
    close(mean, new_mean)
    close(moments, expected)


@settings(max_examples=50, deadline=None)
@given(SEEDS, SIZES)
def test_predict(seed, m):
    rng = np.random.default_rng(seed)
    covariance = definite(rng, 2 * m)
    fast, slow, noise = (definite(rng, m) for _ in range(3))
    kept, measured = np.diag(np.repeat(KEPT, m)), np.hstack([np.eye(m), np.eye(m)])
    prior = kept @ covariance @ kept
    prior[:m, :m] += (1.0 - KEPT[0] ** 2) * fast
    prior[m:, m:] += (1.0 - KEPT[1] ** 2) * slow
    added = rng.random((2, m))
    prior[m:, m:] += np.diag(added[0]) / 1.7
    innovations = measured @ prior @ measured.T + noise + np.diag(added[1]) / 1.7
    gain = prior @ measured.T @ np.linalg.inv(innovations)
    found, whole, root = np.empty((2 * m, m)), np.empty((m, m)), np.empty((m, m))
    _evidence.predict(covariance, found, whole, root, KEPT, fast, slow, noise, added, m, 1.7)
    close(found, gain)
    close(covariance, prior - gain @ measured @ prior)
    close(whole, 1.7 * innovations)
    close(np.triu(root).T @ np.triu(root), whole)


@settings(max_examples=50, deadline=None)
@given(SEEDS, SIZES, st.integers(1, 40))
def test_factor_and_step(seed, m, count):
    rng = np.random.default_rng(seed)
    matrix, variance, root = definite(rng, m), rng.random(m), np.empty((m, m))
    _evidence.factor(root, matrix, variance, m)
    close(np.triu(root), np.linalg.cholesky(matrix + np.diag(variance)).T)
    gain, root = filter_of(rng, m)
    state, columns, white = rng.standard_normal((2 * m, count)), rng.standard_normal((m, count)), np.empty((m, count))
    expected = stepped(state, columns, gain, root)
    _evidence.step(state, white, columns, KEPT, gain, root, m, count)
    close(state, expected[0])
    close(white, expected[1])


@settings(max_examples=50, deadline=None)
@given(SEEDS, SIZES, st.lists(st.integers(1, 20), min_size=1, max_size=8))
def test_add(seed, m, sizes):
    rng, count = np.random.default_rng(seed), sum(sizes)
    gain, root = filter_of(rng, m)
    columns, innovation = rng.standard_normal((m, count)), rng.random(m)
    states, vectors = rng.standard_normal((2, 2 * m, count)), rng.standard_normal((2, count))
    before = [[rng.standard_normal((n, n)) for n in sizes] for _ in states]
    information = [np.concatenate([one.ravel() for one in own]) for own in before]
    expected = [stepped(state, columns, gain, root) for state in states]
    sums = [vector + white.T @ innovation for vector, (_, white) in zip(vectors, expected, strict=True)]
    memories = tuple(zip(states, information, vectors, strict=True))
    _evidence.add(memories, columns, innovation, KEPT, gain, root, m, tuple(sizes))
    close(vectors, np.array(sums))
    for state, found, own, (new_state, white) in zip(states, information, before, expected, strict=True):
        close(state, new_state)
        first = place = 0
        for n, old in zip(sizes, own, strict=True):
            w = white[:, first : first + n]
            close(found[place : place + n * n].reshape(n, n), np.tril(old, -1) + np.triu(old + w.T @ w))
            first, place = first + n, place + n * n


@settings(max_examples=50, deadline=None)
@given(SEEDS, st.integers(1, 50), st.data())
def test_explain_and_spread(seed, n, data):
    count = data.draw(st.integers(1, n))
    rng = np.random.default_rng(seed)
    information, deviations, vector = definite(rng, n), rng.uniform(0.01, 2.0, n), rng.standard_normal(n)
    precision = np.eye(n) + information * np.outer(deviations, deviations)
    covariance = np.linalg.inv(precision) * np.outer(deviations, deviations)
    root, mean = np.empty((n, n)), np.empty(n)
    upper = np.triu(information) + np.tril(rng.standard_normal((n, n)), -1)
    ratio = _evidence.explain(root, mean, upper, vector, deviations, n)
    close(ratio, 0.5 * vector @ covariance @ vector - 0.5 * np.linalg.slogdet(precision)[1])
    close(mean, covariance @ vector)
    found = np.empty((count, count))
    _evidence.spread(found, np.empty((n, count)), root, deviations, n, count)
    close(found, covariance[:count, :count])


def test_information_that_is_indefinite_by_rounding_is_explained():
    """Sums of squares of 1e10 leave errors of 1e4 where there is nothing: no pivot may fall below that of no data."""
    x = np.random.default_rng(0).standard_normal(10) * 1e10
    information = np.outer(x, x) - 1e3 * np.eye(10)
    root, mean = np.empty((10, 10)), np.empty(10)
    ratio = _evidence.explain(root, mean, information, x, np.ones(10), 10)
    assert np.isfinite(ratio) and (np.diag(root) >= 1.0).all()
    assert mean @ x == pytest.approx(1.0, rel=1e-6)  # as without rounding: x'x / (1 + x'x)


def test_what_is_not_positive_definite_is_refused():
    with pytest.raises(ValueError, match="matrix is not positive definite"):
        _evidence.factor(np.empty((2, 2)), np.diag([1.0, -2.0]), np.ones(2), 2)
    arrays = np.eye(2), np.empty((2, 1)), np.empty(1), np.empty(1), KEPT, np.ones(1), np.ones(1)
    with pytest.raises(ValueError, match="innovations is not positive definite"):
        _evidence.predict(*arrays, np.array([-9.0]), np.zeros(2), 1, 1.0)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="D A D is not positive definite"):
            _evidence.explain(np.empty(1), np.empty(1), np.array([bad]), np.ones(1), np.ones(1), 1)


CALLS = {  # arguments before the arrays (evidence for `add`), numbers that each array needs, and arguments after them
    "remember": ((), [18, 3, 36, 6, 3], (3, 2, 5, 0.1, 2.0)),
    "predict": ((), [36, 18, 9, 9, 2, 9, 9, 9, 6], (3, 1.0)),
    "factor": ((), [9, 9, 3], (3,)),
    "step": ((), [24, 12, 12, 2, 18, 9], (3, 4)),
    "add": (((),), [12, 3, 2, 18, 9], (3, (1, 3))),
    "explain": ((), [16, 4, 16, 4, 4], (4,)),
    "spread": ((), [4, 8, 16, 4], (4, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_arrays_that_are_too_short_or_not_float64_are_refused(name):
    first, needed, rest = CALLS[name]
    for place, size in enumerate(needed):
        arrays = [np.ones(other) for other in needed]
        arrays[place] = np.ones(size - 1)
        with pytest.raises(ValueError, match=f"holds {size - 1} numbers, needs {size}|do not fit"):
            getattr(_evidence, name)(*first, *arrays, *rest)
        arrays[place] = np.ones(size, dtype=np.float32)
        with pytest.raises(ValueError, match="expected float64"):
            getattr(_evidence, name)(*first, *arrays, *rest)


def test_evidence_that_does_not_fit_is_refused():
    arrays, good = [np.ones(size) for size in CALLS["add"][1]], [np.ones(size) for size in (24, 10, 4)]
    for place in range(3):
        bad = good.copy()
        bad[place] = np.ones(3)
        with pytest.raises(ValueError, match="do not fit"):
            _evidence.add((tuple(good), tuple(bad)), *arrays, 3, (1, 3))
        bad[place] = good[place].astype(np.float32)
        for wrong in (bad, good[:2]):
            with pytest.raises((ValueError, TypeError), match=r"float64|takes 3"):
                _evidence.add((tuple(wrong),), *arrays, 3, (1, 3))


IMPOSSIBLE = {  # numbers after the arrays
    "remember": [(0, 2, 5, 0.1, 2.0), (3, 6, 5, 0.1, 2.0)],
    "predict": [(2**15, 1.0)],
    "factor": [(-1,)],
    "step": [(3, 0), (2**40, 2**40)],
    "add": [(3, ()), (3, (1, 0)), (3, (2**14, 2**14))],
    "explain": [(0,)],
    "spread": [(4, 5)],
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_sizes_that_are_impossible_are_refused(name):
    first, needed, _ = CALLS[name]
    arrays = [np.ones(100) for _ in needed]
    for rest in IMPOSSIBLE[name]:
        with pytest.raises(ValueError, match=r"sizes are|more than|must be 0 to|needs"):
            getattr(_evidence, name)(*first, *arrays, *rest)


def test_sizes_that_are_no_integers_are_refused():
    with pytest.raises(TypeError):
        _evidence.add((), *[np.ones(100)] * 5, 3, (1, "2"))
    with pytest.raises(TypeError):
        _evidence.add((), *[np.ones(100)] * 5, 3, [1, 2])
