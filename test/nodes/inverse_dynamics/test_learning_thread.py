"""The learning thread: it learns all samples if there is time, thins them if not, puts requests first, never ends."""

import threading
from functools import partial
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from helpers.waiting import PATIENCE, wait_until

from icub_learning.errors import ParameterError, StateError
from icub_learning.nodes.inverse_dynamics import learning_thread
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread
from icub_learning.nodes.inverse_dynamics.overload import Thinning

until = partial(wait_until, what="the learning thread")


class Sums:
    """An estimator that adds up what it is taught; `gate` blocks it while it is cleared."""

    def __init__(self, learned=()):
        self.learned, self.counted = list(learned), 0
        self.gate = threading.Event()
        self.gate.set()
        self.predict = self.regressor = Mock()

    def state(self):
        return {"learned": np.array(self.learned, dtype=float)}

    @classmethod
    def from_state(cls, state, _regressor):
        return cls(state["learned"].tolist())

    @property
    def n_samples(self):
        return len(self.learned)

    def predictor(self, _regressor):
        return SimpleNamespace(known=tuple(self.learned))


class Number:
    def __init__(self, value):
        self.value, self.known = value, (0, 1)

    def teach(self, estimator, count):
        estimator.counted += count
        assert estimator.gate.wait(PATIENCE)
        estimator.learned.append(self.value)
        errors = RuntimeError("a sample that should never be"), SystemExit(), ParameterError("y", -3, "positive")
        if self.value < 0:
            raise errors[-1 - self.value]


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(learning_thread, "LONGEST_WORK", PATIENCE)  # a busy machine makes no thread hang
    errors, estimator = [], Sums()
    thread = LearningThread(estimator, Mock(), Thinning(1.0, 4), errors.append)
    yield thread, estimator, errors
    estimator.gate.set()
    thread.stop()


def teach(thread, *values):
    """Offer numbers, and wait until they have been learned."""
    learned = thread.learned + len(values)
    for value in values:
        thread.offer(Number(value))
    until(lambda: thread.learned == learned)


def test_learns_in_order_and_shows_a_new_predictor_after_each(made):
    thread, _, errors = made
    assert thread.predictor.known == () and not thread.supervise()
    for k in range(3):
        teach(thread, k)
        assert thread.predictor.known == tuple(range(k + 1))
    assert (thread.learned, thread.skipped, thread.n_samples, errors) == (3, 0, 3, [])


def test_what_cannot_be_learned_in_time_is_skipped_and_counted(made):
    thread, estimator, _ = made
    estimator.gate.clear()
    thread.offer(Number(0))
    until(lambda: estimator.counted)
    for _ in range(9):
        thread.ask(len, changes=False)
    assert thread.waiting == 0 and not thread.full  # requests are no samples
    for k in range(1, 100):
        thread.offer(Number(k))
    assert thread.predictor.known == ()  # available although learning is blocked
    assert thread.waiting == 4 and thread.full
    estimator.gate.set()
    until(lambda: thread.learned + thread.skipped == 100)
    thread.offer(Number(100))
    until(lambda: thread.learned + thread.skipped == 101)
    assert not thread.full and estimator.counted == 101  # skipped samples count with the next one learned
    assert 5 <= thread.learned <= 6 and list(estimator.learned) == sorted(estimator.learned)


def test_a_request_goes_before_the_samples_that_wait_and_one_that_is_withdrawn_is_not_acted_on(made):
    thread, estimator, _ = made
    estimator.gate.clear()
    for k in range(4):
        thread.offer(Number(k))
    until(lambda: estimator.counted)
    assert thread.ask(lambda _: (Sums([5]), "exchanged"), exchanges=True).cancel()
    request = thread.ask(lambda estimator: len(estimator.learned))
    estimator.gate.set()
    assert request.result(PATIENCE) <= 1
    until(lambda: thread.learned == 4)
    assert estimator.learned == [0, 1, 2, 3]


def test_a_request_may_exchange_the_estimator_and_a_refused_one_changes_nothing(made):
    thread, estimator, errors = made
    teach(thread, 1)
    refused = thread.ask(Mock(side_effect=StateError("no such file"))).exception(PATIENCE)
    assert str(refused) == "no such file" and thread.predictor.known == (1,)
    before, other = thread.revision, Sums([7, 8])
    assert thread.ask(lambda _: (other, "loaded"), exchanges=True).result(PATIENCE) == "loaded"
    assert thread.n_samples == 2 and thread.revision > before
    teach(thread, 9)
    assert (other.learned, estimator.learned, errors) == ([7, 8, 9], [1], [])


