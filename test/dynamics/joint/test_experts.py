"""How experts are weighted: the proven bound on misleading sequences, the recently best expert, and the variance."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.misleading_errors import CASES, capped, followed, within_bound

from icub_learning.dynamics.joint.experts import HALF_LIVES, ExpertPredictions, ExpertWeights, Unlearned
from icub_learning.dynamics.joint.experts import SECOND_HALF_LIFE as SECOND

PERIOD = 0.01  # s


def predictions(values, unlearned=0.0, expected=None, unexpected=None, noise=0.0):
    """Return experts' predictions (N, m) and their unlearned variances; the first expert is rigid bodies."""
    unlearned = np.array(np.broadcast_to(unlearned, values.shape), dtype=float, order="C")
    found = Unlearned(0.0, unlearned, unlearned[0] if unexpected is None else unexpected, np.full(1, noise))
    expected = values[0] if expected is None else expected
    return ExpertPredictions(values, values[0], expected, np.zeros(0), None, lambda: found)


def judged(weights, errors):
    """Judge experts by predictions with errors (T, N, m); return the errors of their combinations (T, m)."""
    found = []
    for k, row in enumerate(errors):
        measured = np.full(row.shape[1], 7.0 * np.sin(0.1 * k))
        experts = predictions(row + measured)
        found.append(weights.combined(experts).total - measured)
        weights.judge(experts, measured, PERIOD)
    return np.array(found)


def noise_of(weights):
    """Return the variance (m,) of errors in known motions."""
    state = weights.state()
    return state["noise.mean_square"] * state["noise.factor"]


def shares(weights, confidence):
    """Return weights (N,) times confidences (N,), normalized to a sum of 1."""
    return weights * confidence / (weights @ confidence)


def aggregated(errors, confidences, published, period, late=0):
    """Compute both layers of the aggregation of errors (T, N) from their definition alone, with plain loops.
    Confidences (T, N) have any scale; `published` are the weights (T, N) in use; errors are a `period` [s] apart, and
    `late` samples later than their predictions. Returns the capped errors (T, N); the weights (T + 1, N) of each
    memory; losses, shares, regrets and rates of the second layer; its weights (T + 1, n_rivals); its last rates."""
    counted = capped(errors[:, None], published[:, None], period)[:, 0]
    memories = [followed(counted[:, None], 0.5 ** (period / half_life))[1] for half_life in HALF_LIVES]
    of_samples = ((max(t - late, 0), row, confidences[t]) for t, row in enumerate(counted))
    rivals = [[*(shares(one[t], sure) @ row for one in memories), row[0]] for t, row, sure in of_samples]
    return counted, memories, *followed(np.array(rivals)[:, None], 0.5 ** (period / SECOND))


def mixed(memories, of_memories):
    """Return the experts' weights (N,) in the published combination, after the last error."""
    mixture = sum(share * memory[-1] for share, memory in zip(of_memories[-1], memories, strict=False))
    mixture[0] += of_memories[-1][-1]
    return mixture


@pytest.mark.parametrize(("period", "counted", "late"), [(0.005, 0.005, 0), (0.01, 0.01, 9), (0.1, 0.01, 0)])
def test_memories_are_judged_as_their_experts_are_weighed_with_confidence(period, counted, late):
    """The second layer's bound is against the memories; unlearned variances of experts exceed the noise at times. Late
    measurements judge the weights of their predictions. Below 100 Hz half-lives are numbers of samples, not times."""
    errors, rng, waiting = CASES["the best one changes"][: 400 + late, 0], np.random.default_rng(7), []
    weights, choices, confidences = ExpertWeights([str(k) for k in range(errors.shape[1])], 1, (0,)), [], []
    for row, unknown in zip(errors, rng.choice([0.0, 1.0, 30.0], errors.shape), strict=True):
        waiting.append(replace(predictions(row[:, None], unknown[:, None]), choices=weights.aggregation.choices))
        total, used = weights.combined(waiting[-1]).total[0], weights.value[:, 0]
        noise = min(noise_of(weights)[0], 1e300)  # infinite before the first error
        assert total == pytest.approx(shares(used, noise / (noise + unknown)) @ row, rel=1e-9)
        if len(waiting) > late:
            experts = waiting.pop(0)
            confidences.append(noise / (noise + experts.unlearned.of_experts[:, 0]))
            choices.append(shares(experts.choices[0, :, 0], confidences[-1]))
            weights.judge(experts, np.zeros(1), period)
    known, sure, used = errors[: len(errors) - late], np.array(confidences), np.array(choices)
    _, memories, rows, of_memories, rates = aggregated(known, sure, used, counted, late)
    assert within_bound(rows, rates, 0.5 ** (counted / SECOND))
    np.testing.assert_allclose(weights.value[:, 0], mixed(memories, of_memories), rtol=1e-4, atol=1e-7)
    all_sure = np.ones(known.shape)
    for wrong, elapsed, age in ((all_sure, counted, late), (sure, 2.0 * counted, late), (sure, counted, 20)):
        _, memories, _, of_memories, _ = aggregated(known, wrong, used, elapsed, age)
        assert np.abs(weights.value[:, 0] - mixed(memories, of_memories)).max() > 0.01


