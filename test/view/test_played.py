"""A recording as a state at any time: postures and curves are those of the recording."""

import numpy as np
import pytest
from helpers.recordings import JOINTS, rigid_recording

from icub_learning.errors import RecordingError
from icub_learning.evaluation.predict_then_learn import Evaluation
from icub_learning.recording import Recording
from icub_learning.view.played import RecordedSource
from icub_learning.view.shown.state import SPAN


def test_posture_and_measurements_follow_the_slider():
    recording = rigid_recording(2000)
    source = RecordedSource(recording, "")
    assert source.duration == pytest.approx(1999 * 0.008)
    for seconds in (0.0, 3.2, 15.9, 1.0):
        state = source.at(seconds)
        row = int(np.floor(seconds / 0.008 + 1e-9))
        assert state.joints == pytest.approx(dict(zip(JOINTS, recording.position[row], strict=True)))
        (learner,) = state.learners.values()
        assert learner.outputs == JOINTS
        curves = learner.curves
        assert len(curves) and curves.seconds[-1] <= seconds and curves.seconds[0] >= seconds - SPAN
        place = np.searchsorted(recording.joint_stamps, recording.joint_stamps[0] + np.rint(curves.seconds * 1e9))
        np.testing.assert_allclose(curves.measured, recording.effort[place])


def test_predictions_come_beside_the_measurements():
    recording = rigid_recording(500)
    measured, n = recording.effort, len(recording.effort)
    made = {
        short: Evaluation(
            JOINTS, recording.joint_stamps, measured + error, measured, measured, measured, np.full((n, 3), 0.25),
            **dict.fromkeys(("predict_seconds", "learn_seconds"), np.zeros(1)),
            **dict.fromkeys(("n_joint_states", "n_predicted", "n_learned", "n_unpaired"), n),
            refused=None, last_refusal="",
        )
        for short, error in (("P", 0.5), ("SP", 0.1))
    }  # fmt: skip
    state = RecordedSource(recording, "", made).at(3.9)
    assert [one.short for one in state.learners.values()] == ["P", "SP"]
    for learner, error in zip(state.learners.values(), (0.5, 0.1), strict=True):
        assert learner.curves.rmse(slice(0, 3)) == pytest.approx(error)
        np.testing.assert_allclose(learner.curves.deviation, 0.5)


def test_a_recording_without_joint_states_is_refused():
    nothing = Recording(joint_names=("a",), joint_stamps=np.zeros(0, dtype=np.int64), position=np.zeros((0, 1)))
    with pytest.raises(RecordingError, match="no joint states"):
        RecordedSource(nothing, "")
