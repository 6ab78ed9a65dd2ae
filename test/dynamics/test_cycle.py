"""The compiled steps between a joint state and its prediction, beside NumPy."""

import numpy as np
import pytest
from helpers.versions import every_version
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.dynamics import _cycle

version = every_version(_cycle, autouse=True)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([0, 4]))
@settings(deadline=None, max_examples=60)
def test_pick_takes_what_indices_name(count, joints, seed, shift):
    random = np.random.default_rng(seed)
    values = random.normal(size=count)
    indices = random.integers(0, count, joints)
    memory = bytes(shift) + values.tobytes()
    out = np.empty(joints)
    assert _cycle.pick(out, np.frombuffer(memory, np.float64, count, shift), indices, 100.0)  # aligned or not
    np.testing.assert_array_equal(out, values[indices])
    assert _cycle.pick(out, memoryview(memory)[shift:].cast("d"), indices, 100.0)
    np.testing.assert_array_equal(out, values[indices])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 10.1, -10.1])
def test_pick_tells_what_is_no_number_of_a_joint(bad):
    values = np.array([1.0, bad, 10.0, -10.0])
    out = np.empty(2)
    assert not _cycle.pick(out, values, np.array([0, 1]), 10.0)
    np.testing.assert_array_equal(out, [1.0, bad])
    assert _cycle.pick(out, values, np.array([2, 3]), 10.0)


@pytest.mark.parametrize(
    ("out", "values", "indices", "error"),
    [
        (np.empty(2), np.zeros(3), np.array([0, 3]), IndexError),
        (np.empty(2), np.zeros(3), np.array([-1, 0]), IndexError),
        (np.empty(1), np.zeros(3), np.array([0, 1]), ValueError),
        (np.empty(2), np.zeros(3, np.float32), np.array([0, 1]), ValueError),
        (np.empty(2), np.zeros(3), np.array([0, 1], np.int32), ValueError),
        (np.empty(2, np.float32), np.zeros(3), np.array([0, 1]), ValueError),
    ],
)
def test_pick_refuses_what_does_not_fit(out, values, indices, error):
    with pytest.raises(error):
        _cycle.pick(out, values, indices, 1.0)


@given(st.integers(0, 20), st.integers(1, 70), st.integers(0, 20), st.integers(0, 9), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_linear_is_a_product(rows, columns, padding, start, seed):
    random = np.random.default_rng(seed)
    matrix, vector = random.normal(size=(rows, columns + padding))[:, :columns], random.normal(size=columns)
    out = np.full(start + rows + 1, 7.0)
    _cycle.linear(out, start, matrix, vector)
    np.testing.assert_allclose(out[start : start + rows], matrix @ vector, rtol=0.0, atol=1e-13 * columns)
    assert (out[:start] == 7.0).all()
    assert out[-1] == 7.0


@pytest.mark.parametrize(
    ("out", "start", "matrix", "vector"),
    [
        (np.empty(2), 0, np.zeros((3, 4)), np.zeros(4)),
        (np.empty(3), 1, np.zeros((3, 4)), np.zeros(4)),
        (np.empty(3), -1, np.zeros((3, 4)), np.zeros(4)),
        (np.empty(3), 0, np.zeros((3, 4)), np.zeros(3)),
        (np.empty(3), 0, np.zeros((3, 4)), np.zeros(5)),
        (np.empty(3), 0, np.zeros((4, 3)).T, np.zeros(4)),
        (np.empty(3), 0, np.zeros(3), np.zeros(3)),
        (np.empty(3), 0, np.zeros((3, 4), np.float32), np.zeros(4)),
    ],
)
def test_linear_refuses_what_does_not_fit(out, start, matrix, vector):
    with pytest.raises(ValueError):
        _cycle.linear(out, start, matrix, vector)


@given(st.integers(1, 9), st.integers(1, 7), st.booleans(), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_a_window_is_kept_and_read(window, joints, moving, seed):
    """After any number of samples, the newest ones lie side by side, oldest first."""
    random = np.random.default_rng(seed)
    total = int(random.integers(1, 3 * window + 1))
    kept, samples = [], np.zeros((2 * window, 2, joints))
    for index in range(total):
        position, velocity = random.normal(size=(2, joints))
        _cycle.push(samples, index % window, window, joints, position, velocity if moving else None, 0.5)
        kept = [*kept, (position, 0.5 * velocity if moving else np.zeros(joints))][-window:]
    count, first = len(kept), ((total - 1) % window) + 1 + window - len(kept)
    np.testing.assert_array_equal(samples[first : first + count], np.array(kept))
    reader = random.normal(size=(3, 2 * count if moving else count))
    values = np.array(kept).reshape(-1, joints) if moving else np.array(kept)[:, 0]
    out = np.empty((3, joints))
    _cycle.read(out, reader, samples, first, count, joints, moving)
    np.testing.assert_allclose(out, reader @ values, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("place", [-1, 3])
def test_no_sample_is_written_outside_the_window(place):
    with pytest.raises(ValueError):
        _cycle.push(np.zeros((6, 2, 2)), place, 3, 2, np.zeros(2), None, 1.0)
    with pytest.raises(ValueError):
        _cycle.push(np.zeros((6, 2, 2)), 0, 3, 2, np.zeros(1), None, 1.0)
    with pytest.raises(ValueError):
        _cycle.push(np.zeros((6, 2, 2)), 0, 3, 2, np.zeros(2), np.zeros(1), 1.0)
    with pytest.raises(ValueError):
        _cycle.push(np.zeros((5, 2, 2)), 0, 3, 2, np.zeros(2), None, 1.0)
    with pytest.raises(ValueError):
        _cycle.read(np.zeros((3, 2)), np.zeros((3, 3)), np.zeros((6, 2, 2)), 4, 3, 2, False)


def test_plain_vectors():
    good = np.arange(3.0)
    assert _cycle.plain((good, good.copy()), 3)
    assert _cycle.plain((), 3)
    for bad in (np.zeros(2), np.zeros((3, 1)), np.zeros(3, np.float32), np.array([0.0, np.nan, 0.0]),
                np.array([np.inf, 0.0, 0.0]), [0.0, 0.0, 0.0], np.zeros(6)[::2], None):  # fmt: skip
        assert not _cycle.plain((good, bad), 3)
