"""The bank of joint processes against ridge regressions on features that are written out here."""

import numpy as np
import pytest
from helpers.small_arm import SmallArm, learn, motions, rigid
from helpers.unchanged import unchanged

from icub_learning.dynamics import NonparametricEstimator, SemiparametricEstimator
from icub_learning.dynamics.joint.bank import BODIES, FEATURES, FEATURES_EVERY, INPUT_SCALES, LENGTH_SCALES
from icub_learning.dynamics.joint.bank import REGULARIZATION as OF_FEATURES
from icub_learning.errors import ParameterError

N, REGULARIZATION = 36, 0.7  # number of features over all length scales; regularization of the parameters
KINDS = pytest.mark.parametrize("kind", [NonparametricEstimator, SemiparametricEstimator])


def features(states, seed, every):
    """Return rows (n, d) of unit norm: cosines and sines of every `every`-th frequency, over all length scales."""
    half = N // (2 * len(LENGTH_SCALES))
    frequencies = np.random.default_rng(seed).standard_normal((half * len(LENGTH_SCALES), 3))
    frequencies /= np.repeat(LENGTH_SCALES, half)[:, None] * INPUT_SCALES
    phase = states.reshape(-1, 3) @ frequencies[::every].T
    return np.concatenate([np.cos(phase), np.sin(phase)], axis=1) / np.sqrt(phase.shape[1])


def weights_of_samples(memory, n, forgetting, period=0.01):
    return (forgetting * np.exp(-period / memory)) ** np.arange(n)[::-1]


PROBE = motions(1, np.random.default_rng(9))[0]


def bent(n, seed):
    """Return motions (n, 3, 1) and measurements (n, 1) that rigid bodies explain in part."""
    states = motions(n, rng := np.random.default_rng(seed))
    return states, rigid(states) + np.sin(3 * states[:, 0]) + 0.1 * rng.normal(size=(n, 1))


def made(kind, forgetting=1.0, **settings):
    if kind is SemiparametricEstimator:
        settings |= {"parametric_regularization": REGULARIZATION, "output_weights": "equal"}
    return kind(SmallArm(), n_random_features=N, forgetting=forgetting, **settings)


def solved(x, y, faded, prior):
    """Return the matrix and the weights of a ridge regression on weighted samples."""
    a = x.T @ (faded[:, None] * x) + np.diag(prior)
    return a, np.linalg.solve(a, x.T @ (faded * y[:, 0]))


