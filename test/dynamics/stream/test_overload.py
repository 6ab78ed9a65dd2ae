"""Thinning: a learner of any speed is kept busy, evenly, and never far behind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icub_learning.dynamics.stream.overload import Thinning
from icub_learning.errors import ParameterError

N = 20_000


def run(limit, service):
    """Sample i comes at time i and takes `service(i)` to learn; which are learned, and how long each waits."""
    thinning, queue, free_at, taken, waits = Thinning(limit), [], 0.0, [], []
    for i in range(N):
        while queue and max(free_at, queue[0]) <= i:  # what has been started by now
            came = queue.pop(0)
            start = max(free_at, came)
            waits.append(start - came)
            free_at = start + service(came)
        if thinning.take(len(queue)):
            queue.append(i)
            taken.append(i)
    return np.array(taken), np.array(waits)


@given(cost=st.floats(0.05, 40.0), limit=st.integers(1, 60))
def test_it_uses_the_learners_capacity_evenly_and_bounds_the_wait(cost, limit):
    taken, waits = run(limit, lambda _: cost)
    assert waits.max() <= (limit + 1) * cost
    assert len(taken) >= 0.49 * N / max(1.0, cost)
    if cost <= 0.9:
        assert len(taken) == N
    elif len(taken) < N:
        assert np.diff(taken[taken > N // 2]).max() <= cost + 2


def test_after_a_pause_of_the_learner_it_takes_everything_again():
    taken, _ = run(10, lambda i: 100.0 if i == 500 else 0.2)
    assert len(taken) < N
    assert set(range(2000, N)) <= set(taken.tolist())


def test_a_limit_below_one_is_refused():
    with pytest.raises(ParameterError, match="limit"):
        Thinning(0)
