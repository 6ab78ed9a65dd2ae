"""SP and NP as robots use them: what they learn from, how large their errors may be, and what they refuse."""

import numpy as np
import pytest
from helpers.small_arm import PERIOD, SmallArm, learn, motions, rigid
from helpers.unchanged import unchanged

from icub_learning.dynamics import NonparametricEstimator, ParametricEstimator, SemiparametricEstimator
from icub_learning.errors import NotFiniteError, ParameterError, ShapeError, StateError
from icub_learning.testing import assert_same

KINDS = pytest.mark.parametrize("kind", [NonparametricEstimator, SemiparametricEstimator])


def made(kind=SemiparametricEstimator, n_random_features=60, **settings):
    return kind(SmallArm(), n_random_features=n_random_features, **settings)


def changed(before, after):
    """Return the names of the parts in which two states differ."""
    return {key.partition(".")[0] for key in before if not np.array_equal(before[key], after[key])}


@KINDS
def test_what_was_published_and_judged_is_learned_as_what_is_judged_by_learning_it(kind):
    """To the bit, with samples and judgements in the order in which a stream has them."""
    states, y = motions(200, rng := np.random.default_rng(0)), rng.normal(size=(200, 1))
    at_once, apart = made(kind), made(kind)
    for k, (state, target) in enumerate(zip(states, y, strict=True)):
        at_once.update(*state, target, stamp=k * PERIOD)
        prediction, before = apart.predict(*state), apart.state()
        apart.judge(prediction, target, 0.01)
        judged = apart.state()
        assert changed(before, judged) <= {"weights"}
        apart.update(*state, target, stamp=k * PERIOD, published=prediction)
        assert "weights" not in changed(judged, apart.state())
    assert_same(apart.state(), at_once.state(), "one that judges by itself")
    assert np.ptp(list(at_once.expert_weights.values())) > 0.01


def test_features_learn_from_the_motion_as_it_was_known_and_rigid_bodies_from_the_true_one():
    states = motions(300, rng := np.random.default_rng(1))
    known, y = states + 0.1 * rng.normal(size=states.shape), rigid(states) + np.sin(3 * states[:, 0])
    both, exact, seen = (made(output_weights="equal", forgetting=1.0) for _ in range(3))
    for state, guess, target in zip(states, known, y, strict=True):
        both.update(*state, target, known=tuple(guess))
        exact.update(*state, target)
        seen.update(*guess, target)
    np.testing.assert_array_equal(both.parametric.parameters, exact.parametric.parameters)
    found, expected, other = (one.predict(*states[7]).experts.values for one in (both, seen, exact))
    np.testing.assert_array_equal(found[1:], expected[1:])
    assert (np.abs(found - other)[1:] > 1e-6).all() and abs(found[0, 0] - expected[0, 0]) > 1e-6


@pytest.mark.parametrize("truth", ["rigid", "features", "both"])
def test_it_is_hardly_worse_than_the_better_of_rigid_bodies_and_features(truth):
    states = motions(1500, rng := np.random.default_rng(2))
    other = np.cos(2 * states[:, 0]) * np.tanh(2 * states[:, 1])
    y = (truth != "features") * rigid(states) + (truth != "rigid") * other + 0.05 * rng.normal(size=other.shape)
    totals = [learn(made(kind, 150), states, y)[0] for kind in (SemiparametricEstimator, NonparametricEstimator)]
    totals.append(learn(ParametricEstimator(SmallArm()), states, y, judged=False)[0])
    errors = [np.mean((told - y[:, 0])[1000:] ** 2) for told in totals]
    assert errors[0] <= 1.1 * min(errors[1:])


def test_rigid_bodies_carry_over_to_positions_where_nothing_was_learned():
    states = motions(1500, rng := np.random.default_rng(3))
    far = states[::20] + np.array([2.0, 0.0, 0.0])[:, None]  # positions by 2 rad
    effect, estimator = 0.1 * np.sin(3 * states[:, 0]), made(n_random_features=150, parametric_regularization=1e-3)
    learn(estimator, states, rigid(states) + effect + 0.005 * rng.normal(size=effect.shape))
    errors = np.array([estimator.predict(*state).experts.values[:, 0] for state in far]) - rigid(far)
    roots = dict(zip(estimator.expert_weights, np.sqrt(np.mean(errors**2, axis=0)), strict=True))
    assert roots["SP"] < 0.3 * roots["NP"] and roots["NP"] > 0.3 * np.sqrt(np.mean(rigid(far) ** 2))


