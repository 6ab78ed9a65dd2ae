"""The learning thread: everything learned where there is time, thinned where not, requests between two samples."""

import threading
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy")

from icub_learning.errors import StateError
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread

LIMIT = 30.0  # s, longest wait


class Sums:
    """An estimator that adds up what it is taught; `gate` holds it up."""

    def __init__(self):
        self.learned = []
        self.gate = threading.Event()
        self.gate.set()

    @property
    def n_samples(self):
        return len(self.learned)

    def predictor(self, _regressor):
        return SimpleNamespace(known=tuple(self.learned))


class Number:
    def __init__(self, value):
        self.value = value

    def teach(self, estimator):
        assert estimator.gate.wait(LIMIT)
        if self.value < 0:
            raise RuntimeError("a sample that should never be")
        estimator.learned.append(self.value)


@pytest.fixture
def made():
    errors, estimator = [], Sums()
    thread = LearningThread(estimator, None, 4, errors.append)
    yield thread, estimator, errors
    estimator.gate.set()
    thread.stop()


def done(request):
    assert request.done.wait(LIMIT)
    return request


def test_learns_in_order_and_shows_a_new_predictor_after_each(made):
    thread, _, errors = made
    assert thread.predictor.known == ()
    for k in range(3):
        thread.offer(Number(k))
        done(thread.ask(lambda estimator: (estimator, "")))
        assert thread.predictor.known == tuple(range(k + 1))
    assert (thread.learned, thread.skipped, thread.n_samples, errors) == (3, 0, 3, [])


def test_what_cannot_be_learned_in_time_is_skipped_and_counted(made):
    thread, estimator, _ = made
    estimator.gate.clear()
    for k in range(100):
        thread.offer(Number(k))
    assert thread.predictor.known == ()  # to be had although learning is held up
    assert thread.waiting <= 8
    estimator.gate.set()
    done(thread.ask(lambda estimator: (estimator, "")))
    assert thread.learned + thread.skipped == 100
    assert 4 <= thread.learned <= 12
    assert list(estimator.learned) == sorted(estimator.learned)


def test_a_request_may_exchange_the_estimator_and_a_refused_one_changes_nothing(made):
    thread, estimator, errors = made
    thread.offer(Number(1))

    def refuse(_):
        raise StateError("no such file")

    refused = done(thread.ask(refuse))
    assert (refused.success, refused.message) == (False, "no such file")
    assert thread.predictor.known == (1,)
    other = Sums()
    other.learned = [7, 8]
    answered = done(thread.ask(lambda _: (other, "loaded")))
    assert (answered.success, answered.message, thread.n_samples) == (True, "loaded", 2)
    thread.offer(Number(9))
    done(thread.ask(lambda estimator: (estimator, "")))
    assert (other.learned, estimator.learned, errors) == ([7, 8, 9], [1], [])


def test_a_failure_is_told_and_the_thread_goes_on(made):
    thread, estimator, errors = made
    thread.offer(Number(-1))
    failed = done(thread.ask(lambda estimator: 1 / 0))
    assert (failed.success, failed.message) == (False, "failed: division by zero")
    thread.offer(Number(2))
    done(thread.ask(lambda estimator: (estimator, "")))
    assert estimator.learned == [2]
    deadline = time.monotonic() + LIMIT
    while len(errors) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "should never be" in errors[0]
    assert "ZeroDivisionError" in errors[1]
