"""How experts are weighed: the proven bound on sequences that mislead, the best expert of late, and the variance."""

from dataclasses import fields

import numpy as np
import pytest
from helpers.misleading_errors import CASES, capped, followed, within_bound

from icub_learning.dynamics.joint.experts import HALF_LIVES, SECOND_HALF_LIFE, ExpertPredictions, ExpertWeights
from icub_learning.errors import StateError
from icub_learning.testing import assert_same

PERIOD = 0.01  # s


def predictions(values, unlearned=0.0, expected=None):
    """Experts' predictions (N, m); the first one is that of rigid bodies."""
    expected, unlearned = values[0] if expected is None else expected, np.full(values.shape[1], unlearned)
    told = {"values": values, "parametric": values[0], "expected": expected, "unlearned": unlearned}
    return ExpertPredictions(**{field.name: told.get(field.name) for field in fields(ExpertPredictions)})


def judged(weights, errors):
    """Follow errors (T, N, m) of experts about measurements; return the errors of their combinations (T, m)."""
    found = []
    for k, row in enumerate(errors):
        measured = np.full(row.shape[1], 7.0 * np.sin(0.1 * k))
        experts = predictions(row + measured)
        found.append(weights.combined(experts).total - measured)
        weights.judge(experts, measured, PERIOD)
    return np.array(found)


@pytest.mark.parametrize("name", CASES)
def test_errors_keep_the_proven_bound_against_rigid_bodies_and_each_memory(name):
    """Weights, losses and bound from the definition of the aggregation alone, with plain loops."""
    errors = CASES[name][:, 0]  # (T, N)
    weights, choices = ExpertWeights([str(k) for k in range(errors.shape[1])], 1, (0,)), []
    published = []
    for row in errors:
        choices.append([weights.value[:, 0]])
        published.append(weights.combined(predictions(row[:, None])).total[0])
        weights.judge(predictions(row[:, None]), np.zeros(1), PERIOD)
    counted = capped(errors[:, None], choices, PERIOD)
    memories = [followed(counted, 0.5 ** (PERIOD / half_life))[1] for half_life in HALF_LIVES]
    rivals = np.array([[[row[0] @ history[t] for history in memories] + [row[0, 0]]] for t, row in enumerate(counted)])
    fade = 0.5 ** (PERIOD / SECOND_HALF_LIFE)
    rows, history, rates = followed(rivals, fade)
    scale = np.array([counted[t, 0, 0] / errors[t, 0] if errors[t, 0] else 1.0 for t in range(len(errors))])
    np.testing.assert_allclose((scale * published) ** 2, [row[0] for row in rows], rtol=1e-3, atol=1e-9)
    assert within_bound(rows, rates, fade)
    expected = sum(share * memory[-1] for share, memory in zip(history[-1], memories, strict=False))
    expected[0] += history[-1][-1]
    np.testing.assert_allclose(weights.value[:, 0], expected, rtol=1e-4, atol=1e-7)


def test_the_best_expert_is_found_and_when_it_changes_followed_within_tenths_of_a_second():
    rng = np.random.default_rng(1)
    shared, own = rng.normal(size=(3000, 1, 1)), rng.normal(size=(3000, 4, 1))
    scale = np.ones((3000, 4, 1))
    scale[:1500, 1], scale[1500:, 3] = 0.1, 0.1  # who is right
    errors = judged(ExpertWeights(list("Pabc"), 1, (0,)), scale * (0.8 * shared + 0.6 * own))[:, 0]
    best = 0.1**2
    assert np.mean(errors[300:1500] ** 2) < 1.5 * best
    assert np.mean(errors[1500:1530] ** 2) > 10 * best  # nobody can know at once
    assert np.mean(errors[1530:1600] ** 2) < 4.0 * best
    assert np.mean(errors[1800:] ** 2) < 1.5 * best