def test_a_joint_that_stands_still_is_no_more_than_the_small_noise_it_is():
    states = motions(1500, rng := np.random.default_rng(4))
    states[:1000] = 1e-4 * rng.normal(size=(1000, 3, 1))  # noise of the sensors at rest; the joint moves afterwards
    y = rigid(states) + 0.01 * rng.normal(size=(1500, 1))
    assert np.abs(learn(made(), states, y)[0] - y[:, 0])[1100:].max() < 0.5 * np.abs(y[1100:]).max()


@pytest.mark.parametrize("prior", ["zero", "nominal"])
@pytest.mark.parametrize("moving", [1.0, 0.0])  # 0.0: at rest, where a row of the regressor is zero
def test_what_is_judged_before_anything_was_learned_is_no_harm(prior, moving):
    """A stream judges some samples before it learns."""
    rng, estimator = np.random.default_rng(5), SemiparametricEstimator(SmallArm(), n_random_features=36, prior=prior)
    samples = moving * motions(400, rng)
    truth = rigid(samples)
    measured, made = truth + 0.01 * rng.normal(size=(400, 1)), []
    for k, (sample, y) in enumerate(zip(samples, measured, strict=True)):
        made.append(estimator.predict(*sample))
        estimator.judge(made[-1], y, 1e-9 * PERIOD)
        if k >= 15:
            estimator.update(*samples[k - 15], measured[k - 15], published=made[k - 15])
    totals, variances = (np.array([getattr(one, name) for one in made]) for name in ("total", "variance"))
    assert np.isfinite(totals).all() and np.isfinite(variances[1:]).all()
    assert np.mean((totals - truth)[200:] ** 2) < 0.01 * np.mean(truth**2) + 0.01**2
    assert np.mean(np.abs(totals - measured)[200:] < 2.0 * np.sqrt(variances[200:])) > 0.85


def test_parameters_follow_a_change_that_is_found_told_or_always_reckoned_with():
    """Errors of the parameters are compared 15 s after half of the mass was lost."""
    states = motions(3000, rng := np.random.default_rng(9))
    y = rigid(states) + 0.02 * rng.normal(size=(3000, 1))
    y[1500:] -= 0.5 * rigid(states[1500:])

    def off(forgetting, announced=False, end=3000):
        estimator = SemiparametricEstimator.from_state(halfway[forgetting], SmallArm())
        if announced:
            estimator.body_changed(100.0)
        learn(estimator, states[1500:end], y[1500:end], first=1500)
        return np.abs(estimator.parametric.parameters - 0.5 * SmallArm.nominal_parameters).max()

    halfway = {}
    for forgetting in (1.0, "auto", 0.995):
        before = made(n_random_features=40, forgetting=forgetting, parametric_regularization=1e-3)
        learn(before, states[:1500], y[:1500])
        halfway[forgetting] = before.state()
    assert (never := off(1.0)) > 0.1
    assert off(1.0, announced=True, end=1600) == off(1.0, end=1600)  # forgetting that is set as a number stays
    assert off("auto") < 0.5 * never and off("auto", announced=True) < 0.2 * never and off(0.995) < 0.1 * never


@pytest.mark.parametrize("kind", [ParametricEstimator, SemiparametricEstimator])
def test_forgetting_that_was_raised_goes_on_to_the_bit_after_saving(kind):
    states, y = motions(600, rng := np.random.default_rng(10)), rng.normal(size=(600, 1))
    one, judged = kind(SmallArm()), kind is SemiparametricEstimator
    learn(one, states[:200], y[:200], judged=judged)
    one.body_changed(7.3)
    learn(one, states[200:333], y[200:333], first=200, judged=judged)
    other = kind.from_state(one.state(), SmallArm())
    for each in (one, other):
        learn(each, states[333:], y[333:], first=333, judged=judged)
    assert_same(other.state(), one.state(), "the one that was not saved")


@pytest.mark.parametrize("forgetting", [0.98, "auto"])
def test_what_experts_agree_on_is_predicted_also_where_forgetting_has_faded_the_prior(forgetting):
    """There a motion that is new looked newer than one of which nothing is known, and weights became negative."""
    estimator, states = made(forgetting=forgetting), motions(900, rng := np.random.default_rng(13))
    y = rigid(states) + np.sin(3 * states[:, 0]) + 0.05 * rng.normal(size=(900, 1))
    learn(estimator, states[:600], y[:600])
    estimator.body_changed(100.0)
    learn(estimator, states[600:], y[600:], first=600)
    novelties = []
    for state in 6.0 * motions(300, rng):
        found = estimator.predict(*state)
        novelties.append(found.experts.unlearned.novelty)
        assert found.experts.values.min() - 1e-9 <= found.total[0] <= found.experts.values.max() + 1e-9
        assert found.variance[0] > 0.0 and novelties[-1] <= 1.0
    assert max(novelties) == 1.0  # without the bound it would be above


