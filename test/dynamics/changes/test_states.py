"""Every transition of docs/theory/loads_and_contacts.md, by errors that make it."""

from itertools import groupby

import numpy as np
import pytest
from helpers.watched_hand import LOAD, PERIOD, PUSH, USUAL, Hand, copy_of, used

from icub_learning.dynamics.changes.monitor import State


def path(hand, seconds, **what):
    """Return the states that follow each other from now on."""
    states = [hand.monitor.state]
    for _ in range(round(seconds / PERIOD)):
        hand.run(PERIOD, **what)
        states.append(hand.monitor.state)
    return [state for state, _ in groupby(states)]  # each once


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
    assert path(hand, 0.95, push=PUSH) == [State.DISTURBED]
    assert not hand.monitor.may_learn(hand.stamp)
    assert path(hand, 0.1) == [State.DISTURBED, State.QUIET]
    assert path(hand, 0.9) == [State.QUIET]
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


def test_a_load_takes_the_place_of_another(carrying):
    begun = carrying.monitor.load.since
    assert path(carrying, 1.0, load=2.0 * LOAD) == [State.CARRYING, State.DISTURBED_CARRYING, State.CARRYING]
    since = carrying.monitor.load.since
    assert path(carrying, 1.0)[-1] is State.QUIET
    assert carrying.monitor.counts == {"loads": 2, "releases": 1}
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
    assert pause(Hand()) is State.GETTING_USED
    assert pause(hand) is State.QUIET
    assert path(hand, 0.1, push=PUSH)[-1] is State.DISTURBED
    assert pause(hand) is State.QUIET and not hand.monitor.counts


def test_a_pause_while_something_is_carried(carrying):
    assert pause(carrying, load=LOAD) is State.CARRYING
    carrying.run(1.0, load=LOAD)
    assert path(carrying, 0.1, load=LOAD, push=PUSH)[-1] is State.DISTURBED_CARRYING
    assert pause(carrying, load=LOAD) is State.CARRYING and carrying.monitor.counts == {"loads": 1}


def test_a_load_that_is_put_down_in_a_pause(carrying):
    assert path(carrying, 0.1, load=LOAD, push=PUSH)[-1] is State.DISTURBED_CARRYING
    pause(carrying)
    assert path(carrying, 1.0)[-1] is State.QUIET and carrying.monitor.counts == {"loads": 1, "releases": 1}


def test_a_clock_that_is_set_back(carrying):
    carrying.run(0.5, load=2.0 * LOAD)
    carrying.k -= 300
    carrying.run(PERIOD, load=2.0 * LOAD)
    again = carrying.stamp
    assert carrying.monitor.state is State.CARRYING and not carrying.monitor.may_learn(again)
    assert path(carrying, 1.0)[-1] is State.QUIET and carrying.monitor.may_learn(carrying.stamp)
    assert not carrying.monitor.may_learn(again) and carrying.monitor.may_learn(again - 10**7)
    assert path(carrying, 0.3, push=PUSH)[-1] is State.DISTURBED  # soon after, and no change of the body
    assert path(carrying, 0.5)[-1] is State.QUIET and not carrying.monitor.changed


def test_the_body_changes_in_a_long_contact():
    hand = used(longest_contact=1.0)
    assert path(hand, 1.1, push=PUSH) == [State.QUIET, State.DISTURBED, State.GETTING_USED]
    assert hand.monitor.counts == {"changes of the body": 1} and hand.monitor.may_learn(hand.stamp)
    assert hand.monitor.changed == 1 and hand.monitor.change_ratio > 2.0 and not hand.monitor.contact
    assert path(hand, 20.0, push=PUSH) == [State.GETTING_USED, State.QUIET]


def test_the_body_changes_with_a_fourth_load(hand):
    for mass in (1.0, 2.0, 3.0):
        assert path(hand, 1.5, load=mass * LOAD)[-1] is State.CARRYING
        assert hand.monitor.load.mass == pytest.approx(mass * LOAD[0], abs=0.15) and hand.monitor.changed == 0
    assert path(hand, 0.5, load=4.0 * LOAD)[1:] == [State.DISTURBED_CARRYING, State.GETTING_USED]
    assert hand.monitor.counts == {"loads": 3, "changes of the body": 1} and hand.monitor.load is None