def test_outputs_choose_apart_and_weights_are_shares():
    rng = np.random.default_rng(2)
    weights = ExpertWeights(list("Pab"), 2, (0,))
    np.testing.assert_allclose(weights.value.sum(axis=0), 1.0)
    judged(weights, rng.normal(size=(500, 3, 2)) * [[1.0, 0.05], [1.0, 1.0], [0.05, 1.0]])
    assert weights.value[2, 0] > 0.9
    assert weights.value[0, 1] > 0.9
    np.testing.assert_allclose(weights.value.sum(axis=0), 1.0)
    assert (weights.value >= 0.0).all()


def test_two_deviations_hold_95_percent_in_known_and_in_new_motions():
    """Errors are noise of a heavy tail, and what was not learned: of a share of the motions, that is known."""
    rng, n, noise, unknown = np.random.default_rng(3), 12_000, 0.3, 4.0
    weights, inside = ExpertWeights(list("Pa"), 1, (0,)), []
    novelties = np.where(rng.random(n) < 0.3, rng.uniform(0.05, 1.0, n), 0.0)
    errors = noise * rng.standard_t(4, n) + unknown * np.sqrt(novelties) * rng.normal(size=n)
    for novelty, error in zip(novelties, errors, strict=True):
        experts = predictions(np.full((2, 1), error), unknown**2 * novelty)
        variance = weights.combined(experts).variance[0]
        inside.append(error**2 <= 4.0 * variance)
        weights.judge(experts, np.zeros(1), PERIOD)
    inside = np.array(inside[1500:])
    new = novelties[1500:] > 0.0
    assert 0.94 <= inside.mean() <= 0.96
    assert 0.92 <= inside[~new].mean() <= 0.98
    assert 0.90 <= inside[new].mean() <= 0.98


def test_the_variance_is_that_of_noise_and_of_what_the_model_of_all_does_not_know():
    """The combination may be away from what that model expects: then its error is larger by this."""
    weights, nothing = ExpertWeights(list("Pa"), 1, (0,)), np.zeros((2, 1))
    assert np.isinf(weights.combined(predictions(nothing)).variance).all()
    judged(weights, np.repeat(np.random.default_rng(4).normal(size=(600, 1, 1)), 2, axis=1))  # of variance 1
    known, half, full, away = (
        weights.combined(predictions(nothing, unlearned, np.array([expected]))).variance[0]
        for unlearned, expected in ((0.0, 0.0), (4.5, 0.0), (9.0, 0.0), (5.0, 2.0))
    )
    assert full - known == pytest.approx(2.0 * (half - known))
    assert (full - known) / known == pytest.approx(9.0, rel=0.2)
    assert away == pytest.approx(full)


def test_goes_on_to_the_bit_after_saving_and_refuses_what_does_not_fit():
    rng = np.random.default_rng(5)
    errors = rng.normal(size=(200, 3, 2))
    one, other = (ExpertWeights(list("Pab"), 2, (0,)) for _ in range(2))
    judged(one, errors[:100])
    other.restore(one.state())
    np.testing.assert_array_equal(judged(one, errors[100:]), judged(other, errors[100:]))
    assert_same(other.state(), one.state(), "the one that was not saved")
    for stranger in (ExpertWeights(list("Pa"), 2, (0,)), ExpertWeights(list("Pab"), 2), ExpertWeights(list("Pab"), 1)):
        before = stranger.state()
        with pytest.raises(StateError):
            stranger.restore(one.state())
        assert_same(stranger.state(), before, "what was known before")


def test_pooling_keeps_ones_own_choice_and_takes_a_variance_only_where_there_is_none():
    rng = np.random.default_rng(6)
    known, other, fresh = (ExpertWeights(list("Pa"), 1, (0,)) for _ in range(3))
    judged(known, rng.normal(size=(200, 2, 1)))
    judged(other, 9.0 * rng.normal(size=(200, 2, 1)) * [[1.0], [0.1]])
    choice, probe = known.value, predictions(np.zeros((2, 1)))
    expected = known.combined(probe).variance
    known.merge(other)
    fresh.merge(other)
    np.testing.assert_array_equal(known.value, choice)
    np.testing.assert_array_equal(known.combined(probe).variance, expected)
    np.testing.assert_array_equal(fresh.combined(probe).variance, other.combined(probe).variance)
    np.testing.assert_array_equal(fresh.value, ExpertWeights(list("Pa"), 1, (0,)).value)
