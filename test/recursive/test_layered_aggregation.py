"""Aggregation in two layers: weights and bound from the definition alone, and the purpose of the second layer."""

import numpy as np
import pytest
from helpers.misleading_errors import CASES, capped, followed, within_bound
from helpers.spoiled_arguments import assert_refused
from helpers.unchanged import unchanged
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.errors import ParameterError, ShapeError, StateError
from icub_learning.recursive import _aggregation, layered_aggregation
from icub_learning.recursive.layered_aggregation import ConvexAggregation, LayeredAggregation

HALF_LIVES, SECOND = (20.0, 150.0), 80.0  # half-lives [samples], one sample a second
DELAY = 7  # samples from the weights of an answer to its measurement


def learn(learner, errors):
    """Learn errors (T, k, N), each combination judged as it stood DELAY samples ago; return those choices (T, ...)."""
    past, judged = [learner.choices] * (DELAY + 1), []
    for row in errors:
        choices = past[-1 - DELAY][:, :, 0]
        judged.append(choices)
        learner.update(row[:, :, None], (row @ choices.T)[:, :, None], 1.0)
        past.append(learner.choices)
    return np.array(judged)


@pytest.mark.parametrize("name", CASES)
def test_layers_are_what_the_class_says_and_the_second_keeps_its_bound(name):
    errors = CASES[name]
    learner = LayeredAggregation(errors.shape[2], 1, HALF_LIVES, SECOND, direct=(0, 2))
    errors = capped(errors, learn(learner, errors))
    memories = [followed(errors, 0.5 ** (1.0 / half_life))[1] for half_life in HALF_LIVES]
    rivals, fade = [], 0.5 ** (1.0 / SECOND)
    for t, row in enumerate(errors):
        rivals.append(np.column_stack([*(row @ history[max(t - DELAY, 0)] for history in memories), row[:, [0, 2]]]))
    rows, history, rates = followed(np.array(rivals), fade)
    share = history[-1]
    expected = share[0] * memories[0][-1] + share[1] * memories[1][-1]
    expected[[0, 2]] += share[2:]
    np.testing.assert_allclose(learner.weights[:, 0], expected, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(learner.weights.sum(axis=0), 1.0)
    assert within_bound(rows, rates, fade)


def test_who_has_slept_wakes_up_with_little_weight():
    """The squared error of the second expert falls from 100 to 16 times that of the first."""
    learner, heaviest = LayeredAggregation(2, 1, (20.0,), 20.0), []
    for t, sign in enumerate(np.random.default_rng(0).choice([-1.0, 1.0], 3000)):
        errors = sign * np.array([0.1, 1.0 if t < 2500 else 0.4]).reshape(1, 2, 1)
        learner.update(errors, np.einsum("inm,knm->ikm", errors, learner.choices), 1.0)
        heaviest.append(learner.weights[1, 0])
    assert max(heaviest[500:2500]) == 0.0 < heaviest[-1] and max(heaviest[2500:]) < 0.05


def test_numbers_of_any_size_leave_finite_weights():
    learner = LayeredAggregation(3, 1, (0.7,), 0.7)
    for size in (0.0, 1e-300, 1e300, 1.0, 0.0, 1e80, 1e-160):
        errors = size * np.array([[[1.0], [2.0], [-1.0]]])
        learner.update(errors, np.einsum("inm,knm->ikm", errors, learner.choices), 1.0)
        assert np.isfinite(learner.weights).all()
        np.testing.assert_allclose(learner.weights.sum(axis=0), 1.0)


def loss_after_a_shock(shock):
    """Return the combination's loss after three samples with errors times `shock`, over that of the best expert."""
    rng = np.random.default_rng(3)
    errors = rng.normal(size=(700, 1, 3)) * [1.0, 2.0, 2.0]
    errors[400:403] = shock * rng.normal(size=(3, 1, 3)) * [1.0, 0.1, 2.0]  # the second expert errs least for once
    judged = learn(LayeredAggregation(3, 1, HALF_LIVES, SECOND, direct=(2,)), errors)
    return np.mean(np.einsum("tn,tn->t", judged[430:, 0], errors[430:, 0]) ** 2) / np.mean(errors[430:, 0, 0] ** 2)


@pytest.mark.parametrize("shock", [1.0, 100.0, 1e6])
def test_a_moment_in_which_all_err_greatly_decides_nothing_for_what_comes_after(shock, monkeypatch):
    assert loss_after_a_shock(shock) < 1.25
    if shock > 1.0:
        monkeypatch.setattr(layered_aggregation, "CAP", np.inf)
        assert loss_after_a_shock(shock) > 2.5


def test_a_restored_aggregation_goes_on_bit_for_bit_and_what_does_not_fit_is_refused():
    errors, learner = CASES["the best one changes"], LayeredAggregation(5, 1, HALF_LIVES, SECOND, direct=(4,))
    learn(learner, errors[:100])
    restored = LayeredAggregation(5, 1, HALF_LIVES, SECOND, direct=(4,)).restored(learner.state())
    for one in (learner, restored):
        learn(one, errors[100:200])
    np.testing.assert_array_equal(learner.choices, restored.choices)
    for sizes in ((4, 1, HALF_LIVES, SECOND, (3,)), (5, 2, HALF_LIVES, SECOND, (4,)), (5, 1, HALF_LIVES, SECOND, ())):
        with pytest.raises(StateError):
            LayeredAggregation(*sizes).restored(learner.state())
    with pytest.raises(StateError, match="usual"):
        learner.restored({**learner.state(), "usual": np.array([-1.0])})
    for n_errors, n_combined in ((4, 3), (6, 3), (5, 2), (5, 4)):
        with unchanged(learner), pytest.raises(ShapeError):
            learner.update(np.zeros((1, n_errors, 1)), np.zeros((1, n_combined, 1)), 1.0)
    for name, *arguments in (
        ("n_experts", 0, 1, HALF_LIVES, SECOND), ("n_outputs", 5, 0, HALF_LIVES, SECOND), ("half", 5, 1, (), SECOND),
        ("half_lives", 5, 1, (20.0, 0.0), SECOND), ("second_half_life", 5, 1, HALF_LIVES, 0.0),
        ("direct", 5, 1, HALF_LIVES, SECOND, (0, 5)), ("direct", 5, 1, HALF_LIVES, SECOND, (-1,)),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=f"^{name}"):
            LayeredAggregation(*arguments)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 6), st.integers(1, 3))
