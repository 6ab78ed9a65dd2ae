"""The fixed-cost core against the batch solution: rank-1, rank-k, forgetting, bad input, saved states."""

import numpy as np
import pytest
from helpers.batch_solution import batch_solution, relative_error
from helpers.unchanged import unchanged
from helpers.versions import every_version
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.errors import NotFiniteError, ParameterError, ShapeError, StateError
from icub_learning.recursive import RecursiveLeastSquares, _cholesky

SEEDS = st.integers(0, 2**32 - 1)

version = every_version(_cholesky)


@st.composite
def problems(draw, forgetting=False):
    """Draw a learner, inputs, targets, and the indices of samples in each chunk."""
    rng = np.random.default_rng(draw(SEEDS))
    d, n_outputs, n = draw(st.integers(1, 40)), draw(st.integers(1, 5)), draw(st.integers(1, 60))
    size = rng.uniform(0.5, 2.0, d) if draw(st.booleans()) else 1.0
    regularization = size * draw(st.sampled_from([1e-3, 1.0, 30.0]))
    initial = rng.normal(size=(d, n_outputs)) if draw(st.booleans()) else None
    factor = draw(st.sampled_from([0.3, 0.9, 0.99, 0.9999])) if forgetting else 1.0
    learner = RecursiveLeastSquares(d, n_outputs, regularization, factor, initial)
    chunks = np.split(np.arange(n), sorted(draw(st.lists(st.integers(0, n), max_size=6))))  # some are empty
    return learner, rng.normal(size=(n, d)), rng.normal(size=(n, n_outputs)), chunks


@settings(deadline=None)
@given(problems())
def test_any_split_into_chunks_equals_the_batch_solution(problem):
    learner, z, y, chunks = problem
    fresh = learner.state()
    for chunk in chunks:
        learner.update(z[chunk], y[chunk])
    factor, weights = batch_solution(z, y, learner.regularization, initial_weights=fresh["weights"])
    assert relative_error(learner.factor, factor) < 1e-12 and relative_error(learner.weights, weights) < 1e-9
    np.testing.assert_array_equal(learner.prior, learner.regularization)
    assert learner.n_samples == len(z)


