"""On-line aggregation: its bound holds whatever the sequence, computed here from the definition alone."""

import numpy as np
import pytest

from icub_learning.errors import ShapeError, StateError
from icub_learning.recursive.aggregation import ConvexAggregation

MEMORY = 100.0  # samples


def followed(errors, fade):
    """Losses, regrets and rates of every step, from the formulas in the class: plain loops over (T, k, N) errors."""
    steps, _, n = errors.shape
    scales, squares, exponents, weights = np.zeros(n), np.zeros(n), np.zeros(n), np.full(n, 1 / n)
    spread, rows, losses = np.log(n), [], np.zeros(n)
    for t in range(steps):
        combined = errors[t] @ weights
        regrets = np.mean([2 * c * (c - e) for c, e in zip(combined, errors[t], strict=True)], axis=0)
        regrets = np.where(losses <= 25 * losses.min(), regrets, 0.0)
        losses = fade * losses + np.mean(errors[t] ** 2, axis=0)
        share = min([1.0, *(m / abs(r) for m, r in zip(scales, regrets, strict=True) if abs(r) > 1e-150)])
        with np.errstate(divide="ignore"):
            before = np.minimum(0.5 / scales, np.sqrt(spread / squares))
        known = scales > 0
        rows.append((np.mean(combined**2), share, regrets, np.where(known, before, 0.0)))
        scales = np.maximum(fade**0.9 * scales, np.where(np.abs(regrets) > 1e-150, np.abs(regrets), 0))
        scales = np.maximum(scales, 1e-9 * scales.max())
        if not scales.any():
            continue
        squares = fade * squares + (share * regrets) ** 2
        with np.errstate(divide="ignore"):
            after = np.minimum(0.5 / scales, np.sqrt(spread / squares))
        step = np.where(known, before, 0.0) * share * regrets
        exponents = np.where(known, fade * after / np.where(known, before, 1.0) * (exponents + step - step**2), 0.0)
        awake = losses <= 25 * losses.min()
        weights = np.where(awake, after * np.exp(exponents - exponents[awake].max()), 0.0)
        weights /= weights.sum()
    return rows, weights, after


