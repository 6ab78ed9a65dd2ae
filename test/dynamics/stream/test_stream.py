"""The stream: pairing by stamp, learning at the right instant, and every kind of bad sample refused with its reason."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from operator import itemgetter
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.recorded_stream import JOINTS, PERIOD, START, Parabolas, Recorder, recorded_stream

from icub_learning.dynamics.stream.pairing import MOST_WAITING
from icub_learning.dynamics.stream.records import REMEMBERED_STATES
from icub_learning.dynamics.stream.stream import SETTLED
from icub_learning.errors import SampleError


def make(delay=2, effort=False, tolerance=0.002, **reader):
    stream = recorded_stream(JOINTS if effort else "xyz", Parabolas(2, delay), effort, tolerance, **reader)
    return stream, stream.estimator


def motion(k):
    t = k * PERIOD * 1e-9
    return np.array([t**2, 1 - t]), np.array([2 * t, -1.0])


def send(stream, k, **changes):
    q, v = motion(k)
    message = {"names": list(JOINTS), "position": q, "velocity": v, "effort": q + 10, "stamp": START + k * PERIOD}
    return stream.joint_state(**message | changes)


def cycle(stream, k, **changes):
    """Give sample k and its measurement, and learn; return the sample's record."""
    record = send(stream, k, **changes)
    stream.measurement(START + k * PERIOD, [k, 0, 0])
    stream.pair()
    stream.learn()
    return record


def learned(stream):
    """Return the numbers of the measurements that were learned."""
    return [y[0] for *_, y in stream.estimator.learned]


def test_learns_each_sample_with_the_motion_and_the_measurement_of_one_instant():
    stream, recorder = make(delay=2)
    predicted = []
    for k in range(40):
        record = send(stream, k)
        predicted.append(record.prediction.total)
        assert record.stamp == START + k * PERIOD
        stream.measurement(START + k * PERIOD, [k, 2 * k, 3 * k])
        (external,) = stream.pair()
        assert external.stamp == record.stamp
        np.testing.assert_array_equal(external.external, [k, 2 * k, 3 * k] - record.prediction.total)
        stream.learn()
    assert learned(stream) == list(range(2, 38))  # all but the first and last `delay` samples
    for q, v, a, y in recorder.learned:
        expected_q, expected_v = motion(y[0])
        np.testing.assert_allclose(q, expected_q, atol=1e-12)
        np.testing.assert_allclose(v, expected_v, atol=1e-9)
        np.testing.assert_allclose(a, [2.0, 0.0], atol=1e-6)
    for (*_, y), known in zip(recorder.learned, recorder.known, strict=True):
        np.testing.assert_array_equal(recorder.predict(*known).total, predicted[int(y[0])])
    assert (stream.counts.learned, stream.counts.predicted, stream.counts.measured) == (len(recorder.learned), 40, 40)


@pytest.mark.parametrize("offset", [-900_000, 900_000])
@pytest.mark.parametrize("measurement_first", [True, False])
def test_pairs_the_nearest_stamps_whichever_arrives_first(offset, measurement_first):
    stream, recorder = make(delay=0)
    for k in range(20):
        calls = [lambda k=k: send(stream, k), lambda k=k: stream.measurement(START + k * PERIOD + offset, [k, 0, 0])]
        for call in reversed(calls) if measurement_first else calls:
            call()
        stream.pair()
        stream.learn()
    for q, _, _, y in recorder.learned:
        np.testing.assert_allclose(q, motion(y[0])[0], atol=1e-12)
    assert len(recorder.learned) >= 14 and not stream.counts.refused


JITTER = np.random.default_rng(0).uniform(-0.38, 0.38, 200)


