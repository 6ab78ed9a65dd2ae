"""Published messages taken as bytes: stamps, thinning, losses; predictions beside what was measured at their time."""

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from icub_learning.nodes.common.conversions import set_stamp, set_wrench
from icub_learning.nodes.common.qos import DEEP, DEEP_BEST_EFFORT, STATE
from icub_learning.recording.recording import AXES
from icub_learning.view.live.topics import STEP, LearnerTopics, RawTopic, efforts, masses_of, sampled
from icub_learning_msgs.msg import DynamicsPrediction, InertialParameters

START = 1_700_000_000 * 10**9  # [ns]
PERIOD = 5_000_000  # [ns]


def wrench(stamp: int, *values: float) -> WrenchStamped:
    message = WrenchStamped()
    set_stamp(message.header.stamp, stamp)
    set_wrench(message.wrench, np.array(values))
    return message


def test_missing_messages_are_counted_and_the_nearest_one_is_found(beside):
    topic = RawTopic(beside.polled, WrenchStamped, "wrench", DEEP_BEST_EFFORT)
    publisher = beside.robot.create_publisher(WrenchStamped, "wrench", DEEP)
    beside.connected(publisher)
    gone = {230, 240, 241}
    pause = 20 * 10**9  # [ns]; longer than what counts as a loss
    stamps = [START + n * PERIOD + pause * (n >= 260) for n in range(270) if n not in gone]
    came: list[int] = []
    for first in range(0, len(stamps), 50):
        for stamp in stamps[first : first + 50]:
            publisher.publish(wrench(stamp, float(stamp - START), *np.zeros(5)))
        end = min(first + 50, len(stamps))
        beside.until(lambda end=end: len(came) == end, "wrenches", lambda: came.extend(one[0] for one in topic.take()))
        assert (topic.lost is None) == (end <= 200)  # None while its period is not known yet
    assert came == stamps and topic.lost == len(gone)
    assert topic.decode(topic.nearest(stamps[100] + PERIOD // 3, PERIOD)).wrench.force.x == stamps[100] - START
    assert topic.nearest(START - 10 * PERIOD, PERIOD) is None
    topic.close()


def parameters() -> InertialParameters:
    message = InertialParameters(names=["hand.m", "hand.mx", "arm.m"], n_samples=7)
    message.values, message.nominal = [0.4, 9.0, 1.5], [0.5, 9.0, 1.0]
    return message


def test_masses_go_by_names_of_parameters_efforts_by_joints_and_one_message_of_each_period_is_shown():
    messages = [(stamp, b"") for stamp in (0, 20, 40, 60, 99, 100, 110, 250)]
    assert [stamp for stamp, _ in sampled(messages, last=-1, period=50)] == [0, 60, 100, 250]
    assert [stamp for stamp, _ in sampled(messages, last=10, period=50)] == [60, 100, 250]
    back = [(500, b""), (20, b"")]  # a clock that was set back
    assert [stamp for stamp, _ in sampled(back, last=480, period=50)] == [500, 20]
    found = masses_of(parameters())
    assert (found.links, found.n_samples) == (("hand", "arm"), 7)
    np.testing.assert_array_equal([found.learned, found.nominal, found.possible], [[0.4, 1.5], [0.5, 1.0], [0.4, 1.5]])
    message, message.consistent_values = parameters(), [0.45, 9.0, 1.4]
    np.testing.assert_array_equal(masses_of(message).possible, [0.45, 1.4])
    message = JointState(name=["a", "b", "c"], effort=[1.0, 2.0, 3.0])
    np.testing.assert_array_equal(efforts(message, ("c", "a")), [3.0, 1.0])
    assert efforts(message, ("a", "d")) is None
    assert efforts(JointState(name=["a"]), ("a",)) is None  # no effort is measured


def predicted(stamp: int, value: float) -> DynamicsPrediction:
    message, message.header.frame_id = DynamicsPrediction(names=list(AXES)), "sensor"
    set_stamp(message.header.stamp, stamp)
    message.total, message.parametric = [value] * 6, [value / 2.0] * 6
    message.residual, message.variance = [value / 2.0] * 6, [0.25] * 6
    return message


def test_predictions_are_paired_with_what_was_measured_then(beside, monkeypatch):
    make = beside.robot.create_publisher
    predictions, measured = make(DynamicsPrediction, "~/prediction", DEEP), make(WrenchStamped, "wrench", DEEP)
    topics, blind = (LearnerTopics("/inverse_dynamics", beside.spun, beside.polled) for _ in range(2))
    wrenches = topics.wrenches = RawTopic(beside.polled, WrenchStamped, "wrench", DEEP_BEST_EFFORT)
    beside.connected(predictions, measured)
    # Published before the first prediction: kept until it comes.
    make(InertialParameters, "~/inertial_parameters", STATE).publish(parameters())
    shown = [0, 1, 2, 4, 5]  # nothing was measured near prediction 3
    for n in shown:
        measured.publish(wrench(START + n * STEP + 2_000_000, *(np.arange(6.0) + 10.0 * n)))
    measured.publish(wrench(START + 6 * STEP + 2_000_000, np.nan, *np.zeros(5)))  # a node refuses it
    predictions.publish(b"\x00\x01\x00\x00" + bytes(range(40, 60)))  # no prediction: it is left out
    for n in range(6):
        predictions.publish(predicted(START + n * STEP, float(n)))
    them = wrenches, topics, blind
    beside.until(lambda: topics.learner and len(topics.learner.curves) == 5, "points", lambda: [x.take() for x in them])
    assert not len(blind.learner.curves)  # nothing is measured for it
    blind.close()
    learner = topics.learner
    assert (learner.name, learner.frame, learner.is_wrench) == ("/inverse_dynamics", "sensor", True)
    np.testing.assert_allclose(learner.curves.seconds, [n * STEP * 1e-9 for n in shown])
    np.testing.assert_array_equal(learner.curves.predicted[:, 2], shown)
    np.testing.assert_array_equal(learner.curves.parametric[:, 2], np.array(shown) / 2.0)
    np.testing.assert_array_equal(learner.curves.measured[:, 2], [10.0 * n + 2.0 for n in shown])
    np.testing.assert_array_equal(learner.curves.deviation, 0.5)
    few = make(InertialParameters, "/few/inertial_parameters", STATE)
    few.publish(InertialParameters(names=["a.m", "b.m"], values=[1.0]))  # fewer values than names: it is ignored
    other = LearnerTopics("/few", beside.spun, beside.polled)
    beside.connected(few)
    make(Bool, "~/contact", STATE).publish(Bool(data=True))
    payload = InertiaStamped()
    payload.header.frame_id, payload.inertia.m, payload.inertia.com.z = "hand", 0.7, 0.1
    make(InertiaStamped, "~/payload", STATE).publish(payload)
    beside.until(lambda: learner.contact and learner.load is not None and learner.masses is not None, "load, contact")
    assert (learner.load.mass, learner.load.link, learner.load.centre[2]) == (0.7, "hand", 0.1)
    topics.take()
    assert learner.alive
    monkeypatch.setattr("icub_learning.view.live.topics.SILENT", 0.0)
    topics.take()
    assert not learner.alive and not other._early
    topics.close()
