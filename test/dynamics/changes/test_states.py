"""Every transition of docs/theory/loads_and_contacts.md, by errors that make it."""

from itertools import groupby

import pytest
from helpers.watched_hand import LOAD, PERIOD, PUSH, USUAL, Hand

from icub_learning.dynamics.changes.states import State


def path(hand, seconds, **what):
    """Return the states that follow each other from now on."""
    states = [hand.monitor.state]
    for _ in range(round(seconds / PERIOD)):
        hand.run(PERIOD, **what)
        states.append(hand.monitor.state)
    return [state for state, _ in groupby(states)]  # each once


def pause(hand, **what):
    """Return the state after a pause and one sample."""
    hand._k += 200
    hand.run(PERIOD, **what)
    return hand.monitor.state


@pytest.fixture
def hand():
    made = Hand()
    assert path(made, USUAL) == [State.GETTING_USED, State.QUIET]
    return made


@pytest.fixture
def carrying(hand):
    assert path(hand, 4.0, load=LOAD) == [State.QUIET, State.DISTURBED, State.CARRYING]
    return hand


def test_a_contact_with_an_empty_hand(hand):
    assert path(hand, 0.3, push=PUSH) == [State.QUIET, State.DISTURBED]
    assert not hand.monitor.may_learn(hand.stamp)
    assert path(hand, 0.5) == [State.DISTURBED, State.QUIET]
    assert hand.monitor.counts == {"contacts": 1} and hand.monitor.may_learn(hand.stamp)


def test_a_load_is_let_go(carrying):
    assert not carrying.monitor.may_learn(carrying.stamp)
    assert path(carrying, 0.5) == [State.CARRYING, State.DISTURBED_CARRYING, State.QUIET]
    assert carrying.monitor.counts == {"loads": 1, "releases": 1} and carrying.monitor.may_learn(carrying.stamp)


def test_a_load_takes_the_place_of_another(carrying):
    assert path(carrying, 1.0, load=2.0 * LOAD) == [State.CARRYING, State.DISTURBED_CARRYING, State.CARRYING]
    assert carrying.monitor.counts == {"loads": 2}


def test_a_contact_while_something_is_carried(carrying):
    assert path(carrying, 0.8, load=LOAD, push=2.0 * PUSH) == [State.CARRYING, State.DISTURBED_CARRYING]
    assert path(carrying, 0.05, load=LOAD) == [State.DISTURBED_CARRYING, State.UNCONFIRMED, State.DISTURBED_CARRYING]
    assert path(carrying, 0.5, load=LOAD) == [State.DISTURBED_CARRYING, State.CARRYING]
    assert carrying.monitor.counts == {"loads": 2, "contacts": 1} and not carrying.monitor.may_learn(carrying.stamp)


def test_a_pause_with_an_empty_hand(hand):
    assert pause(Hand()) is State.GETTING_USED
    assert pause(hand) is State.QUIET
    assert path(hand, 0.1, push=PUSH)[-1] is State.DISTURBED
    assert pause(hand) is State.QUIET and not hand.monitor.counts


def test_a_pause_while_something_is_carried(carrying):
    assert pause(carrying, load=LOAD) is State.CARRYING
    assert path(carrying, 0.1, load=LOAD, push=PUSH)[-1] is State.DISTURBED_CARRYING
    assert pause(carrying, load=LOAD) is State.UNCONFIRMED
    assert pause(carrying) is State.UNCONFIRMED and carrying.monitor.counts == {"loads": 1}


def test_the_body_changes_in_a_long_contact():
    hand = Hand(longest_contact=1.0)
    hand.run(USUAL)
    assert path(hand, 1.1, push=PUSH) == [State.QUIET, State.DISTURBED, State.GETTING_USED]
    assert hand.monitor.counts == {"changes of the body": 1} and hand.monitor.may_learn(hand.stamp)


def test_the_body_changes_with_a_fourth_load(hand):
    for mass in (1.0, 2.0, 3.0):
        assert path(hand, 0.5, load=mass * LOAD)[-1] is State.CARRYING
    assert path(hand, 0.5, load=4.0 * LOAD)[1:] == [State.DISTURBED_CARRYING, State.GETTING_USED]
    assert hand.monitor.counts == {"loads": 3, "changes of the body": 1} and hand.monitor.load is None


def test_the_body_changes_where_a_load_does_not_explain_the_errors(carrying):
    assert path(carrying, 0.1, load=LOAD, push=3.0 * PUSH) == [State.CARRYING, State.GETTING_USED]
    assert carrying.monitor.counts == {"loads": 1, "changes of the body": 1}
