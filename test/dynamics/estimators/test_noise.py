"""Estimates of noise: correlated errors, motions of unusual leverage, and the variance of signals."""

import numpy as np
import pytest

from icub_learning.dynamics.estimators.noise.fading import (
    HALF_LIFE,
    SignalVariance,
    UsualLeverage,
    UsualSpeed,
    unlearned_share,
)
from icub_learning.dynamics.estimators.noise.noise_variance import FIRST_SAMPLES, LARGEST, NoiseVariance, OutputNoise
from icub_learning.dynamics.estimators.noise.prediction_errors import SerialCorrelation
from icub_learning.errors import StateError
from icub_learning.recursive.adaptive_forgetting import YOUNG

PERIOD = 0.005  # s


def followed(errors, period=PERIOD):
    correlation = SerialCorrelation(errors.shape[1])
    for row in errors:
        correlation.update(row, period)
    return correlation


def test_errors_that_stay_count_as_one_and_alternating_ones_as_no_more_than_they_are():
    samples = 0.1 / PERIOD  # samples in the time constant of the exponential mean, 0.1 s, which can show twice as many
    assert followed(np.ones((4000, 1))).value == pytest.approx(2.0 * samples, rel=0.05)
    assert followed((-1.0) ** np.arange(4000)[:, None]).value == 1.0


@pytest.mark.parametrize(
    ("errors", "period"), [(np.zeros((0, 2)), PERIOD), (np.zeros((5, 2)), PERIOD), (np.ones((1, 2)), 0.0)],
    ids=["none", "zero", "a repeated stamp"],
)  # fmt: skip
def test_what_tells_nothing_of_errors_leaves_each_of_them_worth_one(errors, period):
    assert followed(errors, period).value.tolist() == [1.0, 1.0]


def test_pooled_noise_is_the_mean_over_the_samples_of_both():
    one, other = NoiseVariance(1), NoiseVariance(1)
    for noise in (one, one, one, other):
        noise.add(np.array([1.0 if noise is one else 4.0]))
    one.merge(other)
    assert (one.value.tolist(), one.n_samples) == ([1.75], 4)


def test_outputs_count_in_inverse_proportion_to_their_noise_up_to_a_bound_and_alike_while_it_is_unknown():
    found, silent, dead, alike = (OutputNoise(kind, 3) for kind in ("noise", "noise", "noise", "equal"))
    for k in range(200):
        found.add(np.array([4.0, 0.25, 0.0]), np.full(3, k))
        silent.add(np.zeros(3), np.zeros(3))
        for one in (dead, alike):  # the third output has never changed
            one.add(np.array([4.0, 0.25, 900.0]), np.array([k, -k, 7.0]))
        assert k + 1 >= FIRST_SAMPLES or (found.weights == 1.0).all()
    assert found.weights.tolist() == pytest.approx([1.0, 4.0, LARGEST])
    assert (found.least_weights == 1.0).all() and (silent.weights == 1.0).all()
    assert dead.weights.tolist() == pytest.approx([1.0, 4.0, 1e-6]) and alike.weights.tolist() == [1.0, 1.0, 1e-6]
    for one in (dead, OutputNoise("noise", 3).restored(dead.state())):
        for k in range(200, 250):  # once it changes it counts, after a restart too
            one.add(np.array([4.0, 0.25, 1.0]), np.array([k, -k, 7.0 if k == 200 else 8.0]))
        assert one.weights[2] == 1.0


