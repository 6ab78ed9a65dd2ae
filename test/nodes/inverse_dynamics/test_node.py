"""The inverse dynamics node as its users meet it: real messages, services and bad input."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from helpers.driven_arm import SETTINGS, Arm, drive, settle
from helpers.node_probe import PERIOD, START, NodeProbe
from helpers.robots import RIGHT_ARM, UR10_JOINTS
from rcl_interfaces.srv import GetParameters
from std_srvs.srv import SetBool, Trigger

from icub_learning.dynamics import SemiparametricEstimator, TorqueRegressor, assembly
from icub_learning.dynamics.motion.noise_levels import LAG, LONGEST_PERIOD
from icub_learning.dynamics.saved_model import estimator_of
from icub_learning.dynamics.settings import Settings
from icub_learning.models import read_model, write_model
from icub_learning.models.ledger import accounted
from icub_learning.nodes.common.conversions import stamp_to_ns
from icub_learning.nodes.inverse_dynamics import node as inverse_dynamics
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread
from icub_learning.robots import find_urdf
from icub_learning.view.live.source import weights_of
from icub_learning_msgs.srv import ModelFile

CHECKPOINT = LearningThread.checkpoint
WHILE_STOPPED = 400  # joint states, of two seconds


def stream_of(arm, ticks):
    """Return a stream like the node's, after samples `ticks` of an arm have passed through it."""
    settings = Settings(urdf=find_urdf("icub"), joints=tuple(RIGHT_ARM), estimator="parametric")
    robot = assembly.make_regressor(settings)
    stream = assembly.make_stream(settings, robot, assembly.make_estimator(settings, robot))
    for k in ticks:
        q, v, y = arm.sample(k)
        stream.joint_state(START + k * PERIOD, RIGHT_ARM, q, v)
        stream.measurement(START + k * PERIOD, y)
        stream.pair()
        stream.learn()
    return stream


def test_predicts_every_state_once_learns_and_keeps_what_it_learned(started, regressor, tmp_path):
    arm = Arm(regressor)
    with started(NodeProbe(RIGHT_ARM), **SETTINGS) as probe:
        said = probe.hear(DiagnosticArray, "/diagnostics")
        drive(probe, arm, range(399))
        settle(probe, 399)
        drive(probe, arm, [399])  # predicted with all that was learned
        settle(probe, 400)
        assert probe.stamps() == [START + k * PERIOD for k in range(400)]
        for kind in ("predicted", "parametric", "external", "deviation"):
            assert [stamp_to_ns(message.header.stamp) for message in probe.outputs[kind]] == probe.stamps()
            assert probe.outputs[kind][0].header.frame_id == "r_upper_arm"
        last = probe.predictions[-1]
        assert tuple(last.names) == regressor.output_names
        np.testing.assert_allclose(np.add(last.parametric, last.residual), last.total)
        # Each output is judged by its own deviation: forces are some newtons here, torques tenths of a newton metre.
        # Two seconds tell weight from offset well enough; zero or another output's prediction would fail.
        deviation = np.std([arm.sample(k)[2] for k in range(400)], axis=0)
        assert np.all(np.abs(last.total - arm.sample(399)[2]) < 0.15 * deviation)
        wrench = probe.outputs["predicted"][-1].wrench
        assert wrench.force.z == last.total[2] and wrench.torque.x == last.total[3]
        external = probe.outputs["external"][-1].wrench
        # It is measured minus predicted, by weights that no push moves: the stream's tests check it exactly.
        assert abs(external.force.z - (arm.sample(399)[2][2] - last.total[2])) < 2.0 * np.sqrt(last.variance[2])
        assert probe.outputs["deviation"][-1].wrench.force.z == pytest.approx(np.sqrt(last.variance[2]), rel=0.1)
        inertial = probe.inertial[-1]
        assert tuple(inertial.names) == regressor.parameter_names
        np.testing.assert_allclose(inertial.nominal, regressor.nominal_parameters)
        np.testing.assert_allclose(inertial.base_values, regressor.base_projection @ np.array(inertial.values))
        expected = stream_of(arm, range(400))
        learned, motion = expected.counts.learned, expected.motions.report()
        assert any(text in str(said) for text in (" Hz, learning at ", "latency p99", "answers come ever later"))
        assert 400 - LAG * LONGEST_PERIOD * 1e9 / PERIOD <= learned < 400  # the last ones wait for later motion
        assert int(probe.diagnostics["samples learned"]) == learned
        assert float(probe.diagnostics["rate of joint states [Hz]"]) == pytest.approx(1e9 / PERIOD, rel=0.01)
        assert float(probe.diagnostics["lag of smoothed motions [s]"]) == pytest.approx(motion["lag"], rel=0.01)
        shown = [float(value) for value in probe.diagnostics["bandwidth of joints [Hz]"].split()]
        np.testing.assert_allclose(shown, motion["bandwidth"], rtol=0.01)
        weights = weights_of(probe.diagnostics["weights of experts"])
        assert tuple(weights) == regressor.output_names
        assert all(sum(one[k] for k in ("P", "NP", "SP")) == pytest.approx(1.0, abs=0.02) for one in weights.values())
        assert probe.diagnostics["refused"] == "0"
        probe.obtain(ModelFile, "save_model", path=str(tmp_path / "arm"))
        assert probe.call(Trigger, "reset").success
        drive(probe, arm, [400])
        settle(probe, 401)
        assert np.abs(probe.predictions[-1].total).max() == 0.0
        assert probe.call(ModelFile, "load_model", path=str(tmp_path / "arm.npz")).success
        assert probe.call(SetBool, "set_learning", data=False).success
        assert not probe.call(GetParameters, "get_parameters", names=["learning"]).values[0].bool_value
        drive(probe, arm, range(401, 421))
        settle(probe, 421)
        ahead = np.abs(probe.predictions[-1].total - arm.sample(420)[2])  # a tenth of a second beyond what was learned
        assert np.all(ahead < 0.25 * deviation)
        assert int(probe.diagnostics["samples learned"]) == stream_of(arm, range(401)).counts.learned
        merged = probe.call(ModelFile, "merge_model", path=str(tmp_path / "arm.npz"))
        assert merged.message == f"merged 0 samples that are new; the model now holds {learned}"