@pytest.mark.parametrize(("states", "measurements", "expected", "surplus", "refused"), [
    pytest.param(range(200), {k: k + 0.2 for k in range(0, 200, 20)}, range(20, 200, 20), 1, {}, id="slow sensor"),
    # The rate is not known yet when the first measurement comes.
    pytest.param(range(60), {k: k / 5 for k in range(300)}, range(10, 290, 5), 240 - 4, {}, id="fast sensor"),
    pytest.param(range(60), {k: k / 2 for k in range(120)}, range(4, 116, 2), 60 - 1, {}, id="twice as fast"),
    pytest.param(range(200), {k: k + JITTER[k] for k in range(200)}, range(2, 198), 0, {}, id="jitter"),
    pytest.param({*range(30)} - {15}, {k: k for k in range(30)}, {*range(2, 28)} - {15}, 0,
                 {"measurement_without_state": 1}, id="a state is missing"),
])  # fmt: skip
def test_topics_of_rates_of_their_own(states, measurements, expected, surplus, refused):
    """Joint state k comes at k periods, measurements at times in periods: those nearest to joint states are learned."""
    stream, _ = make()
    events = [(k, True, k) for k in states] + [(at, False, number) for number, at in measurements.items()]
    for at, is_state, number in sorted(events, key=itemgetter(0)):
        if is_state:
            send(stream, number)
        else:
            stream.measurement(START + round(at * PERIOD), [number, 0, 0])
        stream.pair()
        stream.learn()
    assert learned(stream) == sorted(expected)
    assert (stream.counts.predicted, stream.counts.surplus, stream.counts.refused) == (len(states), surplus, refused)
    told = f"within 0.002 s of the measurement at {START + 15 * PERIOD} ns; the nearest is at {START + 14 * PERIOD} ns"
    assert (told in stream.counts.last_refusal) == bool(refused)


@pytest.mark.parametrize(("effort", "refused"), [
    (None, {}), ([], {"effort_missing": 1}), ([np.nan, 0.0], {"not_finite": 1}), ([1e9, 0], {"out_of_range": 1}),
])  # fmt: skip
def test_efforts_are_learned_from_the_joint_states_themselves_unless_they_are_bad(effort, refused):
    stream, recorder = make(effort=True)
    for k in range(20):
        record = send(stream, k, **({"effort": effort} if refused and k == 10 else {}))
        for external in stream.pair():
            np.testing.assert_array_equal(external.external, motion(k)[0] + 10 - record.prediction.total)
        stream.learn()
    for q, _, _, y in recorder.learned:
        np.testing.assert_allclose(y, q + 10, atol=1e-12)
    assert (stream.counts.refused, stream.counts.predicted) == (refused, 20)
    assert (stream.counts.measured, len(recorder.learned)) == (20 - len(refused), 16 - len(refused))


BAD_STATES = [
    ("stamp_zero", {"stamp": 0}), ("stamp_negative", {"stamp": -2147483648 * 10**9}),
    ("stamp_repeated", {"stamp": START + 9 * PERIOD}), ("stamp_backwards", {"stamp": START + 3 * PERIOD}),
    ("joint_names_missing", {"names": ["shoulder"], "position": [0.0], "velocity": [0.0], "effort": [0.0]}),
    ("joint_name_unknown", {"names": [*JOINTS, "knee"], "position": [0.0] * 3, "velocity": [0.0] * 3, "effort": []}),
    ("joint_name_repeated", {"names": ["shoulder", "shoulder"]}), ("joint_order", {"names": ["elbow", "shoulder"]}),
    ("velocity_missing", {"velocity": []}), ("array_size", {"position": [0.0, 1.0, 2.0]}),
    ("not_finite", {"velocity": [np.nan, 0.0]}), ("not_finite", {"position": [np.inf, 0.0]}),
    ("out_of_range", {"position": [1e300, 0.0]}), ("stamp_repeated", {"stamp": START + 9 * PERIOD + 999}),
]  # fmt: skip
BAD_MEASUREMENTS = [
    ("stamp_repeated", (START + 9 * PERIOD, [0, 0, 0])), ("stamp_backwards", (START, [0, 0, 0])),
    ("array_size", (START + 10 * PERIOD, [0, 0])), ("not_finite", (START + 10 * PERIOD, [0, np.nan, 0])),
    ("out_of_range", (START + 10 * PERIOD, [0, -1e20, 0])),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "bad"), [*BAD_STATES, *BAD_MEASUREMENTS])