UNLEARNED = np.array([[0.0, 3.0], [0.5, 0.0], [2.0, 9.0], [40.0, 0.1]])  # unlearned variances: 4 experts, 2 outputs


def test_experts_of_equal_weight_are_combined_by_the_inverse_variances_of_what_they_predict():
    """The best linear unbiased estimate from answers whose errors are independent: noise, and what was not learned."""
    rng = np.random.default_rng(8)
    weights, values = ExpertWeights(list("abcd"), 2), rng.normal(size=(4, 2))
    before = weights.combined(predictions(values, UNLEARNED)).total
    np.testing.assert_allclose(before, values.mean(axis=0), rtol=1e-12)  # the noise is not known yet
    judged(weights, np.repeat(rng.normal(size=(600, 1, 2)) * [0.3, 2.0], 4, axis=1))  # all experts err alike
    variances, made = noise_of(weights) + UNLEARNED, weights.combined(predictions(values, UNLEARNED))
    expected = [np.average(values[:, t], weights=1.0 / variances[:, t]) for t in range(2)]
    np.testing.assert_allclose(made.total, expected, rtol=1e-9)
    assert np.abs(made.total - values.mean(axis=0)).min() > 0.05
    sure = weights.combined(predictions(values, [[1e12], [0.0], [1e12], [1e12]])).total
    np.testing.assert_allclose(sure, values[1], rtol=1e-9)
    np.testing.assert_allclose(weights.combined(predictions(values, 1e12)).total, values.mean(axis=0), rtol=1e-9)


def test_a_push_moves_neither_steady_weights_nor_those_that_are_held():
    """Steady weights are those of the longest half-life alone, over the experts that forget nothing by themselves."""
    errors, lasting = CASES["the best one changes"][:, 0], [0, 1, 3]
    weights, choices = ExpertWeights(list("Pabcd"), 1, (0,), lasting), []
    for row in errors:
        choices.append(weights.value[:, 0])
        weights.judge(predictions(row[:, None]), np.zeros(1), PERIOD)
    memory = aggregated(errors, np.ones(errors.shape), np.array(choices), PERIOD)[1][np.argmax(HALF_LIVES)]
    expected = np.zeros(5)
    expected[lasting] = memory[-1][lasting] / memory[-1][lasting].sum()
    np.testing.assert_allclose(weights.steady[:, 0], expected, rtol=1e-4, atol=1e-7)
    assert np.abs(weights.value[:, 0] - expected).max() > 0.01
    values, unlearned = np.array([[1.0], [2.0], [-3.0], [4.0], [5.0]]), np.array([[2.0], [0.3], [0.0], [4.0], [1.0]])
    experts, noise = predictions(values, unlearned, np.array([1.7]), np.array([0.4])), noise_of(weights)[0]
    made, used = weights.undisturbed(experts), shares(weights.steady[:, 0], noise / (noise + unlearned[:, 0]))
    assert made.total[0] == pytest.approx(used @ values[:, 0], rel=1e-9)
    assert (made.variance[0] - noise) / weights.state()["noise.factor"][0] == pytest.approx(0.4)
    assert weights.combined(experts).total[0] != pytest.approx(made.total[0], rel=1e-3)
    weights.hold()
    assert weights.combined(experts).total[0] == made.total[0]
    weights.judge(predictions(errors[-1][:, None]), np.zeros(1), PERIOD)
    assert np.abs(weights.value - weights.steady).max() > 0.01  # errors are judged again