def test_a_joint_that_turns_without_end_is_known_after_each_turn():
    class Wheel(SmallArm):
        circular = np.array([0])

    states = motions(200, rng := np.random.default_rng(14))
    y, turns = np.sin(states[:, 0]), 2 * np.pi * rng.integers(-3, 4, (200, 1))
    first, other = (SemiparametricEstimator(Wheel(), n_random_features=60) for _ in range(2))
    learn(first, states, y)
    states[:, 0] += turns
    learn(other, states, y)
    for (q, v, a), turn in zip(states[::20], turns[::20], strict=True):
        np.testing.assert_allclose(other.predict(q, v, a).residual, first.predict(q - turn, v, a).residual, atol=1e-6)


@KINDS
def test_bad_samples_are_refused_and_change_nothing(kind):
    """The contract of learners does not try these: bad values of the known motion, and numbers too large."""
    states, rng = motions(60, np.random.default_rng(11)), np.random.default_rng(12)
    estimator, rigid_alone = made(kind, forgetting=0.99), ParametricEstimator(SmallArm())
    learn(estimator, states[:50], rng.normal(size=(50, 1)))
    good, huge, nan, long = np.array([0.1]), np.array([1e200]), np.array([np.nan]), np.zeros(2)
    cases = [
        (4 * (good,), (good, nan, good), NotFiniteError), (4 * (good,), (good, long, good), ShapeError),
        ((good, good, good, np.ma.masked_all(1)), None, ShapeError), (4 * (good,), (good, good, huge), ParameterError),
        *((tuple(row[:, None] * good), None, ParameterError) for row in 1.0 + np.diag([1e10, 1e10, 1e14, 1e10])),
    ]  # fmt: skip
    with unchanged(estimator), pytest.raises(ParameterError, match="count is 0, but must be an integer of at least 1"):
        estimator.update(good, good, good, good, count=0)
    for stamp in (np.nan, 1.5e9, "now", -1, 2**63):
        with unchanged(estimator), pytest.raises(ParameterError, match="stamp"):
            estimator.update(good, good, good, good, stamp=stamp)
    for arguments, known, error in cases:
        for one in (estimator, rigid_alone) if known is None else (estimator,):
            with unchanged(one), pytest.raises(error):
                one.update(*arguments, known=known, stamp=10**12)
    for one in (estimator, rigid_alone):
        with pytest.raises(ParameterError, match=r"v is 1e\+18, but must be of magnitude at most 1e\+08"):
            one.predict(good, 1e19 * good, good)


@pytest.mark.parametrize(("name", "value"), [
    ("n_random_features", 0), ("n_random_features", 2.5), ("n_random_features", 61), ("forgetting", "never"),
    ("forgetting", 0.0), ("forgetting", 1e-31), ("forgetting", 1.1), ("seed", -1),
])  # fmt: skip
@KINDS
def test_bad_settings_are_refused_by_name(kind, name, value):
    with pytest.raises(ParameterError, match=name):
        kind(SmallArm(), **{name: value})


@KINDS
def test_a_model_of_an_earlier_release_is_refused_with_what_to_do(kind):
    state = made(kind).state()
    older = {key: value for key, value in state.items() if not key.startswith(("bank", "weights"))} | {
        "version": np.asarray(2), "method": np.asarray("automatic"), "pool.seed": np.asarray(0),
    }  # fmt: skip
    for saved in (older, {key: value for key, value in older.items() if key != "version"}):
        with pytest.raises(StateError, match=r"earlier release.*learn it anew"):
            kind.from_state(saved, SmallArm())
    with pytest.raises(StateError, match="version"):
        kind.from_state({**state, "version": np.asarray(99)}, SmallArm())
    wrong = {"bank.recent.memories": np.zeros(3), "bank.frequencies": np.zeros((2, 3))}
    for key, value in (("tare", np.zeros(2)), ("tare", np.array([np.nan])), *wrong.items()):
        with pytest.raises(StateError, match=key.rpartition(".")[2]):
            kind.from_state({**state, key: value}, SmallArm())
