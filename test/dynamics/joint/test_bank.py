"""The bank of joint processes beside ridge regressions on features that are written out here."""

import numpy as np
import pytest
from helpers.small_arm import SmallArm, learn, motions, rigid
from scipy.linalg import block_diag

from icub_learning.dynamics import NonparametricEstimator, SemiparametricEstimator
from icub_learning.dynamics.joint.bank import INPUT_SCALES, LENGTH_SCALES, MEMBERS
from icub_learning.errors import ParameterError
from icub_learning.testing import assert_same

N, REGULARIZATION = 36, 0.7  # features of all length scales together; of the parameters
KINDS = pytest.mark.parametrize("kind", [NonparametricEstimator, SemiparametricEstimator])


def features(states, seed, every):
    """Rows (n, d) of unit norm: cosines and sines for every so manieth frequency, of all length scales."""
    half = N // (2 * len(LENGTH_SCALES))
    frequencies = np.random.default_rng(seed).standard_normal((half * len(LENGTH_SCALES), 3))
    frequencies /= np.repeat(LENGTH_SCALES, half)[:, None] * INPUT_SCALES
    phase = states.reshape(-1, 3) @ frequencies[::every].T
    return np.concatenate([np.cos(phase), np.sin(phase)], axis=1) / np.sqrt(phase.shape[1])


def weights_of_samples(member, n, forgetting):
    return (forgetting * np.exp(-0.01 / member.memory)) ** np.arange(n)[::-1]


def made(kind, forgetting=1.0, **settings):
    if kind is SemiparametricEstimator:
        settings |= {"parametric_regularization": REGULARIZATION, "output_weights": "equal"}
    return kind(SmallArm(), n_random_features=N, forgetting=forgetting, **settings)


def priors(estimator, place):
    state = estimator.state()
    return (state.get(f"bank.process_{place}.{part}.prior") for part in ("features", "rigid"))


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
def test_experts_are_batch_solutions_and_the_total_is_their_mixture(forgetting):
    rng = np.random.default_rng(0)
    states, probe = motions(600, rng), motions(1, np.random.default_rng(9))[0]
    y = rigid(states) + np.sin(3 * states[:, 0]) + 0.1 * rng.normal(size=(600, 1))
    rows, own = np.array([SmallArm()(*x)[0] for x in states]), SmallArm()(*probe)[0]
    alone, both = made(NonparametricEstimator, forgetting, seed=3), made(SemiparametricEstimator, forgetting, seed=3)
    learn(alone, states, y)
    learn(both, states, y)
    faded = forgetting ** np.arange(600)[::-1]
    precision = next(value for key, value in both.state().items() if key == "rigid.rls.prior")
    p = np.linalg.solve(rows.T @ (faded[:, None] * rows) + np.diag(precision), rows.T @ (faded * y[:, 0]))
    expected = {"P": own @ p}
    for place, member in enumerate(MEMBERS):
        phi, one = features(states, 3, member.every), features(probe, 3, member.every)[0]
        faded = weights_of_samples(member, 600, forgetting)
        of_features, of_gamma = priors(both, place)
        a = phi.T @ (faded[:, None] * phi) + np.diag(of_features)
        name = f"{member.regularization:g} {member.memory:g} s"
        expected[f"NP {name}"] = one @ np.linalg.solve(a, phi.T @ (faded * y[:, 0]))
        z = np.concatenate([rows, phi], axis=1)
        a = z.T @ (faded[:, None] * z) + block_diag(np.diag(REGULARIZATION * of_gamma), np.diag(of_features))
        expected[f"SP {name}"] = np.concatenate([own, one]) @ np.linalg.solve(a, z.T @ (faded * y[:, 0]))
    for estimator in (alone, both):
        prediction, weights = estimator.predict(*probe), estimator.expert_weights
        found = dict(zip(weights, prediction.experts.values[:, 0], strict=True))
        assert len(found) == (1 + 2 * len(MEMBERS) if estimator is both else len(MEMBERS))
        for name, value in found.items():
            assert value == pytest.approx(expected[name], rel=1e-9, abs=1e-9), name
        assert prediction.total == pytest.approx(sum(weights[name] * found[name] for name in found), rel=1e-12)
        np.testing.assert_array_equal(prediction.parametric + prediction.residual, prediction.total)
    assert prediction.parametric == pytest.approx(expected["P"], rel=1e-9)
    np.testing.assert_allclose(both.parametric.parameters, p, rtol=1e-8)


