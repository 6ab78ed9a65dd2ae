"""Loads, contacts and trajectories as users of the node meet them: real messages and services."""

from unittest.mock import Mock, patch

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import InertiaStamped
from helpers.driven_arm import SETTINGS, Arm, drive, settle
from helpers.node_probe import LATCHED, PERIOD, START, NodeProbe
from helpers.robots import PANDA_JOINTS, RIGHT_ARM
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from icub_learning.dynamics import TorqueRegressor
from icub_learning.dynamics.control import FeedForward
from icub_learning.dynamics.regressors.link_effects import LinkEffects
from icub_learning.errors import SampleError
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread
from icub_learning.nodes.inverse_dynamics.report import NO_CLOCK, DynamicsReport
from icub_learning.robots import find_urdf
from icub_learning_msgs.srv import IdentifyPayload, ModelFile, PredictTrajectory

HAND = "r_hand_dh_frame"
LOAD = np.array([0.5, 0.0, 0.01, 0.02, 1e-3, 0.0, 1e-3, 0.0, 0.0, 1e-3])  # inertial parameters of the load
USUAL, CARRIED, RELEASED = 2300, 600, 200  # samples: the usual errors are known after 10 s


class Carrying(Arm):
    """An arm that may carry LOAD, with a little noise."""

    def __init__(self, regressor):
        super().__init__(regressor)
        self._effects, self._rng, self.load = LinkEffects(regressor, HAND), np.random.default_rng(0), np.zeros(10)

    def sample(self, k):
        q, v, y = super().sample(k)
        t, w = k * PERIOD * 1e-9, self._frequency
        added = self._effects.load(q, v, -0.4 * w**2 * np.sin(w * t)) @ self.load
        return q, v, y + added + self._rng.standard_normal(6) * [0.1, 0.1, 0.1, 0.003, 0.003, 0.003]


def test_payload_is_published_identified_and_released(started, regressor):
    arm = Carrying(regressor)
    with started(NodeProbe(RIGHT_ARM), **SETTINGS, load_link=HAND, estimator="parametric") as probe:
        payloads = probe.hear(InertiaStamped, "/inverse_dynamics/payload", LATCHED)
        contacts = probe.hear(Bool, "/inverse_dynamics/contact", LATCHED)
        drive(probe, arm, range(USUAL))
        settle(probe, USUAL)
        probe.declined("nothing is carried", IdentifyPayload, "identify_payload", timeout=0.1)
        arm.load = LOAD
        drive(probe, arm, range(USUAL, USUAL + CARRIED))
        settle(probe, USUAL + CARRIED)
        answer = probe.obtain(IdentifyPayload, "identify_payload", timeout=0.1)
        assert answer.frame_id == HAND and answer.mass == pytest.approx(0.5, abs=0.05)
        np.testing.assert_allclose(answer.centre, [0.0, 0.02, 0.04], atol=0.02)
        assert not probe.call(IdentifyPayload, "identify_payload", timeout=0.1, mass_deviation=1e-6).success
        probe.declined("hand is not free: load; put down", Trigger, "tare")
        probe.declined("hand is not free: load; put down", ModelFile, "load_model", path="settled")
        probe.until(lambda: payloads and payloads[-1].inertia.m > 0.4, "the payload")
        assert payloads[-1].header.frame_id == HAND and payloads[-1].inertia.ixx > 0.0
        arm.load = np.zeros(10)
        drive(probe, arm, range(USUAL + CARRIED, USUAL + CARRIED + RELEASED))
        probe.until(lambda: payloads[-1].inertia.m == 0.0, "no payload")
        probe.until(lambda: contacts and not contacts[-1].data, "no contact")
        probe.until(lambda: probe.inertial and len(probe.inertial[-1].consistent_values), "inertial parameters")
        assert len(probe.inertial[-1].consistent_values) == regressor.n_parameters
        for reading, n in ((3.0, 150), (50.0, 20)):  # a frozen sensor, found after 100 samples
            begun = len(probe.predictions)
            with patch.object(arm, "sample", lambda k, y=reading: (*Arm.sample(arm, k)[:2], np.full(6, y))):
                drive(probe, arm, range(begun, begun + n))
            settle(probe, begun + n)
            assert [contacts[-1].data, "sensor_frozen: predicted" in probe.message] == [n < 100, n > 100]
        assert len(contacts) > 4 and "; the contact counts as part of" in probe.obtain(Trigger, "reset").message