def test_a_bad_message_is_refused_and_leaves_everything_as_it_was(reason, bad):
    stream, _ = make(velocity_source="message" if reason == "velocity_missing" else "auto")
    for k in range(30):
        if k == 10:
            with pytest.raises(SampleError) as caught:
                send(stream, 10, **bad) if isinstance(bad, dict) else stream.measurement(*bad)
            assert caught.value.reason == reason and ("order: any" in str(caught.value)) is (reason == "joint_order")
        cycle(stream, k)
    assert stream.counts.refused == {reason: 1} and stream.counts.last_refusal == f"{reason}: {caught.value}"
    assert learned(stream) == list(range(2, 28))


def test_joint_states_may_come_without_velocities():
    stream, recorder = make()
    for k in range(30):
        record = cycle(stream, k, velocity=[])
    np.testing.assert_allclose(record.known.velocity, motion(29)[1], atol=1e-9)
    assert learned(stream) == list(range(2, 28)) and not stream.counts.refused
    for _, v, _, y in recorder.learned:
        np.testing.assert_allclose(v, motion(y[0])[1], atol=1e-9)


def test_any_order_and_extra_joints_of_the_robot():
    stream, _ = make(any_order=True)
    record = stream.joint_state(START, ["wrist", "elbow", "shoulder"], [9.0, 2.0, 1.0], [9.0, 0.0, 0.0])
    assert record.prediction.total[0] == pytest.approx(3.0)


class Experts(Recorder):
    """A recorder that answers with experts, and records what is settled and judged."""

    def __init__(self, n_outputs):
        super().__init__(n_outputs)
        self.events, self.settled, self.anew, self.now = [], [], [], None

    def answer(self, q, v, a, as_known):
        self.anew.extend([] if as_known else [self.now])
        settle = partial(self.settled.append, self.now)
        return replace(super().predict(q, v, a), experts=SimpleNamespace(number=self.now, settle=settle))

    def judge(self, prediction, measured, elapsed):
        self.events.append(("judged", prediction.experts.number, measured[0], elapsed))

    def hold(self):
        self.events.append(("held", self.now))

    def undisturbed(self, prediction):
        return replace(prediction, total=prediction.total - 0.5)

    def update(self, *arguments, published=None, **more):
        self.events.append(("learned", published.experts.number))


class Guard:
    """A watch that forbids learning from some samples."""

    changed, change_ratio, gain_variance = 0, 1.0, staticmethod(lambda signal: 0.01 * signal**2)

    def __init__(self, forbidden):
        self.forbidden = {START + k * PERIOD for k in forbidden}

    def compensated(self, prediction, motion):
        return prediction.plus(np.ones(3), np.full(3, 7.0)), np.ones(3)

    hindsight = observe = lambda self, *given: None

    def may_learn(self, stamp):
        return stamp not in self.forbidden


def test_experts_are_judged_at_once_unless_something_is_touched_and_learned_from_later():
    """Judged is the prediction made for the measurement, without load; learning waits for the smoothed motion."""
    stream, _ = make(delay=2)
    stream.estimator = stream.predictor = experts = Experts(3)
    stream.watch = Guard(range(10, 15))
    for k in range(30):
        experts.now = k
        body, before = send(stream, k).body.total, len(experts.events)
        assert experts.settled == list(range(k))  # settled only once the answer is out
        stream.measurement(START + k * PERIOD, [k, 0, 0])
        (paired,) = stream.pair()
        np.testing.assert_allclose(paired.external, [k, 0, 0] - (body - 0.5 + 1.0), atol=1e-12)  # the load adds 1.0
        np.testing.assert_allclose(paired.deviation**2, paired.undisturbed.variance + 7.0 + 0.01 * paired.external**2)
        (event,) = experts.events[before:]
        if k in range(10, 15):
            assert event == ("held", k)
        else:
            steps = 6 if k == 15 else 1
            assert event[:3] == ("judged", k, k)
            assert event[3] == pytest.approx(0.01 if k == 0 else steps * PERIOD * 1e-9)
        stream.learn()
    learned = [event[1] for event in experts.events if event[0] == "learned"]
    assert learned == [k for k in range(2, 28) if k not in range(10, 15)] and stream.counts.withheld == 5
    stream.watch.changed, stream.watch.change_ratio = 1, 9.0
    experts.body_changed = experts.settled.append
    stream.learn()
    assert experts.settled[-1] == 9.0 and stream.take_change() is None
    stream.watch = Guard([])  # of another model
    assert stream.take_change() is None