def batches(estimator, states, y, probe, forgetting=1.0, period=0.01):
    """Return predictions of all experts for a motion, by batch solutions, and the leverages of the motion in each."""
    rows, own = np.array([SmallArm()(*x)[0] for x in states]), SmallArm()(*probe)[0]
    n, state = len(states), estimator.state()
    priors = {key: value for key, value in state.items() if key.endswith(".prior")}
    every = {each: (features(states, 3, each), features(probe, 3, each)[0]) for each in (1, FEATURES_EVERY)}
    faded, expected, leverages = forgetting ** np.arange(n)[::-1], {}, {}
    phi, one = every[1]
    a, w = solved(phi, y, faded, priors["bank.lasting.features.prior"])
    expected["NP"], leverages["NP"] = one @ w, one @ np.linalg.solve(a, one)
    few, probed = every[FEATURES_EVERY]
    for place, (memory, _) in enumerate(FEATURES):
        of_last = weights_of_samples(memory, n, forgetting, period)
        a, w = solved(few, y, of_last, priors[f"bank.recent.features_{place}.prior"])
        name = f"NP {memory:g} s"
        expected[name], leverages[name] = probed @ w, probed @ np.linalg.solve(a, probed)
    if "rigid.rls.prior" in priors:
        a, w = solved(rows, y, faded, priors["rigid.rls.prior"])
        expected["P"], leverages["P"] = own @ w, own @ np.linalg.solve(a, own)
        of_both = REGULARIZATION * priors["bank.lasting.rigid.prior"], priors["bank.lasting.features.prior"]
        a, w = solved(np.concatenate([rows, phi], axis=1), y, faded, np.concatenate(of_both))
        both = np.concatenate([own, one])
        expected["SP"], leverages["SP"] = both @ w, both @ np.linalg.solve(a, both)
        for place, (memory, _) in enumerate(BODIES):
            prior = REGULARIZATION * priors[f"bank.recent.body_{place}.prior"]
            a, w = solved(rows, y, weights_of_samples(memory, n, forgetting, period), prior)
            name = f"P {memory:g} s"
            expected[name], leverages[name] = own @ w, own @ np.linalg.solve(a, own)
    return expected, leverages


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
def test_experts_are_batch_solutions_and_the_total_is_their_mixture(forgetting):
    states, y = bent(600, 0)
    alone, both = made(NonparametricEstimator, forgetting, seed=3), made(SemiparametricEstimator, forgetting, seed=3)
    learn(alone, states, y)
    learn(both, states, y)
    for estimator in (alone, both):
        expected, leverages = batches(estimator, states, y, PROBE, forgetting)
        prediction, weights, state = estimator.predict(*PROBE), estimator.expert_weights, estimator.state()
        found = dict(zip(weights, prediction.experts.values[:, 0], strict=True))
        assert set(found) == set(expected)
        for name, value in found.items():
            assert value == pytest.approx(expected[name], rel=1e-9, abs=1e-9), name
        told = dict(zip(weights, prediction.experts.unlearned.of_experts[:, 0], strict=True))
        noise, signal = state["bank.lasting.noise.value"][0], state["signal.value"][0]
        # Unlearned variance of features: that of the signals as far as the motion is new, and that of learned noise.
        correlation = max(1.0, (state["weights.correlation.long_run"] / state["weights.correlation.variance"])[0])
        noise *= correlation
        novelty = OF_FEATURES * leverages["NP"]
        swing = noise * leverages["NP"] * (1.0 - novelty)
        unknown, of_last = {"NP": signal * novelty + swing}, state["bank.recent.noise.value"][:, 0]
        for place, (memory, _) in enumerate(FEATURES):
            name = f"NP {memory:g} s"
            unknown[name] = unknown["NP"] + of_last[place] * leverages[name]
        if estimator is both:
            left = state["rigid.noise.value"][0]
            unknown["SP"] = left * novelty + swing + noise * (leverages["SP"] - leverages["NP"])
            for own, (memory, _) in zip(of_last[len(FEATURES) :], BODIES, strict=True):
                name = f"P {memory:g} s"
                unknown[name] = unknown["SP"] + correlation * own * leverages[name]
            # Rigid bodies alone always miss what they cannot explain, and more of it in a motion of unusual leverage.
            usual = np.exp(state["rigid.usual.mean"][0]) / state["rigid.usual.weight"]
            unknown["P"] = left * (1.0 + max(leverages["P"], leverages["P"] / usual - 1.0))
        for name, value in told.items():
            assert value == pytest.approx(unknown[name], rel=1e-7), name
        noise = state["weights.noise.mean_square"] * state["weights.noise.factor"]
        used = {name: weights[name] * noise / (noise + told[name]) for name in found}
        total = sum(used[name] * found[name] for name in found) / sum(used.values())
        assert prediction.total == pytest.approx(total, rel=1e-12)
        slow = "SP" if estimator is both else "NP"
        not_learned = (total - found[slow]) ** 2 + told[slow]
        assert prediction.variance == pytest.approx(noise + state["weights.noise.factor"] * not_learned, rel=1e-9)
        np.testing.assert_array_equal(prediction.parametric + prediction.residual, prediction.total)
    assert prediction.parametric == pytest.approx(expected["P"], rel=1e-9)


def test_the_noise_of_the_last_seconds_is_the_square_of_an_error_over_one_plus_its_leverage():
    estimator = made(NonparametricEstimator)
    estimator.update(*PROBE, [2.0])
    # Before the first sample the leverage of features of norm 1 is one over the regularization.
    expected = [2.0**2 / (1.0 + 1.0 / regularization) for _, regularization in FEATURES]
    assert estimator.state()["bank.recent.noise.value"][:, 0] == pytest.approx(expected, rel=1e-9)


