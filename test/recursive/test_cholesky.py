"""Every version of the compiled update against plain linear algebra, at every rank and around every block boundary."""

from math import inf

import numpy as np
import pytest
from helpers.batch_solution import batch_solution, relative_error
from helpers.versions import every_version

from icub_learning.recursive import _cholesky
from icub_learning.recursive.storage import aligned_zeros, pack, padded_size, unpack

SIZES = [*range(1, 20), 31, 32, 33, 63, 64, 65, 71, 72, 127, 128, 129, 130]
version = every_version(_cholesky)


def padded(values):
    """Return rows of weights as they are stored."""
    out = aligned_zeros(len(values), padded_size(values.shape[1]))
    out[:, : values.shape[1]] = values
    return out


def factored(rng, d):
    """Return a well conditioned unit triangle and pivots, as numbers and as they are stored."""
    unit, pivots = np.eye(d) + np.triu(rng.normal(size=(d, d)), 1) / np.sqrt(d), rng.uniform(0.25, 4.0, d)
    square = np.eye(padded_size(d))
    square[:d, :d] = unit - np.eye(d) + np.diag(pivots)
    return unit, pivots, pack(square)


def unpacked(triangle, d):
    """Return R (d, d), after a check that the padding around it has not changed."""
    square = unpack(triangle, padded_size(d))
    assert not np.tril(square, -1).any()
    np.testing.assert_array_equal(square[d:, d:], np.eye(len(square) - d))
    assert not square[:d, d:].any()
    pivots = np.diag(square)[:d].copy()
    np.fill_diagonal(square, 1.0)
    return np.sqrt(pivots)[:, None] * square[:d, :d]


def workspace(d, n_outputs):
    return aligned_zeros(_cholesky.MAX_RANK * (2 * padded_size(d) + n_outputs))


