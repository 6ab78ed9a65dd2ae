"""Sequences of experts' errors that mislead an aggregation, and its expected results, from its formulas alone."""

import numpy as np

from icub_learning.recursive.layered_aggregation import LayeredAggregation

MEMORY = 100.0  # samples: at each one the past fades by the factor 1 - 1 / MEMORY


def followed(errors, fade):
    """Follow the formulas of ConvexAggregation with plain loops over errors (T, k, N).
    Returns losses, shares, regrets, rates of each step; weights before each step and after the last; the last rates."""
    steps, _, n = errors.shape
    scales, squares, exponents, weights = np.zeros(n), np.zeros(n), np.zeros(n), np.full(n, 1 / n)
    spread, rows, history, losses = np.log(n), [], [weights], np.zeros(n)
    for t in range(steps):
        combined = errors[t] @ weights
        regrets = np.mean(2 * combined[:, None] * (combined[:, None] - errors[t]), axis=0)
        judged = losses <= 25 * losses.min()  # the others sleep
        regrets, losses = np.where(judged, regrets, 0.0), fade * losses + np.mean(errors[t] ** 2, axis=0)
        share = min([1.0, *(m / abs(r) for m, r in zip(scales, regrets, strict=True) if abs(r) > 1e-150)])
        with np.errstate(divide="ignore"):
            before = np.minimum(0.5 / scales, np.sqrt(spread / squares))
        known = scales > 0
        rows.append((np.mean(combined**2), share, regrets, np.where(known, before, 0.0)))
        faded = np.where(judged, fade**0.9, 1.0) * scales
        scales = np.maximum(faded, np.where(np.abs(regrets) > 1e-150, np.abs(regrets), 0))
        scales = np.maximum(scales, 1e-9 * scales.max())
        if not scales.any():
            history.append(weights)
            continue
        squares = np.where(judged, fade * squares + (share * regrets) ** 2, squares)
        with np.errstate(divide="ignore"):
            after = np.minimum(0.5 / scales, np.sqrt(spread / squares))
        step = np.where(known, before, 0.0) * share * regrets
        exponents = np.where(known, fade * after / np.where(known, before, 1.0) * (exponents + step - step**2), 0.0)
        awake = losses <= 25 * losses.min()
        weights = np.where(awake, after * np.exp(exponents - exponents[awake].max()), 0.0)
        weights /= weights.sum()
        history.append(weights)
    return rows, history, after


def capped(errors, judged, elapsed=1.0):
    """Return errors (T, k, N), scaled so that the published squared error is at most thirty times its fading mean.
    judged: weights (T, 1 or more, N); the first row of each is that of the published combination. elapsed: [s]."""
    usual, weights, rows = [0.0], [0.0], []
    for row, choices in zip(errors, judged, strict=True):
        loss = np.mean((row @ choices[0]) ** 2)
        share = min(1.0, 30.0 * usual[-1] / loss) if usual[-1] > 0 else 1.0
        weights.append(1.0 + 0.5 ** (elapsed / 10.0) * weights[-1])
        usual.append(usual[-1] + (share * loss - usual[-1]) / weights[-1])
        rows.append(np.sqrt(share) * row)
    return np.array(rows)


def sequences(rng, steps=700, n=5):
    """Return sequences of errors (T, k, N) that try to mislead, by name."""
    noise, turns = rng.normal(size=(steps, 1, n)), np.where((np.arange(steps) // 60) % 2, 1.0, 0.1)[:, None, None]
    spikes, adversary = np.where(rng.random((steps, 1, n)) < 0.01, 1e3, 1.0), np.zeros((steps, 1, n))
    half_life = np.log(0.5) / np.log(1 - 1 / MEMORY)
    follower = LayeredAggregation(n, 1, (half_life,), half_life)
    for t in range(steps):  # the expert with the largest weight is wrong next
        adversary[t, 0] = rng.choice([-0.1, 0.1], n)
        adversary[t, 0, follower.weights[:, 0].argmax()] = 1.0
        errors = adversary[t][:, :, None]
        follower.update(errors, np.einsum("inm,knm->ikm", errors, follower.choices), 1.0)
    return {
        "noise": noise, "the best one changes": noise * np.where(np.arange(n) == 0, turns, 1.1 - turns),
        "rare errors a thousand times as large": noise * spikes, "whoever leads is wrong next": adversary,
        "scales apart": noise * 10.0 ** np.arange(n),
        "opposite errors": np.stack([noise[:, 0] + 1, noise[:, 0] - 1], axis=1),
    }  # fmt: skip


CASES = sequences(np.random.default_rng(0))


def within_bound(rows, rates, fade):
    """Return whether every faded regret keeps the bound of ConvexAggregation."""
    regret = second = np.zeros(len(rates))
    for _, share, regrets, rate in rows:
        regret, second = fade * (regret + share * regrets), fade * (second + rate * (share * regrets) ** 2)
    return bool((regret <= (np.log(len(rates) / (1 - fade**0.1)) / rates + second) * (1 + 1e-9)).all())