def ill_conditioned(d, n, n_outputs, condition, seed=0):
    """Return samples and a regularization for which A = Z^T Z + lambda I has the given 2-norm condition number."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(d, d)))[0]
    z = rng.normal(size=(n, d)) * np.logspace(0, -np.log10(condition) / 2, d) @ directions.T
    return z, z @ rng.normal(size=(d, n_outputs)) + rng.normal(size=(n, n_outputs)), 1e-3 * n / condition


@pytest.mark.parametrize(
    ("d", "n"), [(40, 10_000), *(pytest.param(d, 100_000, marks=pytest.mark.slow) for d in (40, 60))],
    ids=["ten thousand", "a hundred thousand", "of 60 features"],
)  # fmt: skip
@pytest.mark.parametrize("rank", [1, 6])
def test_no_drift_in_many_samples_at_condition_1e8(version, rank, d, n):
    z, y, regularization = ill_conditioned(d, n, 3, 1e8)
    factor, weights = batch_solution(z, y, regularization)
    singular = np.linalg.svd(factor.astype(float), compute_uv=False)
    assert (singular[0] / singular[-1]) ** 2 == pytest.approx(1e8, rel=0.5)
    learner = RecursiveLeastSquares(d, 3, regularization)
    for start in range(0, len(z), rank):
        learner.update(z[start : start + rank], y[start : start + rank])
    error = relative_error(learner.weights, weights)
    print(f"d = {d}, {n} samples, {rank} at a time, condition 1e8: relative error {error:.1e}")
    assert error < 1e-9


def test_stays_near_float64_batch_accuracy_where_the_samples_themselves_have_condition_1e8():
    # A then has condition 1e16: normal equations in float64 lose all digits, orthogonal rotations do not.
    d, n = 30, 10_000
    z, y, regularization = ill_conditioned(d, n, 2, 1e16)
    _, weights = batch_solution(z, y, regularization)
    learner = RecursiveLeastSquares(d, 2, regularization)
    learner.update(z, y)
    rows = np.concatenate([z, np.sqrt(regularization) * np.eye(d)])
    lapack = np.linalg.lstsq(rows, np.concatenate([y, np.zeros((d, 2))]), rcond=None)[0]
    normal = np.linalg.solve(rows.T @ rows, z.T @ y)
    errors = [relative_error(solution, weights) for solution in (learner.weights, lapack, normal)]
    print("condition of Z 1e8: recursive {:.1e}, LAPACK least squares {:.1e}, normal equations {:.1e}".format(*errors))
    assert errors[0] < 1e-5 and errors[0] < 1000 * errors[1]


@pytest.mark.parametrize("rank", [1, 6, 8])
@pytest.mark.parametrize(("regularization", "magnitude"), [(1e-12, 1e6), (1e-12, 1e-6), (1e6, 1e-6), (1e-50, 1.0)])
def test_rows_of_very_different_magnitude_than_the_prior_are_rotated_in_stably(rank, regularization, magnitude):
    rng, d = np.random.default_rng(rank), 20
    z = magnitude * rng.normal(size=(5 * rank, d))
    y, learner = rng.normal(size=(len(z), 2)), RecursiveLeastSquares(d, 2, regularization)
    for start in range(0, len(z), rank):
        learner.update(z[start : start + rank], y[start : start + rank])
        # Backward stability: R belongs to rows that differ from the given ones by rounding, column by column.
        seen = np.concatenate([np.sqrt(regularization) * np.eye(d), z[: start + rank]]).astype(np.longdouble)
        exact, found = seen.T @ seen, learner.factor.astype(np.longdouble)
        length = np.sqrt(np.diag(exact))
        assert np.abs((found.T @ found - exact) / np.outer(length, length)).max() < 1e-13
    if len(z) >= d:
        assert relative_error(learner.weights, batch_solution(z, y, regularization)[1]) < 1e-9


@settings(deadline=None)
@given(problems(forgetting=True))
def test_prediction_and_leverage(problem):
    learner, z, y, _ = problem
    learner.update(z, y)
    predictions, leverages = learner.predict(z), learner.leverage(z)
    assert predictions.shape == y.shape and leverages.shape == (len(z),)
    np.testing.assert_allclose(predictions, z @ learner.weights, rtol=0, atol=1e-11 * (1 + np.abs(predictions).max()))
    factor = learner.factor
    np.testing.assert_allclose(leverages, np.einsum("ij,ji->i", z, np.linalg.solve(factor.T @ factor, z.T)), rtol=1e-8)
    for i in range(len(z)):
        single = learner.predict(z[i])
        assert single.shape == (learner.n_outputs,)
        np.testing.assert_allclose(single, predictions[i], rtol=0, atol=1e-11 * (1 + np.abs(predictions).max()))
        assert isinstance(learner.leverage(z[i]), float)
        assert learner.leverage(z[i]) == pytest.approx(leverages[i], rel=1e-12)


@settings(deadline=None)
@given(problems(forgetting=True), st.booleans())
def test_forgetting_equals_the_weighted_batch_solution_with_the_prior_in_force(problem, same_instant):
    learner, z, y, chunks = problem
    fresh = learner.state()
    for chunk in chunks:
        learner.update(z[chunk], y[chunk], same_instant=same_instant)
    sizes = [len(chunk) for chunk in chunks if len(chunk)] if same_instant else np.ones(len(z), int)
    faded = np.longdouble(learner.forgetting) ** np.repeat(np.arange(len(sizes))[::-1], sizes)
    factor, weights = batch_solution(z, y, learner.prior, faded, fresh["weights"])
    assert relative_error(learner.factor, factor) < 1e-12 and relative_error(learner.weights, weights) < 1e-8
    assert (learner.prior >= 0.5 * learner.regularization * (1 - 1e-12)).all()
    assert (learner.prior <= learner.regularization).all()


def test_silent_inputs_lose_nothing_in_a_hundred_thousand_forgetful_updates():
    rng = np.random.default_rng(0)
    d, forgetting, regularization = 8, 0.99, 1e-2
    start = rng.normal(size=(d, 1))
    learner, z = RecursiveLeastSquares(d, 1, regularization, forgetting, start), rng.normal(size=(100_000, d))
    z[:, ::2] = 0.0
    y = z @ np.arange(d)[:, None] + 0.01 * rng.normal(size=(len(z), 1))
    for row, target in zip(z, y, strict=True):
        learner.update(row, target)
    assert np.diag(learner.factor).min() >= np.sqrt(0.5 * regularization) * (1 - 1e-9)
    np.testing.assert_allclose(learner.weights[::2], start[::2], rtol=1e-9)
    factor, weights = batch_solution(z[-4000:], y[-4000:], learner.prior, forgetting ** np.arange(4000)[::-1], start)
    assert relative_error(learner.factor, factor) < 1e-12 and relative_error(learner.weights, weights) < 1e-9
    z = rng.normal(size=(200, d))
    learner.update(z, z @ np.arange(d)[:, None])
    np.testing.assert_allclose(learner.weights[:, 0], np.arange(d), atol=0.05)


NAN_ROW, INF_ROW, HUGE_ROW = [1.0, np.nan, 0.0], [1.0, 0.0, -np.inf], [1e200, 0.0, 0.0]


@pytest.mark.parametrize(
    ("method", "forgetting"), [("update", 1.0), ("update", 0.9), ("absorb", 1.0), ("absorb", 0.9), ("withdraw", 1.0)]
)
@pytest.mark.parametrize(("z", "y", "error", "said"), [
    (NAN_ROW, [0.0, 0.0], NotFiniteError, r"z\[1\] = nan"), (INF_ROW, [0.0, 0.0], NotFiniteError, r"z\[2\] = -inf"),
    (HUGE_ROW, [0.0, 0.0], ParameterError, "z is 1e\\+200"), ([1.0, 0.0, 0.0], 0.0, ShapeError, r"y has shape \(\)"),
    ([[0.0] * 3, NAN_ROW], np.zeros((2, 2)), NotFiniteError, r"z\[4\] = nan"),
    ([1.0, 0.0, 0.0], [0.0, np.nan], NotFiniteError, r"y\[1\] = nan"),
    ([1.0, 0.0, 0.0], [1e200, 0.0], ParameterError, "y is 1e\\+200"),
    ([1.0, 0.0], [0.0, 0.0], ShapeError, r"z has shape \(2,\)"), (1.0, [0.0, 0.0], ShapeError, r"z has shape \(\)"),
    ([1.0, 0.0, 0.0], [0.0], ShapeError, r"y has shape \(1,\)"), (None, [0.0, 0.0], NotFiniteError, r"z\[0\] = nan"),
    (np.zeros((2, 3)), np.zeros((3, 2)), ShapeError, r"y has shape \(3, 2\)"),
    (np.zeros((1, 1, 3)), np.zeros((1, 2)), ShapeError, r"z has shape \(1, 1, 3\)"),
    (["a", "b", "c"], [0.0, 0.0], ShapeError, "not of str"),
    ([[1.0, 0.0, 0.0], [1.0]], np.zeros((2, 2)), ShapeError, "z has shape"),
    (np.zeros(3, complex), [0.0, 0.0], ShapeError, "z has shape .*numbers, not of complex"),
])  # fmt: skip
def test_bad_samples_are_refused_by_name_and_change_nothing(method, forgetting, z, y, error, said):
    rng, learner = np.random.default_rng(0), RecursiveLeastSquares(3, 2, 0.1, forgetting)
    learner.update(rng.normal(size=(9, 3)), rng.normal(size=(9, 2)))
    with unchanged(learner), pytest.raises(error, match=said) as caught:
        getattr(learner, method)(z, y)
    assert caught.value.name in ("z", "y")


@pytest.mark.parametrize("method", ["predict", "leverage"])
@pytest.mark.parametrize(
    ("z", "error"), [(NAN_ROW, NotFiniteError), (INF_ROW, NotFiniteError), ([1.0], ShapeError), (0.0, ShapeError)]
)
def test_bad_inputs_of_predictions_are_refused(method, z, error):
    with pytest.raises(error, match="z"):
        getattr(RecursiveLeastSquares(3, 1), method)(z)


def test_the_largest_allowed_magnitudes_do_not_overflow():
    for regularization in (1e-50, 1e50):
        learner = RecursiveLeastSquares(4, 1, regularization)
        for k in range(1, 9):
            learner.update(np.full((k, 4), 1e100), np.full((k, 1), 1e100))
            learner.update(np.full((k, 4), 1e-100), np.full((k, 1), 1e-100))
        assert np.isfinite(learner.factor).all() and np.isfinite(learner.weights).all()
        assert np.diag(learner.factor).min() > 0


def cases(table):
    return [(name, value) for name, values in table.items() for value in values]


BAD_SETTINGS = {
    "n_features": [0, 2.0], "n_outputs": [-1, True],
    "regularization": [0.0, -1.0, np.nan, np.inf, 1e-60, 1e60, [1.0, 1.0], [1.0, 1.0, 0.0], [[1.0, 1.0, 1.0]]],
    "forgetting": [0.0, -0.5, 1.0000001, np.nan, "much"], "initial_weights": [np.zeros((2, 3)), [[np.nan]] * 3],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), cases(BAD_SETTINGS))
def test_bad_settings_are_refused_by_name(name, value):
    with pytest.raises((ParameterError, ShapeError, NotFiniteError)) as caught:
        RecursiveLeastSquares(**{"n_features": 3, "n_outputs": 1, name: value})
    assert caught.value.name == name or name in str(caught.value)


BAD_ENTRIES = {  # bad values of each entry of a state
    "version": [99], "unit_factor": [[[1.0, 0.0], [1.0, 1.0]], 2.0 * np.eye(2), np.eye(3)],
    "pivots": [[1.0, 0.0], [1.0, -1.0]], "forgetting": [1.5], "prior": [[1.0, -1.0], np.ones(3), [1.0, 1.5]],
    "n_samples": [-1], "next_refill": [-1], "initial_weights": [np.zeros((2, 2))],
}  # fmt: skip


@pytest.mark.parametrize(("entry", "value"), cases(BAD_ENTRIES))
def test_a_state_that_describes_no_learner_is_refused(entry, value):
    with pytest.raises(StateError, match=entry):
        RecursiveLeastSquares.from_state({**RecursiveLeastSquares(2, 1).state(), entry: np.asarray(value)})