def test_after_something_unforeseen_the_last_good_state_goes_on(made):
    thread, _, errors = made
    teach(thread, 1, 2)
    state, n_samples, revision = thread.checkpoint().result(PATIENCE)
    assert (state["learned"].tolist(), n_samples, revision) == ([1, 2], 2, thread.revision)
    teach(thread, 3)
    thread.offer(Number(-1))  # changes the estimator before it raises
    until(lambda: errors)
    assert "should never be" in errors[0] and thread.predictor.known == (1, 2)
    thread.offer(Number(4))
    until(lambda: thread.predictor.known == (1, 2, 4))
    assert thread.restored == 1


def test_a_sample_that_the_estimator_refuses_is_counted_and_a_failed_question_is_told_and_changes_nothing(made):
    thread, _, errors = made
    thread.offer(Number(-3))
    until(lambda: thread.refused == 1)
    assert "y is -3" in errors.pop() and thread.restored == 0
    teach(thread, 1)
    failed = thread.ask(lambda estimator: 1 / 0, changes=False).exception(PATIENCE)
    assert str(failed) == "failed: division by zero" and "ZeroDivisionError" in errors[0]
    assert (thread.predictor.known, thread.restored) == ((-3, 1), 0)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_died_is_replaced(made):
    thread, _, _ = made
    teach(thread, 1)
    thread.checkpoint().result(PATIENCE)
    assert thread.supervise() == ""
    thread.offer(Number(-2))  # SystemExit ends a thread
    until(lambda: "died" in thread.supervise())
    assert thread.predictor.known == (1,)  # predictions go on
    thread.offer(Number(5))
    until(lambda: thread.predictor.known == (1, 5))


def test_a_thread_that_hangs_is_replaced_and_what_it_did_does_not_count(made, monkeypatch):
    thread, estimator, _ = made
    monkeypatch.setattr(learning_thread, "LONGEST_WORK", 0.5)
    teach(thread, 1)
    thread.checkpoint().result(PATIENCE)
    estimator.gate.clear()
    thread.offer(Number(2))
    waiting = thread.ask(lambda _: "answered")
    assert until(thread.supervise).startswith("the learning thread has worked on one thing")
    assert waiting.result(PATIENCE) == "answered"  # the new thread answered
    thread.offer(Number(3))
    until(lambda: thread.predictor.known == (1, 3))
    held = threading.Event()
    thread.ask(lambda _: held.wait(PATIENCE))  # the new one hangs too
    estimator.gate.set()  # the old one comes back, which must not hide that
    until(lambda: estimator.learned == [1, 2])
    assert until(thread.supervise).startswith("the learning thread has worked on one thing")
    held.set()
    assert thread.ask(lambda _: thread.predictor.known).result(PATIENCE) == (1,) and thread.learned == 2


def test_numbers_that_are_not_finite_never_become_the_last_good_state(made):
    thread, _, errors = made
    teach(thread, 1)
    thread.checkpoint().result(PATIENCE)
    teach(thread, np.nan)
    assert "not finite" in str(thread.checkpoint().exception(PATIENCE)) and "not finite" in errors[0]
    assert thread.predictor.known == (1,)
    thread.ask(lambda estimator: setattr(estimator, "predict", Mock(side_effect=ValueError("no"))), changes=False)
    teach(thread, 2)  # a state whose numbers are finite, but which does not predict
    assert "predicts nothing: ValueError: no" in str(thread.checkpoint().exception(PATIENCE))
    assert thread.predictor.known == (1,) and thread.failure in errors[1]


@pytest.mark.parametrize(("time", "learned"), [(PATIENCE, [0, 1, 2]), (0.01, [0])])
def test_at_the_end_what_waits_is_learned_if_there_is_time(made, monkeypatch, time, learned):
    thread, estimator, _ = made
    monkeypatch.setattr(learning_thread, "LAST_SAMPLES", time)
    if len(learned) == 1:  # a sample takes until the time is over
        estimator.gate = SimpleNamespace(wait=lambda _: until(lambda: thread._late), set=lambda: None)
    for k in range(3):
        thread.offer(Number(k))
    until(lambda: estimator.counted)
    thread.stop(PATIENCE)
    assert thread.final_state()[0]["learned"].tolist() == learned


def test_a_thread_that_hangs_at_the_end_leaves_the_last_good_state_and_no_request_without_an_answer(made):
    thread, estimator, _ = made
    estimator.gate.clear()
    thread.offer(Number(1))
    until(lambda: estimator.counted)
    waiting = thread.ask(lambda _: "answered")
    thread.stop(0.05)
    for request in (waiting, thread.ask(lambda _: "answered")):
        assert str(request.exception(PATIENCE)) == "the node has stopped learning"
    assert thread.final_state()[0]["learned"].tolist() == []