ZEROS = [0.0] * 7


def test_bad_messages_are_refused_with_their_reason_and_the_stream_goes_on(started, regressor):
    arm = Arm(regressor)
    with started(NodeProbe(RIGHT_ARM), velocity_source="message", **SETTINGS) as probe:
        drive(probe, arm, range(50))
        now = START + 49 * PERIOD
        for stamp in (0, -2147483648 * 10**9, START, now):
            probe.state(stamp, position=ZEROS, velocity=ZEROS)
            probe.wrench(stamp, np.zeros(6))
        expected = dict.fromkeys(("stamp_zero", "stamp_negative", "stamp_backwards", "stamp_repeated"), 2)
        for reason, fields in (
            ("not_finite", {"position": [np.nan] * 7, "velocity": ZEROS}),
            ("velocity_missing", {"position": ZEROS}),  # velocity_source demands velocities
            ("array_size", {"position": ZEROS[:3], "velocity": ZEROS[:3]}),
            ("joint_names_missing", {"name": [], "position": [], "velocity": []}),
            ("joint_order", {"name": RIGHT_ARM[::-1], "position": ZEROS, "velocity": ZEROS}),
        ):
            probe.state(now + PERIOD, **fields)
            expected[reason] = 1
        probe.wrench(now + PERIOD // 2, [0, 0, np.nan, 0, 0, 0])
        expected["not_finite"] += 1
        probe.wrench(now + PERIOD, np.ones(6))  # without a state: it waits for a later one, then is refused
        expected["measurement_without_state"] = 1
        drive(probe, arm, range(51, 250))
        settle(probe, 249)
        ticks = (*range(50), *range(51, 250))
        assert probe.stamps() == [START + k * PERIOD for k in ticks]
        assert {reason: probe.refused(reason) for reason in expected} == expected
        assert int(probe.diagnostics["refused"]) == sum(expected.values())
        assert "measurement_without_state" in probe.diagnostics["last refusal"]
        learned = stream_of(arm, ticks).counts.learned
        assert learned > 100 and int(probe.diagnostics["samples learned"]) == learned


def test_what_arrives_while_the_node_is_not_let_run_is_predicted_afterwards(started, regressor, monkeypatch):
    monkeypatch.setattr("icub_learning.nodes.inverse_dynamics.report.LONGEST_SILENCE", 0.0)
    arm = Arm(regressor)
    with started(NodeProbe(RIGHT_ARM), **SETTINGS) as probe:
        said = probe.hear(DiagnosticArray, "/diagnostics")
        for k in range(WHILE_STOPPED):
            position, velocity, _ = arm.sample(k)
            probe.state(START + k * PERIOD, position=position, velocity=velocity)
        probe.until(lambda: len(probe.predictions) >= WHILE_STOPPED, "all predictions")
        assert probe.stamps() == [START + k * PERIOD for k in range(WHILE_STOPPED)]
        probe.until(lambda: "no wrench with a stamp near those of joint states comes on /wrench" in str(said))


def test_joint_torques_which_have_no_sensor_to_tare(started):
    arm = Arm(TorqueRegressor.from_urdf(find_urdf("ur10"), UR10_JOINTS))
    settings = SETTINGS | {"joints": list(UR10_JOINTS), "urdf": "ur10", "output": "joint_torque"}
    with started(NodeProbe(UR10_JOINTS, wrench=False), **settings) as probe:
        probe.declined("joint_torque", Trigger, "tare")

        def send(k, q, v, y):
            probe.state(START + k * PERIOD, position=q, velocity=v, effort=y)

        drive(probe, arm, range(299), send)
        settle(probe, 299)
        drive(probe, arm, [299], send)  # predicted with all that was learned
        settle(probe, 300)
        assert probe.stamps() == [START + k * PERIOD for k in range(300)]
        for kind in ("predicted", "parametric", "external", "deviation"):
            assert [stamp_to_ns(message.header.stamp) for message in probe.outputs[kind]] == probe.stamps()
            assert tuple(probe.outputs[kind][0].name) == UR10_JOINTS
        errors = [np.array(message.effort) for message in probe.outputs["external"]]
        assert np.abs(errors[-1]).max() < 0.05 * np.abs(errors[0]).max()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_when_the_learning_thread_dies_predictions_go_on_with_what_was_learned_before(started, regressor, monkeypatch):
    kept, update, arm = [], SemiparametricEstimator.update, Arm(regressor)
    monkeypatch.setattr(inverse_dynamics, "SUPERVISION_PERIOD", 0.05)
    monkeypatch.setattr(LearningThread, "checkpoint", lambda self: kept.append(CHECKPOINT(self)))

    def die(*_, **__):
        monkeypatch.setattr(SemiparametricEstimator, "update", update)
        raise SystemExit

    with started(NodeProbe(RIGHT_ARM), **SETTINGS) as probe:
        drive(probe, arm, range(1200))  # experts without forgetting know the motion by then: others are soon useless
        settle(probe, 1200)
        n_kept = len(kept)
        drive(probe, arm, range(1200, 1210))  # new samples for a checkpoint to keep
        probe.until(lambda: len(kept) > n_kept and kept[-1].done(), "a state that is kept")
        monkeypatch.setattr(SemiparametricEstimator, "update", die)
        said = probe.hear(DiagnosticArray, "/diagnostics")
        drive(probe, arm, range(1210, 1250))
        probe.until(lambda: "learning failed, 1 in" in str(said) and "thread had died" in str(said), "why")
        drive(probe, arm, range(1250, 1260))
        settle(probe, 1260)
        assert probe.stamps() == [START + k * PERIOD for k in range(1260)]
        deviation = np.std([arm.sample(k)[2] for k in range(400)], axis=0)
        for k in (*range(1225, 1250), 1259):
            assert np.all(np.abs(probe.predictions[k].total - arm.sample(k)[2]) < 0.15 * deviation)
        kept.clear()  # the kept states refer to the node


def test_tare_explains_a_jump_of_the_sensor_at_once(started, regressor, tmp_path):
    arm, jump = Arm(regressor), np.array([-70.0, 20.0, 10.0, 1.0, -0.5, 2.0])
    with started(NodeProbe(RIGHT_ARM), **SETTINGS) as probe:
        probe.declined("at least 5", Trigger, "tare")
        drive(probe, arm, range(300))
        settle(probe, 300)
        assert probe.call(SetBool, "set_learning", data=False).success
        probe.obtain(ModelFile, "save_model", path=str(tmp_path / "arm"))
        q, still = arm.sample(299)[0], np.zeros(7)
        shown = regressor(q, still, still) @ regressor.nominal_parameters + jump

        def hold(k, *_):
            probe.state(START + k * PERIOD, position=q, velocity=still)
            probe.wrench(START + k * PERIOD, shown)

        drive(probe, arm, range(300, 430), hold)
        settle(probe, 430)
        probe.spin(0.6)  # a tare uses the last half second, which must begin after the filter has settled
        for first in range(430, 1430, 20):  # a busy machine may need more than half a second for five of these
            drive(probe, arm, range(first, first + 20), hold)
            settle(probe, first + 20)
            if (answer := probe.call(Trigger, "tare")).success:
                break
        assert "force.x -" in answer.message
        drive(probe, arm, range(first + 20, first + 30), hold)
        settle(probe, first + 30)
        assert np.all(np.abs(probe.predictions[-1].total - shown) < 0.02 * np.abs(jump))
        state, header = read_model(tmp_path / "arm.npz")
        (pooled := estimator_of(state)).update(*np.zeros((3, 7)), np.zeros(6))  # a sample of another robot
        write_model(tmp_path / "fleet.npz", accounted(pooled), header)
        answer = probe.obtain(ModelFile, "load_model", path=str(tmp_path / "fleet.npz"))
        assert answer.message == f"loaded a model of {pooled.n_samples} samples; this robot's tare is kept"