@KINDS
def test_a_sample_that_stands_for_three_is_learned_like_three_of_the_same_instant(kind):
    states, y = bent(80, 5)
    once, thrice = made(kind), made(kind)
    for k, (state, target) in enumerate(zip(states, y, strict=True)):
        once.update(*state, target, stamp=10_000_000 * k, count=3)
        for _ in range(3):
            thrice.update(*state, target, stamp=10_000_000 * k)
    found, expected = (one.predict(*PROBE).experts for one in (once, thrice))
    lasting = 3 if kind is SemiparametricEstimator else 1
    assert found.values[:lasting] == pytest.approx(expected.values[:lasting], rel=1e-9, abs=1e-9)
    assert found.values[lasting:] == pytest.approx(expected.values[lasting:], rel=0.01)  # their prior is refilled less
    assert found.unlearned.novelty == pytest.approx(expected.unlearned.novelty, rel=1e-9)


@KINDS
def test_a_sample_that_stands_for_ten_lets_the_past_fade_once_for_its_time(kind):
    """After a change the past fades with time: 0.04 s at once have the effect of ten times 0.004 s."""
    states, y = bent(80, 7)
    once, often = made(kind, forgetting="auto"), made(kind, forgetting="auto")
    for k, (state, target) in enumerate(zip(states, y, strict=True)):
        if k == 40:
            for one in (once, often):
                one.body_changed(1000.0)
        once.update(*state, target, stamp=40_000_000 * (k + 1), count=10)
        for part in range(10):
            often.update(*state, target, stamp=40_000_000 * k + 4_000_000 * (part + 1))
    found, expected = (np.array([one.predict(*x).experts.unlearned.novelty for x in states]) for one in (once, often))
    assert expected[:40].mean() > 2.0 * expected[40:].mean()  # samples from before the change have faded
    np.testing.assert_allclose(found, expected, rtol=0.1)


def test_an_answer_has_the_confidences_of_the_motion_that_was_settled_last():
    states, estimator = motions(300, rng := np.random.default_rng(6)), made(SemiparametricEstimator)
    learn(estimator, states, np.sin(3 * states[:, 0]) + 0.1 * rng.normal(size=(300, 1)))
    known, new = states[-1], states[-1] + 2.0
    first, at_once = estimator.answer(*known), estimator.predict(*new)
    assert first.total == estimator.predict(*known).total  # no motion was settled before
    first.settle()
    answer, weights = estimator.answer(*new), np.array(list(estimator.expert_weights.values()))
    state = estimator.state()
    noise = state["weights.noise.mean_square"] * state["weights.noise.factor"]
    used = weights * noise / (noise + first.experts.unlearned.of_experts)
    assert answer.total == pytest.approx((used * answer.experts.values).sum(axis=0) / used.sum(axis=0), rel=1e-12)
    assert abs(answer.total - at_once.total) > 1e-3
    unknown = (answer.total - answer.experts.values[2]) ** 2 + at_once.experts.unlearned.of_expected
    assert answer.variance == pytest.approx(noise + state["weights.noise.factor"] * unknown, rel=1e-9)
    answer.settle()
    assert estimator.answer(*new).total == pytest.approx(at_once.total, rel=1e-12)
    assert estimator.answer(*known, as_known=True).experts.unlearned is answer.experts.unlearned


