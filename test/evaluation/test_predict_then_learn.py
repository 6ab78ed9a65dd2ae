"""Evaluation over recordings: known answers, the estimators called by hand, and every refusal counted once."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from unittest.mock import Mock, call

import numpy as np
import pytest
from helpers.recordings import JOINTS, PERIOD_NS, rigid_recording

from icub_learning.dynamics import assembly
from icub_learning.dynamics.estimators.prediction import seconds_between
from icub_learning.dynamics.settings import Settings
from icub_learning.dynamics.stream.stream import FIRST_LOOK, answer_of
from icub_learning.errors import IcubLearningError
from icub_learning.evaluation.delayed import DelayedEstimator, is_due
from icub_learning.evaluation.metrics import nmse
from icub_learning.evaluation.predict_then_learn import ESTIMATORS, compare
from icub_learning.recording import JointStateEvent, Recording
from icub_learning.robots import find_urdf

SETTINGS = Settings(urdf=find_urdf("ur10"), joints=JOINTS, output="joint_torque", n_random_features=60)
ICUB_JOINTS = ("r_shoulder_pitch", "r_shoulder_roll", "r_elbow")
WRENCH_SETTINGS = Settings(urdf=find_urdf("icub"), joints=ICUB_JOINTS, n_random_features=60)


@cache  # one comparison of all estimators serves the tests of each of them
def compared(n, settings=SETTINGS, noise=0.5, n_test=0, **options):
    test = rigid_recording(n_test, seed=1) if n_test else None
    return compare(rigid_recording(n, noise), settings, "recorded", test=test, **options)


def test_parametric_finds_a_rigid_body():
    """With exact accelerations nothing is left to explain; with derived ones little."""
    settings = replace(SETTINGS, friction=False, parametric_regularization=1e-8)
    for derivatives, most in (("recorded", 1e-9), ("smoothed", 1e-6), ("causal", 1e-3)):
        found = compare(rigid_recording(800), settings, derivatives)["P"]
        assert (nmse(found.errors[560:], found.measured[560:]) < most).all()


def made_by_hand(short, settings):
    regressor = assembly.make_regressor(settings)
    return regressor, assembly.make_estimator(replace(settings, estimator=ESTIMATORS[short]), regressor)


def samples(recording):
    return list(zip(recording.position, recording.velocity, recording.acceleration, recording.effort, strict=True))


def settled(estimator, q, v, a):
    made = answer_of(estimator, q, v, a)
    made.settle()
    return made


@pytest.mark.parametrize("horizon", [0, 50], ids="{} samples ahead".format)
@pytest.mark.parametrize("short", ESTIMATORS)
def test_predict_then_learn_by_hand(short, horizon):
    """Each sample is predicted by an estimator that has judged and learned all samples the horizon older, no others.
    Where motions come with efforts, the stream also looks at the noise of the velocities."""
    recording = rigid_recording(300, noise=0.5)
    regressor, estimator = made_by_hand(short, SETTINGS)
    rows, stamps, made = samples(recording), recording.joint_stamps.tolist(), []
    for k, (q, v, a, _) in enumerate(rows):
        if (due := k - max(horizon, 1)) >= 0:
            if short != "P":
                estimator.judge(made[due], rows[due][3], seconds_between(stamps[due - 1] if due else None, stamps[due]))
            estimator.update(*rows[due], stamp=stamps[due], published=made[due])
        if short != "P":
            estimator.nothing_measured(horizon * PERIOD_NS * 1e-9)
        made.append(settled(estimator, q, v, a))
        if len(made) == FIRST_LOOK:
            regressor.follow_velocity_noise(np.zeros(3))
    result = compared(300, horizon=horizon * PERIOD_NS * 1e-9)[short]
    np.testing.assert_array_equal(result.predicted, [prediction.total for prediction in made])
    np.testing.assert_equal((result.measured, result.stamps), (recording.effort, recording.joint_stamps))
    np.testing.assert_array_equal(result.held, np.r_[np.full((max(horizon, 1), 3), np.nan), recording.effort][:300])
    for seconds in (result.predict_seconds, result.learn_seconds):  # 60 s only tell seconds from nanoseconds
        assert len(seconds) == result.n_learned == 300 and 0.0 < seconds.max() < 60.0


@pytest.mark.parametrize("short", ESTIMATORS)
def test_a_test_recording_is_predicted_with_learning_off(short):
    first, second = rigid_recording(300), rigid_recording(200, seed=1)
    settings = replace(SETTINGS, friction=False, parametric_regularization=1e-8)
    _, estimator = made_by_hand(short, settings)
    for row, stamp in zip(samples(first), first.joint_stamps.tolist(), strict=True):
        settled(estimator, *row[:3])
        estimator.update(*row, stamp=stamp)
    if short != "P":
        estimator.nothing_measured(np.inf)  # no measurement tells which experts are right
    result = compared(300, settings, 0.0, 200)[short]
    expected = [settled(estimator, *row[:3]).total for row in samples(second)]
    np.testing.assert_allclose(result.predicted, expected[3:], rtol=1e-9, atol=1e-9)  # but for the start
    assert result.n_learned == 0 and (short != "P" or (nmse(result.errors, result.measured) < 1e-6).all())


def test_refusals_are_counted_and_leave_the_rest():
    recording = rigid_recording(200)
    position, velocity, effort = (np.array(x) for x in (recording.position, recording.velocity, recording.effort))
    stamps = np.array(recording.joint_stamps)
    position[10, 1], velocity[20, 0], effort[30, 2] = np.nan, np.inf, np.nan  # without an effort nothing is learned
    stamps[40], stamps[41], stamps[50], stamps[60] = 0, -5, stamps[49], stamps[30]
    row, none, after = np.zeros(3), np.empty(0), int(recording.joint_stamps[100]) + 1
    others = [
        (("wrist", *JOINTS[1:]), row, row, row), (JOINTS[:2], *[row[:2]] * 3), (JOINTS[::-1], row, row, row),
        (JOINTS, row, none, row), (JOINTS, row[:2], row, row),
    ]  # fmt: skip
    irregular = [JointStateEvent(at, at, *fields) for at, fields in enumerate(others, after)]
    more = {"joint_arrivals": recording.joint_stamps, "irregular": tuple(irregular)}
    bad = Recording(JOINTS, stamps, position, velocity, effort, **more)
    for mode in ("causal", "smoothed"):
        result = compare(bad, replace(SETTINGS, velocity_source="message"), mode)["P"]
        assert result.refused == {
            "not_finite": 3, "stamp_zero": 1, "stamp_negative": 1, "stamp_repeated": 1, "stamp_backwards": 1,
            "joint_name_unknown": 1, "joint_names_missing": 1, "joint_order": 1, "velocity_missing": 1, "array_size": 1,
        }  # fmt: skip
        # All but the 11 refused joint states are predicted, that of a refused effort too.
        assert result.n_joint_states == result.n_predicted + 11 == 205
        assert len(result.stamps) == result.n_predicted - 1 and np.isfinite(result.predicted).all()


def wrench_recording(n: int = 100, offset_ns: int = 0, every: int = 1) -> Recording:
    """Return joint states of a rigid arm, and a wrench `offset_ns` after every `every`-th of them."""
    arm = rigid_recording(n)
    stamps, wrench = arm.joint_stamps[::every] + offset_ns, np.arange(6.0) + np.sin(arm.position[::every, :1])
    return replace(arm, joint_names=ICUB_JOINTS, effort=None, acceleration=None, wrench_stamps=stamps, wrench=wrench)


def test_wrenches_are_compared_with_the_prediction_of_their_instant_or_refused():
    recording = wrench_recording(offset_ns=1_000_000, every=4)
    result = compare(recording, WRENCH_SETTINGS)["SP"]
    np.testing.assert_equal((result.stamps, result.measured), (recording.joint_stamps[::4], recording.wrench))
    assert result.n_unpaired == 75
    assert result.output_names == ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")
    result = compare(wrench_recording(offset_ns=4_000_000), WRENCH_SETTINGS)["P"]
    assert result.refused["measurement_without_state"] == 99  # the last wrench still waits
    assert len(result.stamps) == result.n_learned == 0


def test_what_is_missing_is_named():
    recording = rigid_recording(20)
    broken = np.where(np.arange(20)[:, None] == 5, np.nan, recording.acceleration)
    wrists = tuple(f"wrist_{number}_joint" for number in (1, 2, 3))
    for changes, settings, derivatives, text in (
        ({}, WRENCH_SETTINGS, "causal", "no wrench"), ({"effort": None}, SETTINGS, "causal", "no efforts"),
        ({"acceleration": None}, SETTINGS, "recorded", "holds no acceleration: "),
        ({"acceleration": broken}, SETTINGS, "recorded", "no motion is known"),
        ({}, SETTINGS, "guessed", "derivatives"),
        ({"joint_names": wrists}, SETTINGS, "causal", r"none of 20 .* was accepted \(joint_names_missing 20\)"),
        ({}, replace(SETTINGS, joints=("no_such_joint",)), "causal", "no_such_joint"),
    ):  # fmt: skip
        with pytest.raises(IcubLearningError, match=text):
            compare(replace(recording, **changes), settings, derivatives)


@pytest.mark.parametrize("delay", [100.0, np.inf])
def test_verdicts_and_samples_wait_for_the_delay_the_end_or_a_clock_set_back(delay):
    for stamp, due in ((899, True), (900, True), (901, False), (1100, False), (1101, True)):
        assert is_due(stamp, now=1000, delay=100.0) is due
    delayed, silences = DelayedEstimator(called := Mock(), delay), list[float]()
    called.nothing_measured = silences.append
    delayed.advance(1000)
    delayed.judge("prediction", "measured", 0.5)
    delayed.hold()
    delayed.change(1000, 7.0)
    delayed.teach(SimpleNamespace(motion=SimpleNamespace(stamp=1001), teach=called.learn))
    delayed.advance(1099)
    assert called.mock_calls == []
    delayed.advance(1100)
    verdicts = [call.judge("prediction", "measured", 0.5), call.hold()] if delay < np.inf else []
    changed = call.body_changed(7.0)
    assert called.mock_calls == (verdicts and [*verdicts, changed])
    delayed.finish()
    assert called.mock_calls == [*verdicts, changed, call.learn(called)] and silences == 3 * [1e-9 * delay]
    assert delayed.predict(1, 2, 3) is called.predict.return_value
    assert delayed.undisturbed("prediction") is called.undisturbed.return_value
