"""Loads and pushes on a rigid arm whose body is known exactly, with correlated noise. The first tests take every
transition of docs/theory/loads_and_contacts.md, by errors that cause it."""

from itertools import groupby

import numpy as np
import pytest
from helpers.watched_hand import LOAD, PERIOD, PUSH, USUAL, Hand, copy_of, used

from icub_learning.dynamics.changes.load import LoadEstimate
from icub_learning.dynamics.changes.monitor import State
from icub_learning.dynamics.estimators.prediction import Prediction


def path(hand, seconds, **what):
    """Run for some seconds and return the sequence of states, from the present one on."""
    states = [hand.monitor.state]
    for _ in range(round(seconds / PERIOD)):
        hand.run(PERIOD, **what)
        states.append(hand.monitor.state)
    return [state for state, _ in groupby(states)]  # equal states in a row count once


def pause(hand, **what):
    """Return the state after a pause and one sample."""
    hand.k += 200
    hand.run(PERIOD, **what)
    return hand.monitor.state


@pytest.fixture(scope="module")
def loaded():
    made = Hand()
    assert path(made, USUAL) == [State.GETTING_USED, State.QUIET]
    assert path(made, 0.4, load=LOAD) == [State.QUIET, State.DISTURBED, State.CARRYING]
    assert path(made, 3.6, load=LOAD) == [State.CARRYING]
    return made


@pytest.fixture
def hand():
    return used()


@pytest.fixture
def carrying(loaded):
    return copy_of(loaded)


def test_a_contact_with_an_empty_hand(hand):
    assert path(hand, 0.05, push=PUSH) == [State.QUIET, State.DISTURBED]
    assert path(hand, 0.95, push=PUSH) == [State.DISTURBED] and not hand.monitor.may_learn(hand.stamp)
    assert path(hand, 0.1) == [State.DISTURBED, State.QUIET] and path(hand, 0.9) == [State.QUIET]
    assert hand.monitor.counts == {"contacts": 1} and hand.monitor.may_learn(hand.stamp)


def test_a_load_is_identified_and_let_go(carrying):
    load = carrying.monitor.load
    assert abs(load.mass - LOAD[0]) < 3 * load.mass_deviation < 0.15
    assert (np.abs(load.centre - LOAD[1:4] / LOAD[0]) < 4 * load.centre_deviation).all()
    learnable = [carrying.monitor.may_learn(round((USUAL + since) * 1e9)) for since in (-0.1, 0.1, 1.0, 4.0)]
    assert learnable == [True, False, False, False]
    assert path(carrying, 0.3) == [State.CARRYING, State.DISTURBED_CARRYING, State.QUIET]
    assert path(carrying, 0.7) == [State.QUIET] and carrying.monitor.load is None
    assert not carrying.monitor.may_learn(round((USUAL + 1.0) * 1e9))
    assert carrying.monitor.counts == {"loads": 1, "releases": 1} and carrying.monitor.may_learn(carrying.stamp)


def test_offsets_are_after_a_load_what_they_were_before_it():
    hand, seconds = Hand(), {USUAL: None, 3.0: LOAD, 0.6: None}
    for span, load in seconds.items():
        hand.run(span, measured=PUSH, load=load)
    assert hand.monitor.state is State.QUIET and hand.monitor.counts == {"loads": 1, "releases": 1}


def test_a_load_takes_the_place_of_another(carrying):
    begun = carrying.monitor.load.since
    assert path(carrying, 1.0, load=2.0 * LOAD) == [State.CARRYING, State.DISTURBED_CARRYING, State.CARRYING]
    since = carrying.monitor.load.since
    assert path(carrying, 1.0)[-1] is State.QUIET and carrying.monitor.counts == {"loads": 2, "releases": 1}
    assert not any(map(carrying.monitor.may_learn, (begun, since - 1, since, carrying.stamp - 10**9)))
    assert carrying.monitor.may_learn(begun - 1) and carrying.monitor.may_learn(carrying.stamp)