@pytest.mark.parametrize("period, counted", [(5_000_000, 0.005), (10_000_000, 0.01), (100_000_000, 0.01), (None, 0.01)])
def test_members_forget_by_the_time_between_stamps_and_below_100_hz_by_samples(period, counted):
    """A memory has a duration from 100 Hz on, a number of samples below; `period` is in ns, None: without stamps."""
    n = 400
    states, y = bent(n, 4)
    y[: n // 2] += 2.0  # something to forget
    estimator = made(SemiparametricEstimator, seed=3)
    for k, (state, target) in enumerate(zip(states, y, strict=True)):
        if k == n // 2:  # the last stamp is saved, too
            estimator = SemiparametricEstimator.from_state(estimator.state(), SmallArm())
        estimator.update(*state, target, stamp=None if period is None else k * period)
    found = dict(zip(estimator.expert_weights, estimator.predict(*PROBE).experts.values[:, 0], strict=True))
    expected, twice = (batches(estimator, states, y, PROBE, period=each)[0] for each in (counted, 2.0 * counted))
    for name, value in found.items():
        assert value == pytest.approx(expected[name], rel=1e-9, abs=1e-9), name
        assert name.endswith(" s") == (abs(value - twice[name]) > 1e-4), name


def test_a_snapshot_tells_what_was_known_a_few_samples_ago():
    states, estimator = motions(300, np.random.default_rng(1)), made(NonparametricEstimator)
    assert estimator.predict(*states[0]).experts.unlearned.novelty == pytest.approx(1.0)
    learn(estimator, states[:290], np.sin(states[:290, 0]))
    estimator.predictor()
    learn(estimator, states[290:], np.sin(states[290:, 0]), first=290)
    snapshot, seen, novelty = estimator.predictor(), features(states[:290], 0, 1), []
    factor = seen.T @ seen / OF_FEATURES + np.eye(seen.shape[1])
    for probe in np.random.default_rng(2).normal(size=(20, 3, 1)) * 3.0:
        one = features(probe, 0, 1)[0]
        novelty.append([each.predict(*probe).experts.unlearned.novelty for each in (snapshot, estimator)])
        assert novelty[-1][0] == pytest.approx(one @ np.linalg.solve(factor, one), rel=1e-8)
    before, now = np.array(novelty).T
    assert (now <= before).all() and (now < 0.8 * before).any() and before.max() > 10 * before.min()


@KINDS
def test_pooling_is_learning_all_and_leaves_alone_what_was_learned_of_late(kind):
    states, y = bent(600, 5)
    one, other, both = (made(kind) for _ in range(3))
    learn(one, states[:250], y[:250])
    learn(other, states[250:], y[250:])
    learn(both, states, y)
    before, chosen = one.predict(*states[7]).experts.values, one.expert_weights
    with unchanged(other):
        one.merge(other)
    assert one.n_samples == 600
    pooled, expected = (each.predict(*states[7]).experts.values for each in (one, both))
    for place, (name, weights) in enumerate(one.expert_weights.items()):
        slow = not name.endswith(" s")
        np.testing.assert_allclose(pooled[place], (expected if slow else before)[place], rtol=1e-8, err_msg=name)
        np.testing.assert_array_equal(weights, chosen[name])  # the weights of the experts stay each robot's own
        assert not slow or abs(before[place, 0] - expected[place, 0]) > 1e-6
    if kind is SemiparametricEstimator:
        np.testing.assert_allclose(one.parametric.parameters, both.parametric.parameters, rtol=1e-9)


@KINDS
def test_pooling_with_what_does_not_fit_is_refused_and_changes_nothing(kind):
    states = motions(60, np.random.default_rng(6))
    y, one = np.sin(states[:, 0]), made(kind)
    learn(one, states, y)
    other_kind = NonparametricEstimator if kind is SemiparametricEstimator else SemiparametricEstimator
    more = made(kind, **({"prior": "nominal"} if kind is SemiparametricEstimator else {"seed": 2}))
    for other in (made(kind, seed=1), kind(SmallArm(), n_random_features=N // 2), made(other_kind), more):
        learn(other, states, y)
        with unchanged(one), pytest.raises(ParameterError):
            one.merge(other)
    # An estimator that went on from the same model and has forgotten some of it.
    again = kind.from_state({**one.state(), "forgetting": np.asarray(0.9)}, one.regressor)
    common = kind.from_state(one.state(), one.regressor)
    again.ledger, common.ledger = (type(one.ledger)(one.ledger.holdings(60)) for _ in range(2))
    learn(again, states[:5], y[:5], first=60)
    learn(one, states[5:9], y[5:9], first=60)
    with unchanged(one), pytest.raises(ParameterError, match="forgotten"):
        one.merge(again, common)