def test_novelty_is_the_share_of_a_motion_that_was_not_learned():
    states = motions(300, np.random.default_rng(1))
    estimator = made(NonparametricEstimator)
    member = MEMBERS[0]
    assert estimator.predict(*states[0]).experts.novelty == pytest.approx(1.0)
    learn(estimator, states, np.sin(states[:, 0]))
    probes = np.random.default_rng(2).normal(size=(20, 3, 1)) * 3.0
    phi, found = features(states, 0, 1), []
    for probe in probes:
        one = features(probe, 0, 1)[0]
        seen = phi[:300]
        expected = one @ np.linalg.solve(seen.T @ seen / member.regularization + np.eye(len(one)), one)
        found.append((estimator.predict(*probe).experts.novelty, expected))
    found, expected = np.array(found).T
    assert (expected <= found * (1.0 + 1e-9)).all()  # it is that of a few samples ago, when less was known
    np.testing.assert_allclose(found, expected, rtol=0.2, atol=1e-3)
    assert expected.max() > 10 * expected.min()


@KINDS
def test_pooling_is_learning_all_and_leaves_alone_what_was_learned_of_late(kind):
    rng = np.random.default_rng(5)
    states = motions(600, rng)
    y = rigid(states) + np.sin(3 * states[:, 0]) + 0.1 * rng.normal(size=(600, 1))
    one, other, both = (made(kind) for _ in range(3))
    learn(one, states[:250], y[:250])
    learn(other, states[250:], y[250:])
    learn(both, states, y)
    before, of_other = one.predict(*states[7]).experts.values, other.state()
    chosen = one.expert_weights
    one.merge(other)
    assert one.n_samples == 600
    assert_same(other.state(), of_other, "the other one before")
    pooled, expected = (each.predict(*states[7]).experts.values for each in (one, both))
    for place, (name, weights) in enumerate(one.expert_weights.items()):
        slow = name == "P" or name.endswith("inf s")
        np.testing.assert_allclose(pooled[place], (expected if slow else before)[place], rtol=1e-8, err_msg=name)
        np.testing.assert_array_equal(weights, chosen[name])  # which of them is right is each robot's own choice
        assert not slow or abs(before[place, 0] - expected[place, 0]) > 1e-6
    if kind is SemiparametricEstimator:
        np.testing.assert_allclose(one.parametric.parameters, both.parametric.parameters, rtol=1e-9)


@KINDS
def test_pooling_with_what_does_not_fit_is_refused_and_changes_nothing(kind):
    states = motions(60, np.random.default_rng(6))
    y = np.sin(states[:, 0])
    one = made(kind)
    learn(one, states, y)
    before = one.state()
    other_kind = NonparametricEstimator if kind is SemiparametricEstimator else SemiparametricEstimator
    strangers = [made(kind, seed=1), kind(SmallArm(), n_random_features=N // 2), made(other_kind)]
    for other in strangers:
        learn(other, states, y)
        with pytest.raises(ParameterError):
            one.merge(other)
        assert_same(one.state(), before, "what was known before")
    # One that went on from the same model and has forgotten some of it.
    again, common = (kind.from_state(one.state(), one.regressor) for _ in range(2))
    again.ledger, common.ledger = (type(one.ledger)(one.ledger.holdings(60)) for _ in range(2))
    again._forgetting = 0.9
    learn(again, states[:5], y[:5], first=60)
    learn(one, states[5:9], y[5:9], first=60)
    before = one.state()
    with pytest.raises(ParameterError, match="forgotten"):
        one.merge(again, common)
    assert_same(one.state(), before, "what was known before")
