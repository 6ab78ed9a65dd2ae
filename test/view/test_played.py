"""A recording as a state at any time: postures and curves are those of the recording."""

from dataclasses import fields, replace

import numpy as np
import pytest
from helpers.recordings import JOINTS, rigid_recording

from icub_learning.errors import RecordingError
from icub_learning.evaluation.predict_then_learn import Evaluation
from icub_learning.recording import Recording
from icub_learning.recording.recording import AXES
from icub_learning.view.played import RecordedSource
from icub_learning.view.shown.state import SPAN


def test_posture_and_measurements_follow_the_slider():
    recording = rigid_recording(2000)
    source = RecordedSource(recording, "")
    assert source.duration == pytest.approx(1999 * 0.008)
    for seconds, row in ((0.0, 0), (3.2, 400), (15.9, 1987), (1.0, 125)):
        state = source.at(seconds)
        assert state.joints == pytest.approx(dict(zip(JOINTS, recording.position[row], strict=True)))
        (learner,) = state.learners.values()
        assert learner.outputs == JOINTS
        curves = learner.curves
        assert len(curves) and curves.seconds[-1] <= seconds and curves.seconds[0] >= seconds - SPAN
        place = np.searchsorted(recording.joint_stamps, recording.joint_stamps[0] + np.rint(curves.seconds * 1e9))
        np.testing.assert_allclose(curves.measured, recording.effort[place])


def test_predictions_come_beside_the_measurements_but_not_without_joint_states():
    recording = rigid_recording(500)
    effort = recording.effort
    given = dict.fromkeys(one.name for one in fields(Evaluation)) | {"output_names": JOINTS, "measured": effort}
    given |= {"stamps": recording.joint_stamps, "parametric": effort, "variance": np.full_like(effort, 0.25)}
    wrong = {"P": 0.5, "SP": 0.1}
    made = {short: Evaluation(**given | {"predicted": effort + error}) for short, error in wrong.items()}
    state = RecordedSource(recording, "", made).at(3.9)
    assert [one.short for one in state.learners.values()] == ["P", "SP"]
    for learner, error in zip(state.learners.values(), wrong.values(), strict=True):
        assert learner.curves.rmse(slice(0, 3)) == pytest.approx(error)
        np.testing.assert_allclose(learner.curves.deviation, 0.5)
    stamps, wrench = recording.joint_stamps[::2], np.arange(1500.0).reshape(250, 6)
    loaded = replace(recording, wrench_stamps=stamps, wrench=wrench, wrench_frame="hand")
    (learner,) = RecordedSource(loaded, "").at(3.9).learners.values()
    assert (learner.name, learner.outputs, learner.frame) == ("/wrench", AXES, "hand")
    assert learner.curves.measured.tolist() == wrench[np.rint(learner.curves.seconds / 0.016).astype(int)].tolist()
    assert RecordedSource(replace(recording, effort=None), "").at(3.9).learners == {}
    nothing = Recording(joint_names=("a",), joint_stamps=np.zeros(0, dtype=np.int64), position=np.zeros((0, 1)))
    with pytest.raises(RecordingError, match="no joint states"):
        RecordedSource(nothing, "", made)