@pytest.mark.parametrize("strength", [2.0, 5.0])
def test_contacts_while_something_is_carried_leave_what_is_known_of_it(carrying, strength):
    before = carrying.monitor.load
    for _ in range(3):
        assert path(carrying, 0.8, load=LOAD, push=strength * PUSH) == [State.CARRYING, State.DISTURBED_CARRYING]
        assert path(carrying, 1.5, load=LOAD) == [State.DISTURBED_CARRYING, State.CARRYING]
    assert carrying.monitor.counts == {"loads": 1, "contacts": 3} and not carrying.monitor.may_learn(carrying.stamp)
    assert carrying.monitor.load.since == before.since
    assert carrying.monitor.load.mass == pytest.approx(before.mass, abs=2.0 * before.mass_deviation)


def test_a_pause_with_an_empty_hand(hand):
    assert pause(Hand()) is State.GETTING_USED and pause(hand) is State.QUIET
    assert path(hand, 0.1, push=PUSH)[-1] is State.DISTURBED
    assert pause(hand) is State.QUIET and not hand.monitor.counts


def test_a_pause_while_something_is_carried(carrying):
    assert pause(carrying, load=LOAD) is State.CARRYING
    carrying.run(1.0, load=LOAD)
    assert path(carrying, 0.1, load=LOAD, push=PUSH)[-1] is State.DISTURBED_CARRYING
    assert pause(carrying, load=LOAD) is State.CARRYING and carrying.monitor.counts == {"loads": 1}
    assert path(carrying, 0.1, load=LOAD, push=PUSH)[-1] is State.DISTURBED_CARRYING
    pause(carrying)  # the load is put down during the pause
    assert path(carrying, 1.0)[-1] is State.QUIET and carrying.monitor.counts == {"loads": 1, "releases": 1}


def test_a_clock_that_is_set_back(carrying):
    carrying.run(0.5, load=2.0 * LOAD)
    carrying.k -= 300
    carrying.run(PERIOD, load=2.0 * LOAD)
    again = carrying.stamp
    assert carrying.monitor.state is State.CARRYING and not carrying.monitor.may_learn(again)
    assert path(carrying, 1.0)[-1] is State.QUIET and carrying.monitor.may_learn(carrying.stamp)
    assert not carrying.monitor.may_learn(again) and carrying.monitor.may_learn(again - 10**7)
    assert path(carrying, 0.3, push=PUSH)[-1] is State.DISTURBED  # soon after a load, but no change of the body
    assert path(carrying, 0.5)[-1] is State.QUIET and not carrying.monitor.changed


def test_the_body_changes_in_a_long_contact():
    hand = used(longest_contact=1.0)
    assert path(hand, 0.6, push=PUSH)[-1] is State.DISTURBED
    hand.monitor.interrupt()  # by a sensor at fault, whose time does not count
    assert hand.monitor.state is State.QUIET and pause(hand, push=PUSH) is State.DISTURBED
    assert [path(hand, 0.3, push=PUSH) for _ in range(2)] == [[State.DISTURBED], [State.DISTURBED, State.GETTING_USED]]
    assert hand.monitor.counts == {"changes of the body": 1} and hand.monitor.may_learn(hand.stamp)
    assert hand.monitor.changed == 1 and hand.monitor.change_ratio > 2.0 and not hand.monitor.contact
    assert path(hand, 20.0, push=PUSH) == [State.GETTING_USED, State.QUIET]


def test_the_body_changes_with_a_fourth_load(hand):
    for mass in (1.0, 2.0, 3.0):
        assert path(hand, 1.5, load=mass * LOAD)[-1] is State.CARRYING
        assert hand.monitor.load.mass == pytest.approx(mass * LOAD[0], abs=0.15) and hand.monitor.changed == 0
    assert path(hand, 0.5, load=4.0 * LOAD)[1:] == [State.DISTURBED_CARRYING, State.GETTING_USED]
    assert hand.monitor.counts == {"loads": 3, "changes of the body": 1} and hand.monitor.load is None