def test_experts_are_told_for_how_long_nothing_was_measured():
    (stream, _), told, every = make(delay=2), [], 10_000_000  # [ns] between joint states
    stream.estimator = stream.predictor = experts = Experts(3)
    for k in range(100):
        experts.now, experts.nothing_measured = k, lambda seconds, k=k: told.append((k, seconds))
        stream.joint_state(START + k * every, JOINTS, *motion(k)[:2])
        if k < 30 or k >= 80:
            stream.measurement(START + k * every, [k, 0, 0])
            stream.pair()
    np.testing.assert_allclose(told, [(k, (k - 29) * 0.01) for k in range(50, 81)], rtol=1e-9)
    for k in range(69):  # the clock is set back, as fifty stamps in a row show; no measurement comes
        with suppress(SampleError):
            stream.joint_state(START // 2 + k * every, JOINTS, *motion(k)[:2])
    assert told[31:] == []


@pytest.mark.parametrize("every", [4, 7])  # [ms]
def test_at_1_khz_motions_are_settled_and_experts_judged_every_few_ms(every):
    stream, _ = make(delay=2)
    stream.settling_period = {4: SETTLED, 7: 2 * SETTLED}[every]
    stream.estimator = stream.predictor = experts = Experts(3)
    for k in range(30):
        experts.now, stamp = k, START + k * 1_000_000
        stream.joint_state(stamp, JOINTS, *motion(k)[:2])
        stream.measurement(stamp, [k, 0, 0])
        assert len(stream.pair()) == 1
    assert experts.anew == list(range(0, 30, every)) and [event[1] for event in experts.events] == experts.anew
    assert [event[3] for event in experts.events[1:]] == pytest.approx([every * 1e-3] * (29 // every))


def test_switched_off_it_predicts_but_does_not_learn():
    stream, recorder = make()
    stream.learning = False
    for k in range(20):
        cycle(stream, k)
    assert stream.learn() == 0 and not recorder.learned


def test_memory_is_bounded_when_one_side_is_silent():
    """Measurements from before the first joint state are not refused: topics begin one by one."""
    stream, _ = make()
    stream.motions.smoothed = list  # no motion is ever smoothed
    for k in range(3 * REMEMBERED_STATES):
        send(stream, k)
        stream.learn()
    assert stream.counts.unpaired == REMEMBERED_STATES
    stream, _ = make()
    for begin in (0, 10**6):
        for k in range(3 * MOST_WAITING):
            stream.measurement(START + (begin + k) * PERIOD, [0, 0, 0])
            stream.pair()
        assert stream.waiting <= MOST_WAITING
        if not begin:
            assert not stream.counts.refused
            for k in range(3 * REMEMBERED_STATES):
                send(stream, 10**4 + k)
                stream.pair()
                stream.learn()
            assert stream.counts.predicted - stream.counts.unpaired <= REMEMBERED_STATES + 5  # states still kept
            with pytest.raises(SampleError):  # by which measurements lack their states
                send(stream, 10**5, position=[np.nan, 0.0])
    assert stream.counts.refused == {"measurement_without_state": 2 * MOST_WAITING, "not_finite": 1}
    assert "not_finite" in stream.counts.last_refusal  # the cause, not what follows from it
