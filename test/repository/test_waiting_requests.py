"""What counts as answered: neither a lost datagram nor a pause of the machine may look like a mute node."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from benchmarks.endurance.waiting_requests import KEPT, LONGEST_ANSWER, LONGEST_LOOK, WaitingRequests


def answer(**fields):
    """The future of an answer that has come."""
    future = Future()
    future.set_result(SimpleNamespace(**fields))
    return future


def test_the_oldest_request_that_waits_stays_among_those_that_are_kept():
    waiting, lost = WaitingRequests(0.0), Future()
    newest = [0]  # numbers of the requests that a queue of length KEPT holds
    waiting.add("a", lost)
    for number in range(1, 3 * KEPT):
        waiting.look(0.0)
        if not waiting.may_send("a"):
            break
        waiting.add("a", answer())
        newest = [*newest, number][-KEPT:]
    assert newest == list(range(KEPT))  # full, and the first one is still there
    assert waiting.may_send("b")
    lost.set_result(None)
    waiting.look(0.1)
    assert waiting.may_send("a") and (len(waiting), waiting.answered, waiting.mute) == (0, KEPT, [])


def test_a_request_is_given_up_after_its_time_but_not_for_a_pause_of_this_process():
    waiting = WaitingRequests(100.0)
    waiting.add("a", Future())
    waiting.look(100.0 + 10 * LONGEST_ANSWER)  # this process was stopped
    assert len(waiting) == 1
    now = 100.0 + 10 * LONGEST_ANSWER
    while len(waiting):
        now += LONGEST_LOOK / 2
        waiting.look(now)
    assert waiting.mute == ["a"]
    assert now - 100.0 - 10 * LONGEST_ANSWER == pytest.approx(LONGEST_ANSWER - LONGEST_LOOK, abs=LONGEST_LOOK)