def test_trajectory_gets_efforts(started):
    joints = PANDA_JOINTS[:7]
    regressor = TorqueRegressor.from_urdf(find_urdf("panda"), joints)
    settings = {**SETTINGS, "joints": list(joints), "urdf": "panda", "output": "joint_torque", "prior": "nominal"}
    points = [JointTrajectoryPoint(positions=[0.1 * i] * 7, time_from_start=Duration(sec=i)) for i in range(3)]
    with (
        patch.object(FeedForward, "effort", autospec=True, side_effect=FeedForward.effort) as effort,
        started(NodeProbe(joints, wrench=False), **settings, estimator="parametric") as probe,
    ):
        node, waits = probe.under_test._node, property(lambda _: 2)  # at the first report perhaps not for long
        with patch.object(LearningThread, "waiting", waits), patch.object(node, "_report", DynamicsReport(node, {})):
            assert [node._statuses()[0].level for _ in range(2)] == [b"\3", b"\2"]  # stale, error
            node._stream.learning = False  # then nothing has to be learned
            assert node._statuses()[0].level == b"\3"
        node._stream.learning = True
        gravity = probe.hear(JointState, "/inverse_dynamics/gravity_effort")
        probe.state(START, position=np.full(7, 0.1), velocity=np.zeros(7), effort=np.zeros(7))
        with patch.object(node, "get_clock", lambda: Mock(now=Time)):  # 0: simulated, and no /clock
            probe.until(lambda: gravity, "efforts against gravity")
            assert (node._statuses()[0].level, node._statuses()[0].message) == (b"\1", NO_CLOCK)
            with patch.object(node, "_by_arrival", True), pytest.raises(SampleError, match="no /clock yet"):
                node._stamp(START)
        assert len(node._report.cycle.latency.values()) == 1 and not len(node._report.cycle.age.values())
        wanted = JointTrajectory(joint_names=joints[::-1], points=points)
        answer = probe.call(PredictTrajectory, "predict_trajectory", trajectory=wanted)
        assert answer.success and len(answer.trajectory.points) == 3 and len(answer.std) == 21, answer.message
        asked = {call.kwargs.get("ahead") for call in effort.mock_calls}  # each point for its time, gravity for any
        assert asked == {0.0, 1.0, 2.0, np.inf}
        for place, shown in ((0.0, answer.trajectory.points[0].effort[::-1]), (0.1, gravity[0].effort)):
            still = regressor(np.full(7, place), np.zeros(7), np.zeros(7)) @ regressor.nominal_parameters
            assert shown[1] == pytest.approx(still[1], abs=2.0)
        seen, long = len(probe.predictions), JointTrajectory(joint_names=joints)
        for i in range(3000):
            long.points.append(JointTrajectoryPoint(positions=[1e-4 * i] * 7, time_from_start=Duration(sec=i)))
        pending = probe.services.ask(PredictTrajectory, "/inverse_dynamics/predict_trajectory", trajectory=long)
        for k in range(1, 4):  # joint states are answered before all of its points
            probe.state(START + k * PERIOD, position=np.full(7, 0.1), velocity=np.zeros(7), effort=np.zeros(7))
        probe.until(lambda: len(probe.predictions) == seen + 3, "predictions")
        assert not pending.done()
        probe.until(pending.done, "the trajectory")
        assert len(pending.result().std) == 7 * 3000
        points[1].time_from_start, odd = Duration(nanosec=1001), f"points[1].positions of {joints[5]} is nan, but must"
        for n, place, told in ((0, 1e4, "no points"), (2, 1e4, "points[0] at 0 s: a is "), (2, np.nan, odd)):
            points[1].positions, wanted.points = [0.1, *[place] * 6], points[:n]
            probe.declined(told, PredictTrajectory, "predict_trajectory", trajectory=wanted)
        assert "body: watch is 'wrench', and the outputs are torques; set watch: always" in probe.under_test.output
        wanted.joint_names = ["elbow"]
        probe.declined("elbow", PredictTrajectory, "predict_trajectory", trajectory=wanted)