def test_packing_keeps_the_triangle_and_starts_on_a_cache_line():
    for size in (8, 16, 24, 72):
        square = np.triu(np.random.default_rng(size).normal(size=(size, size)))
        packed = pack(square)
        assert packed.shape == (size * (size + _cholesky.BLOCK) // 2,) and packed.ctypes.data % 64 == 0
        np.testing.assert_array_equal(unpack(packed, size), square)


@pytest.mark.parametrize("forgetting, magnitude", [(1.0, 1e-8), (1.0, 1e8), (0.8, 1.0), (0.8, 1e8)])
@pytest.mark.parametrize("rank", [*range(1, _cholesky.MAX_RANK + 1), 19])
def test_update_equals_the_batch_solution(version, rank, forgetting, magnitude):
    rng = np.random.default_rng(rank)
    for d in SIZES:
        n_outputs = 1 + d % 5
        unit, pivots, triangle = factored(rng, d)
        weights = rng.normal(size=(d, n_outputs))
        z, y = magnitude * rng.normal(size=(rank, d)), magnitude * rng.normal(size=(rank, n_outputs))
        z[:, rng.random(d) < 0.5 * (d % 2)] = 0.0  # silent inputs
        # The factor's own rows stand for the past: they observe its weights without error.
        past = np.sqrt(pivots)[:, None] * unit
        rows, targets = np.concatenate([past, z]), np.concatenate([past @ weights, y])
        exact_factor, exact_weights = batch_solution(rows, targets, 0.0, np.repeat([forgetting, 1.0], [d, rank]))
        stored = padded(weights.T)
        sizes = stored.shape[1], d, n_outputs
        assert _cholesky.update(triangle, stored, workspace(d, n_outputs), None, z, y, *sizes, forgetting, inf) == rank
        assert relative_error(unpacked(triangle, d), exact_factor) < 1e-13
        assert relative_error(stored[:, :d].T, exact_weights) < 1e-11 * max(1.0, magnitude) and not stored[:, d:].any()


def test_update_looks_at_samples_and_says_so(version):
    bounded = good_update()
    bounded[-1] = 2.0
    assert _cholesky.update(*bounded) == 3
    for position, index in [(4, (2, 15)), (5, (0, 1))]:
        for bad in (np.nan, np.inf, -np.inf, -2.5):
            arguments = good_update()
            arguments[-1] = 2.0
            arguments[position][index] = bad
            untouched = [array.copy() for array in arguments[:6]]
            assert _cholesky.update(*arguments) is None
            np.testing.assert_equal(arguments[:6], untouched)
    arguments = good_update()
    arguments[5] = np.ones((2, 2))  # fewer rows than z
    assert _cholesky.update(*arguments) is None


@pytest.mark.parametrize("call", ["plain", "update", "predict", "leverage", "solve"])
def test_a_wrong_number_of_arguments_is_refused(call):
    with pytest.raises(TypeError, match=f"{call} takes"):
        getattr(_cholesky, call)(1)


@pytest.mark.parametrize("rank", [1, 2, 8, 11])
def test_predictions_and_leverages(version, rank):
    rng = np.random.default_rng(rank)
    for d in SIZES:
        unit, pivots, triangle = factored(rng, d)
        size, z, weights = padded_size(d), rng.normal(size=(rank, d)), rng.normal(size=(3, d))
        out = _cholesky.predict(padded(weights), z, size, d, 3)
        if rank > _cholesky.MAX_RANK:
            assert out is None
        else:
            assert out.shape == (rank, 3)
            np.testing.assert_allclose(out, z @ weights.T, rtol=0, atol=1e-13 * d)
            np.testing.assert_array_equal(_cholesky.predict(padded(weights), z[0], size, d, 3), out[0], strict=True)
        leverages, solved = _cholesky.leverage(triangle, z, size, d), np.linalg.solve(unit.T, z.T)
        np.testing.assert_allclose(leverages, (solved**2 / pivots[:, None]).sum(axis=0), rtol=1e-10)
        assert _cholesky.leverage(triangle, z[0], size, d) == leverages[0]


def test_buffers_need_no_alignment(version):
    rng, d = np.random.default_rng(1), 24
    _, _, triangle = factored(rng, d)
    z, results = rng.normal(size=(2, d)), []
    for shift in (0, 1):
        moved, weights, work = (aligned_zeros(count + shift)[shift:] for count in (len(triangle), d, 8 * (2 * d + 1)))
        moved[:] = triangle
        _cholesky.update(moved, weights, work, None, z, np.ones((2, 1)), d, d, 1, 1.0, inf)
        results.append((moved, weights))
    np.testing.assert_equal(*results)
    assert results[0][1].all()  # learned


def good_update():
    d, n_outputs = 16, 2
    return [pack(np.eye(d)), np.zeros((n_outputs, d)), workspace(d, n_outputs), np.zeros((3, n_outputs)),
            np.ones((3, d)), np.ones((3, n_outputs)), d, d, n_outputs, 1.0, inf]  # fmt: skip


CALLS = {  # good arguments, number of buffers, number of those that are written, positions of samples
    "update": (good_update, 6, 4, (4, 5)),
    "predict": (lambda: [np.ones((2, 16)), np.ones((3, 16)), 16, 16, 2], 2, 0, (1,)),
    "leverage": (lambda: [pack(np.eye(16)), np.ones((3, 16)), 16, 16], 2, 0, (1,)),
}
SPOILED = {
    "float32": lambda array: array.astype(np.float32), "int64": lambda array: array.astype(np.int64),
    "complex": lambda array: array.astype(complex), "big-endian": lambda array: array.astype(">f8"),
    "too short": lambda array: array[:-1], "not contiguous": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "list": np.ndarray.tolist, "read-only": lambda array: np.lib.stride_tricks.as_strided(array, writeable=False),
}  # fmt: skip


@pytest.mark.parametrize("spoil", SPOILED)
@pytest.mark.parametrize("call", CALLS)
def test_bad_buffers_are_refused_and_nothing_is_written(call, spoil):
    good, n_buffers, n_written, samples = CALLS[call]
    for position in range(n_buffers):
        arguments = good()
        originals = arguments[:n_buffers]
        untouched = [array.copy() for array in originals]
        arguments[position] = SPOILED[spoil](arguments[position])
        reads_fewer_rows = spoil == "too short" and (call, position) in {("predict", 1), ("leverage", 1)}
        if reads_fewer_rows or (spoil == "read-only" and position >= n_written):
            continue
        if position in samples:  # None: the caller checks samples itself
            assert getattr(_cholesky, call)(*arguments) is None
        else:
            with pytest.raises((ValueError, TypeError, BufferError)):
                getattr(_cholesky, call)(*arguments)
        np.testing.assert_equal(originals, untouched)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("wrong", [0, -16, 15, 17, 24, 2**28 + 8, 2**60, 2**63 - 8])
def test_bad_sizes_are_refused(call, wrong):
    good, n_buffers, *_ = CALLS[call]
    for position in range(n_buffers, len(good()) - 2 * (call == "update")):
        arguments = good()
        arguments[position] = wrong
        if position == n_buffers + 1 and wrong == 15:
            continue  # 15 features do fill 16 columns
        with pytest.raises(ValueError):
            getattr(_cholesky, call)(*arguments)


@pytest.mark.parametrize(("values", "plain"), [
    (np.zeros(3), True), (np.zeros((5, 3)), True), (np.zeros((0, 3)), True), (np.full(3, -7.0), True),
    (np.array([0.0, 7.1, 0.0]), False), (np.array([0.0, -np.inf, 0.0]), False), (np.array([np.nan, 0.0, 0.0]), False),
    (np.zeros(2), False), (np.zeros((3, 2)), False), (np.zeros((1, 1, 3)), False), (np.zeros(()), False),
    (np.zeros((3, 3)).T[:, ::-1], False), (np.zeros(3, ">f8"), False), (np.zeros(3, np.float32), False),
    (np.zeros(3, np.int64), False), (np.zeros(3, complex), False), (np.zeros(3, object), False),
    ([0.0, 0.0, 0.0], False), (None, False),
], ids=str)  # fmt: skip
def test_plain_knows_what_may_be_passed_on(version, values, plain):
    assert _cholesky.plain(values, 3, 7.0) is plain


def test_plain_finds_a_bad_number_anywhere(version):
    for position in range(40):
        values = np.zeros(40)
        values[position] = np.nan
        assert not _cholesky.plain(values, 40, 1.0)