def sequences(rng, steps=1500, n=5):
    """Errors (T, k, N) that try to mislead: each by name."""
    noise = rng.normal(size=(steps, 1, n))
    turns = np.where((np.arange(steps) // 60) % 2, 1.0, 0.1)[:, None, None]
    spikes = np.where(rng.random((steps, 1, n)) < 0.01, 1e3, 1.0)
    adversary = np.zeros((steps, 1, n))
    follower = ConvexAggregation(n, 1)
    for t in range(steps):  # whoever has most weight is wrong next
        adversary[t, 0] = rng.choice([-0.1, 0.1], n)
        adversary[t, 0, follower.weights[:, 0].argmax()] = 1.0
        follower.update(adversary[t][:, :, None], fade=1 - 1 / MEMORY)
    return {
        "noise": noise,
        "the best one changes": noise * np.where(np.arange(n) == 0, turns, 1.1 - turns),
        "rare errors a thousand times as large": noise * spikes,
        "whoever leads is wrong next": adversary,
        "scales apart": noise * 10.0 ** np.arange(n),
        "opposite errors": np.stack([noise[:, 0] + 1, noise[:, 0] - 1], axis=1),
    }


CASES = sequences(np.random.default_rng(0))


@pytest.mark.parametrize("name", CASES)
def test_a_step_is_what_the_class_says_and_the_regret_is_within_its_bound(name):
    errors, fade = CASES[name], 1 - 1 / MEMORY
    learner = ConvexAggregation(errors.shape[2], 1)
    for row in errors:
        learner.update(row[:, :, None], fade)
    rows, weights, rates = followed(errors, fade)
    np.testing.assert_allclose(learner.weights[:, 0], weights, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(learner.rates[:, 0], rates, rtol=1e-9)
    regret = second = np.zeros(errors.shape[2])
    for _, share, regrets, rate in rows:
        regret = fade * (regret + share * regrets)
        second = fade * (second + rate * (share * regrets) ** 2)
    bound = np.log(len(weights) / (1 - fade**0.1)) / rates + second
    assert (regret <= bound * (1 + 1e-9)).all()


@pytest.mark.parametrize("name", CASES)
def test_linearized_regret_bounds_the_excess_over_every_convex_combination(name):
    errors, rng = CASES[name], np.random.default_rng(1)
    rows, _, _ = followed(errors, 1 - 1 / MEMORY)
    for _ in range(20):
        mixture = rng.dirichlet(np.full(errors.shape[2], 0.3))
        drawn = mixture
        for t in range(0, len(rows), 50):
            loss, _, regrets, _ = rows[t]
            mixture = drawn * (regrets != 0) / max((drawn * (regrets != 0)).sum(), 1e-12)  # of those awake
            if not mixture.any():
                continue
            assert loss - np.mean((errors[t] @ mixture) ** 2) <= mixture @ regrets + 1e-9 * (1 + np.abs(regrets).max())


@pytest.mark.parametrize("name", ["noise", "the best one changes", "scales apart", "opposite errors"])
def test_in_the_long_run_it_is_hardly_worse_than_the_best_expert(name):
    errors = CASES[name]
    learner, losses = ConvexAggregation(errors.shape[2], 1), []
    for row in errors:
        losses.append(np.mean((row @ learner.weights[:, 0]) ** 2))
        learner.update(row[:, :, None], 1 - 1 / MEMORY)
    experts = np.mean(errors[1000:] ** 2, axis=(0, 1))  # ten memories later
    assert np.mean(losses[1000:]) <= 1.05 * experts.min()


def test_complementary_experts_are_mixed():
    rng = np.random.default_rng(2)
    learner = ConvexAggregation(3, 1)
    for _ in range(3000):
        shared, own = rng.normal(size=2)
        learner.update(np.array([own + 0.1 * shared, -own + 0.1 * shared, 3.0 * own])[None, :, None], 0.999)
    assert abs(learner.weights[:, 0] @ [1.0, -1.0, 3.0]) < 0.1  # what they do not share cancels; each alone errs by 1


def test_outputs_choose_apart_and_equal_experts_share():
    learner = ConvexAggregation(2, 3)
    for _ in range(200):
        learner.update(np.array([[[1.0, 0.1, 0.7], [0.1, 1.0, 0.7]]]), 0.99)
    assert learner.weights[1, 0] > 0.99
    assert learner.weights[0, 1] > 0.99
    np.testing.assert_allclose(learner.weights[:, 2], 0.5)


def test_numbers_of_any_size_leave_finite_weights():
    learner = ConvexAggregation(3, 1)
    for size in (0.0, 1e-300, 1e300, 1.0, 0.0, 1e80, 1e-160):
        learner.update(size * np.array([[[1.0], [2.0], [-1.0]]]), 0.9)
        assert np.isfinite(learner.weights).all()
        np.testing.assert_allclose(learner.weights.sum(axis=0), 1.0)


def test_a_restored_aggregation_goes_on_bit_for_bit():
    errors = CASES["noise"]
    learner = ConvexAggregation(5, 1)
    for row in errors[:100]:
        learner.update(row[:, :, None], 0.99)
    restored = ConvexAggregation.from_state(learner.state())
    for row in errors[100:200]:
        learner.update(row[:, :, None], 0.99)
        restored.update(row[:, :, None], 0.99)
    np.testing.assert_array_equal(learner.weights, restored.weights)
    with pytest.raises(StateError):
        ConvexAggregation.from_state({**learner.state(), "scales": np.zeros((2, 2))})
    with pytest.raises(ShapeError):
        learner.update(np.zeros((1, 4, 1)))