def test_leverages_beyond_the_usual_are_told_as_errors_that_come_back_with_the_motion():
    """Two motions of one body: what repeats in the first tells nothing of the second, however often it was seen."""
    usual, information = UsualLeverage(1), np.diag([0.1, 0.1])
    old, new = np.array([1.0, 0.02]), np.array([0.0, 1.0])
    for _ in range(1000):
        usual.update(np.array([old @ np.linalg.solve(information, old)]), 1.0)
        information += np.outer(old, old)
    leverage = {name: np.array([row @ np.linalg.solve(information, row)]) for name, row in (("old", old), ("new", new))}
    assert unlearned_share(leverage["old"], usual.value) < 0.1
    assert unlearned_share(leverage["new"], usual.value) > 500.0 > leverage["new"] * 50.0
    for _ in range(20):
        usual.update(leverage["new"], 1.0)
    assert unlearned_share(leverage["new"], usual.value) > 300.0
    assert unlearned_share(np.array([0.3]), UsualLeverage(1).value) == 0.3  # no leverage is usual yet


def test_usual_leverages_are_geometric_means_that_fade_and_pool():
    leverages, one, other = np.random.default_rng(2).lognormal(size=(60, 2)), UsualLeverage(2), UsualLeverage(2)
    for row in leverages[:40]:
        one.update(row, 0.9)
    fading, weights = np.cumsum(0.9 ** np.arange(40)), 0.9 ** np.arange(40)[::-1]
    mean = weights @ np.log(fading[:, None] * leverages[:40]) / weights.sum()
    np.testing.assert_allclose(one.value, np.exp(mean) / weights.sum(), rtol=1e-9)
    for row in leverages[40:]:
        other.update(row, 1.0)
    logs = np.log(one.value * weights.sum()) * weights.sum() + np.log(other.value * 20.0) * 20.0
    one.merge(other)
    total = weights.sum() + 20.0
    np.testing.assert_allclose(one.value, np.exp(logs / total) / total, rtol=1e-9)
    fresh = UsualLeverage(2)
    fresh.merge(UsualLeverage(2))
    assert np.isinf(fresh.value).all()


def test_mean_fades_as_written_out():
    rng, found = np.random.default_rng(0), SignalVariance(2)
    targets, steps = rng.standard_normal((200, 2)) * [1.0, 5.0], rng.uniform(0.01, 1.0, 200)
    for target, step in zip(targets, steps, strict=True):
        found.update(target, step)
    fades = 0.5 ** (steps / np.minimum(HALF_LIFE, YOUNG * np.cumsum(steps)))
    weights = np.array([np.prod(fades[k + 1 :]) for k in range(200)])
    np.testing.assert_allclose(found.value, weights @ targets**2 / weights.sum(), rtol=1e-10)


def test_errors_at_rest_tell_nothing_of_those_in_motion():
    """Unless a robot has never moved: then its rest is what is usual."""
    rng, speed, noise, shares = np.random.default_rng(0), UsualSpeed(), NoiseVariance(1), []
    for k, velocity in enumerate(rng.standard_normal((30_000, 3))):
        size = 1e-3 if k < 2000 or k > 6000 else 1.0
        shares.append(speed.share(size * velocity))
        noise.add(np.array([4.0 * size]), shares[-1])
        speed.update(size * velocity, shares[-1], 0.01)
    assert noise.value == pytest.approx(4.0, rel=0.03)
    assert min(np.mean(shares[:2000]), np.mean(shares[2000:6000])) > 0.9 and max(shares[7000:]) < 1e-3


def test_merging_takes_the_other_one_where_nothing_is_known():
    known, other, empty = (SignalVariance(1) for _ in range(3))
    known.update(np.array([2.0]), 0.01)
    other.update(np.array([9.0]), 0.01)
    for one, before, after in ((empty, 0.0, 4.0), (other, 81.0, 81.0)):
        assert one.value == before
        one.merge(known)
        assert one.value == after


@pytest.mark.parametrize("kind", [SerialCorrelation, SignalVariance, UsualLeverage])
def test_negative_entries_of_a_state_are_refused(kind):
    """The contract of learners, of which these are parts, checks everything else about states."""
    state = kind(2).state()
    for name in state.keys() - {"mean"}:
        with pytest.raises(StateError, match=name):
            kind.from_state({**state, name: -np.ones(np.shape(state[name]))}, 2)