def test_nothing_is_seen_where_nothing_is_and_errors_at_rest_do_not_become_usual(hand):
    assert set(hand.run(40.0, rest=True) + hand.run(5.0)) == {"nothing"} and not hand.monitor.counts
    hand = Hand(1)
    assert hand.run(5.0)[-1] == "getting used to the errors" and set(hand.run(70.0)[1000:]) == {"nothing"}
    assert not hand.monitor.counts and hand.monitor.may_learn(hand.stamp)


def test_samples_of_a_block_count_by_their_mean_and_a_strong_push_is_seen_by_its_first_sample():
    """At 1 kHz single errors of thirty times the usual size are no push, and a push is seen as at 100 Hz."""
    hand = Hand()
    assert set(hand.run(USUAL, at_once=10)[1100:]) == {"nothing"}
    assert hand.run(1.0, push=PUSH, at_once=10).index("contact") < 5
    assert hand.run(1.0, at_once=10).index("nothing") <= 10
    hand = Hand()
    assert set(hand.run(USUAL, at_once=5, spread=1.0)[1100:]) == {"nothing"}
    assert hand.run(PERIOD, push=-5.0 * PUSH, at_once=5, spread=1.0) == ["contact"]
    samples = hand.stamp + round(PERIOD / 5 * 1e9) * np.arange(-5, 1)  # the last one before the push, and five with it
    assert list(map(hand.monitor.may_learn, samples)) == [True] + [False] * 5
    assert set(hand.run(0.5, push=-5.0 * PUSH, at_once=5, spread=1.0)) == {"contact"}


@pytest.mark.parametrize(("seed", "axis"), [(1, 1), (3, 1), (5, 0), (0, 2)])
def test_what_keeps_its_direction_at_the_sensor_is_over_when_it_ends(seed, axis):
    """Such a wrench turns in the frame of the hand, so that its estimate says little about when it ends."""
    hand = used(seed)
    assert "contact" in hand.run(1.0, measured=3.0 * np.eye(6)[axis]) and hand.run(1.0).index("nothing") <= 30
    assert hand.monitor.changed == 0 and hand.monitor.load is None


@pytest.mark.parametrize("share", [0.3, 0.5, 1.0])
def test_what_is_gone_before_it_is_known_is_no_load(share):
    hand = used()
    hand.run(0.1, load=share * LOAD)
    assert "load" not in hand.run(1.0) and hand.monitor.counts == {"contacts": 1}


def test_load_is_added_to_predictions(carrying):
    hand, motion = carrying, carrying.motion()
    body = Prediction(np.ones(6), np.full(6, 0.4), np.full(6, 0.6), np.full(6, 0.01), experts="some")
    made, added = hand.monitor.compensated(body, motion)
    truth = hand.effects.load(motion.position, motion.velocity, motion.acceleration) @ LOAD
    np.testing.assert_allclose(added, truth, atol=0.15 * np.abs(truth).max())
    np.testing.assert_array_equal(made.total, body.total + added)
    np.testing.assert_array_equal([made.parametric, made.residual], [body.parametric + added, body.residual])
    assert (made.variance > body.variance).all() and made.experts is None  # none of the experts knows of the load
    hand.run(1.0)
    assert hand.monitor.compensated(body, motion) == (body, None)


