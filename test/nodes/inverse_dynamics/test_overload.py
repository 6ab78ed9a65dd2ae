"""A learner of any speed uses its share of a core, evenly; where it waits for a core, less is judged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icub_learning.errors import ParameterError
from icub_learning.nodes.inverse_dynamics.overload import LONGEST_SETTLED, SETTLED, SettlingPeriod, Thinning

N = 8000


def run(limit, service, share=1.0, speed=1.0):
    """Simulate N samples: learning sample i, from time i, takes `service(i)` of a core; the learner gets `speed` of it.
    Returns the learned samples, how many each stands for, how long each waits, and the core time of learning."""
    thinning, queue, free_at, counts, waits, busy = Thinning(share, limit), [], 0.0, {}, [], 0.0
    for i in range(N):
        while queue and max(free_at, queue[0]) <= i:  # samples whose learning has begun by now
            came = queue.pop(0)
            start = max(free_at, came)
            waits.append(start - came)
            free_at, busy = start + service(came) / speed, busy + service(came)
            thinning.learned(service(came))
        if count := thinning.take(float(i), len(queue)):
            queue.append(i)
            counts[i] = count
    return np.array(list(counts)), np.array(list(counts.values())), np.array(waits), busy


@given(
    cost=st.floats(0.05, 40.0), limit=st.integers(1, 60), share=st.floats(0.05, 1.0),
    speed=st.just(1.0) | st.floats(0.05, 0.4),
)  # fmt: skip
def test_it_uses_its_share_evenly_and_bounds_the_wait(cost, limit, share, speed):
    """No more samples than the limit wait, even if the learner gets less of the core than its share."""
    taken, counts, waits, busy = run(limit, lambda _: cost, share, speed)
    assert waits.max() <= (limit + 1) * cost / speed and len(taken) >= 0.49 * N * min(1.0, share / cost, speed / cost)
    np.testing.assert_array_equal(np.cumsum(counts), taken + 1)  # the next learned sample counts those left out
    if speed < 1.0:
        return
    assert busy <= (share * N + 2 * cost if share < 1.0 else N + cost)
    if cost <= 0.9 * share:
        assert len(taken) == N
    elif len(taken) < N:
        spaced = np.diff(taken[taken > N // 2])
        assert spaced.max() <= cost / share + 2
        if share < 0.9:
            assert spaced.min() >= cost / share - 1


def test_after_a_pause_of_the_learner_it_takes_everything_again_and_after_one_of_the_samples_no_burst_comes():
    taken, *_ = run(10, lambda i: 100.0 if i == 500 else 0.2)
    assert len(taken) < N and set(range(2000, N)) <= set(taken.tolist())
    thinning = Thinning(0.5, 10)
    assert thinning.take(0.0, 0) == 1
    thinning.learned(2.0)
    assert [thinning.take(now, 0) for now in (100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 108.0)] == [1, 0, 0, 0, 4, 0, 2]


@pytest.mark.parametrize(("predicting", "learned"), [(0.0, 0.5), (0.6, 0.2), (0.9, 0.05), (1.0, 0.025), (1.7, 0.025)])
def test_learning_gets_its_share_of_what_predicting_leaves(predicting, learned):
    """Where predicting takes 60 % of a core, half of the rest is a fifth; at least a twentieth counts as left."""
    thinning = Thinning(0.5, 10)
    thinning.learned(1.0)
    assert sum(thinning.take(float(i), 0, predicting * i) > 0 for i in range(N)) == pytest.approx(learned * N, abs=2)


@pytest.mark.parametrize(("name", "share", "limit"), [("limit", 0.5, 0), ("share", 0.0, 1)])
def test_what_is_out_of_range_is_refused(name, share, limit):
    with pytest.raises(ParameterError, match=name):
        Thinning(share, limit)


@pytest.mark.parametrize("short", [0, 1])
def test_joint_states_are_settled_more_rarely_while_processor_time_is_short(short):
    """Either learning waits for a core, or predicting takes most of one; the other has a third of its time."""
    period, ran, waited, predicting, found = SettlingPeriod(), 0.0, 0.0, 0.0, []
    for now, share in enumerate((0.1, 0.9, 0.6, 0.5, 0.9, 0.9, 0.4, 0.3, 0.0), 1):
        waiting, used = (share, 0.35) if short else (0.35, share)
        ran, waited, predicting = ran + 1 - waiting, waited + waiting, predicting + used
        found.append(period.follow(ran, waited, predicting, now) / SETTLED)
    assert found == pytest.approx([1.0, 1.8, 2.0, 2.0, 2.0, 2.0, 1.6, 1.12, 1.0])
    assert period.follow(0.0, 0.0, predicting, 20) < LONGEST_SETTLED  # of another thread, which begins at zero