def test_who_was_right_is_forgotten_while_nothing_is_measured():
    """After 0.2 s the weights of the last errors fade by half in each second, to experts as often as named."""
    weights = ExpertWeights(list("Pabcd"), 1, (0,), [0, 1, 2], [0, 2, 0])
    judged(weights, CASES["the best one changes"][:, 0, :, None])
    before, equal = weights.value.copy(), np.array([[2.0], [0.0], [1.0], [0.0], [0.0]]) / 3.0
    assert np.abs(before - equal).max() > 0.3
    for seconds, share in ((0.1, 1.0), (0.2, 1.0), (1.2, 0.5), (3.2, 0.125), (np.inf, 0.0)):
        expected = share * before + (1.0 - share) * equal
        np.testing.assert_allclose(weights.after(seconds), expected, rtol=1e-12)  # of a planned motion
        weights.nothing_measured(seconds)
        np.testing.assert_allclose(weights.value, expected, rtol=1e-12)
        assert (weights.combined(predictions(np.zeros((5, 1)), noise=9.0)).variance[0] == 9.0) == (seconds > 0.2)
    weights.hold()  # something pushes, so that there are measurements
    np.testing.assert_array_equal(weights.value, weights.steady)
    weights.nothing_measured(np.inf)
    weights.judge(predictions(np.zeros((5, 1))), np.zeros(1), 1e-9)
    np.testing.assert_allclose(weights.value, before, rtol=1e-3)  # errors are judged again


def test_the_best_expert_is_found_and_when_it_changes_followed_within_tenths_of_a_second():
    rng = np.random.default_rng(1)
    shared, own = rng.normal(size=(3000, 1, 1)), rng.normal(size=(3000, 4, 1))
    scale = np.ones((3000, 4, 1))
    scale[:1500, 1], scale[1500:, 3] = 0.1, 0.1  # the best expert: first number 1, then number 3
    errors, best = judged(ExpertWeights(list("Pabc"), 1, (0,)), scale * (0.8 * shared + 0.6 * own))[:, 0], 0.1**2
    assert np.mean(errors[300:1500] ** 2) < 1.5 * best
    assert np.mean(errors[1500:1530] ** 2) > 10 * best  # the change cannot be known at once
    assert np.mean(errors[1530:1600] ** 2) < 4.0 * best and np.mean(errors[1800:] ** 2) < 1.5 * best


def test_two_deviations_hold_95_percent_in_known_and_in_new_motions():
    """Errors are heavy-tailed noise and, in 30 % of the motions, an unlearned part of known variance."""
    rng, n, noise, unknown = np.random.default_rng(3), 12_000, 0.3, 4.0
    weights, inside = ExpertWeights(list("Pa"), 1, (0,)), []
    novelties = np.where(rng.random(n) < 0.3, rng.uniform(0.05, 1.0, n), 0.0)
    errors = noise * rng.standard_t(4, n) + unknown * np.sqrt(novelties) * rng.normal(size=n)
    for novelty, error in zip(novelties, errors, strict=True):
        experts = predictions(np.full((2, 1), error), unknown**2 * novelty)
        inside.append(error**2 <= 4.0 * weights.combined(experts).variance[0])
        weights.judge(experts, np.zeros(1), PERIOD)
    inside, new = np.array(inside[1500:]), novelties[1500:] > 0.0
    assert 0.94 <= inside.mean() <= 0.96 and 0.92 <= inside[~new].mean() <= 0.98 and 0.90 <= inside[new].mean() <= 0.98


def test_pooling_keeps_ones_own_choice_and_takes_a_variance_only_where_there_is_none():
    rng = np.random.default_rng(6)
    known, other, fresh = (ExpertWeights(list("Pa"), 1, (0,)) for _ in range(3))
    judged(known, rng.normal(size=(200, 2, 1)))
    judged(other, 9.0 * rng.normal(size=(200, 2, 1)) * [[1.0], [0.1]])
    choice, probe = known.value, predictions(np.zeros((2, 1)))
    expected = known.combined(probe).variance
    known.merge(other)
    fresh.merge(other)
    np.testing.assert_equal((known.value, known.combined(probe).variance), (choice, expected))
    np.testing.assert_array_equal(fresh.combined(probe).variance, other.combined(probe).variance)
    np.testing.assert_array_equal(fresh.value, ExpertWeights(list("Pa"), 1, (0,)).value)