def test_deviations_of_a_load_know_that_each_output_may_have_a_wrong_scale():
    columns, found = np.random.default_rng(1).standard_normal((40, 6, 10)), []
    for scales in (np.ones(6), *(1.0 + 1e-3 * np.eye(6))):
        found.append(LoadEstimate(np.full(10, 1e3), np.eye(6)))
        for one in columns:
            found[-1].add(one, scales * (one @ LOAD))
    loads = np.array([one.load(0, 1).parameters for one in found])
    moved = np.vstack([LOAD, 1e3 * (loads[1:] - loads[0])])
    expected = 9.0 * np.linalg.inv(np.einsum("kij,kil->jl", columns, columns)) + 9e-4 * moved.T @ moved
    np.testing.assert_allclose(found[0].load(0, 1).covariance, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("torque", [False, True])
def test_gain_errors_misread_a_signal_as_much_as_drawn_ones_do(torque):
    hand, rng, n = used(torque=torque), np.random.default_rng(0), 7 if torque else 6
    signal = rng.standard_normal(n)
    gains = 0.01 * rng.standard_normal((20_000, n, n)) * (np.eye(n) if torque else np.outer(hand.noise, 1 / hand.noise))
    np.testing.assert_allclose(np.sqrt(hand.monitor.gain_variance(signal)), (gains @ signal).std(axis=0), rtol=0.15)
    np.testing.assert_array_equal(Hand(0, torque=torque).monitor.gain_variance(signal), 0.0)  # nothing is known yet


@pytest.mark.parametrize("scale", [1.0, 1000.0])  # of an excavator, too
def test_joint_torques_tell_loads_from_pushes_too(scale):
    hand = used(3, torque=True, scale=scale)
    assert hand.run(3.0, load=2 * scale * LOAD)[-1] == "load" and hand.run(1.0)[-1] == "nothing"
    assert "contact" in hand.run(0.8, push=3 * scale * PUSH) and hand.run(1.0)[-1] == "nothing"


def test_a_force_at_the_sensor_is_no_load():
    """Such a force is no constant wrench on the hand, and a load explains two of these sixteen better than that."""
    hand, rng = used(7), np.random.default_rng(7)
    for _ in range(16):
        direction = rng.standard_normal(6) * ([1.0] * 3 + [0.0] * 3)
        pulled = hand.run(1.0, measured=rng.uniform(4.0, 12.0) * direction / np.linalg.norm(direction))
        assert set(pulled[5:]) == {"contact"} and hand.run(3.0)[-1] == "nothing"
    assert hand.monitor.counts == {"contacts": 16}


def test_errors_that_the_body_tells_itself_are_no_contacts():
    """After a rest without noise a motion is not yet learned: errors are far larger, as the predicted variance says."""
    hand = Hand(4)
    hand.noise *= 1e-3
    hand.run(USUAL, variance=1e-6)
    hand.noise *= 1e3
    hand.run(10.0, variance=1.0)
    assert not hand.monitor.counts
    hand.run(40.0, variance=1.0)  # errors of this size become usual
    assert not hand.monitor.counts and "contact" in hand.run(1.0, push=4 * PUSH, variance=1.0)


@pytest.mark.parametrize("seed", [1, 4, 10])
def test_what_the_body_does_not_know_is_no_load_and_no_contact(seed):
    """After a push of 0.05 s, errors of 20 N that last for 0.2 s are no load where their variance is predicted."""
    hand, rng = Hand(seed), np.random.default_rng(seed)
    hand.run(USUAL, variance=1.0)
    assert hand.run(0.05, push=PUSH, variance=1.0)[-1] == "contact"
    deviation, kept = 50.0 * np.array([0.4] * 3 + [0.01] * 3), np.exp(-PERIOD / 0.2)
    z, phases = rng.standard_normal(6), []
    for _ in range(300):
        z = kept * z + np.sqrt(1.0 - kept**2) * rng.standard_normal(6)
        phases += hand.run(PERIOD, measured=deviation * z, variance=2500.0)
    assert "load" not in phases and set(phases[30:]) == {"nothing"}


def test_what_is_learned_at_once_is_no_contact():
    """Errors that grew while nothing was learned, three times what the body told, are gone with the first sample."""
    (hand := Hand()).run(USUAL, variance=1.0)
    for variance in np.append(1.0 + np.linspace(0.0, 5.0, 30) ** 2, np.ones(100)):
        unknown = 3.0 * np.sqrt(variance - 1.0) * np.array([0.4, -0.24, 0.2, 0.003, -0.004, 0.006])
        assert hand.run(PERIOD, measured=unknown, variance=variance) == ["nothing"]


def test_what_is_never_settled_is_a_change_of_the_body():
    """Errors that alternate between those of a load and of a push must not keep the body from learning for ever."""
    hand, rng = used(5, longest_contact=3.0), np.random.default_rng(0)
    for _ in range(12):
        hand.run(0.4, load=LOAD * rng.uniform(0.5, 3.0), push=PUSH * rng.uniform(-3.0, 3.0))
    assert hand.monitor.changed >= 1