def test_each_output_is_learned_as_if_it_were_alone(seed, m, n, ages):
    rng = np.random.default_rng(seed)
    sizes, direct = (HALF_LIVES, SECOND), tuple(rng.permutation(n)[: rng.integers(0, 3)].tolist())
    learner = LayeredAggregation(n, m, *sizes, direct)
    apart = [LayeredAggregation(n, 1, *sizes, direct) for _ in range(m)]
    for elapsed in rng.uniform(0.0, 30.0, 40):
        errors = rng.normal(size=(ages, n, m)) * rng.uniform(0.1, 10.0, (n, m))
        combined = np.einsum("inm,knm->ikm", errors, learner.choices)
        learner.update(errors, combined, elapsed)
        for place, one in enumerate(apart):
            one.update(errors[:, :, [place]], combined[:, :, [place]], elapsed)
    np.testing.assert_array_equal(learner.choices, np.concatenate([one.choices for one in apart], axis=2))
    np.testing.assert_array_equal(learner.slowest, learner.choices[2])


def test_arrays_that_do_not_fit_are_refused_by_the_compiled_step():
    tables = ConvexAggregation(4, 4).tables, ConvexAggregation(3, 2).tables
    arguments = [np.zeros((3, 4, 2)), np.zeros(2), *tables, np.zeros((1, 4, 2)), np.zeros((1, 3, 2)), np.ones(3)]
    assert_refused(_aggregation.learn_layers, [*arguments, np.array([1]), 1.0, 30.0, 1.0])
    for direct in ((4,), (-1,), (1, 2)):
        with pytest.raises(ValueError, match="fit"):
            _aggregation.learn_layers(*arguments, np.array(direct), 1.0, 30.0, 1.0)
