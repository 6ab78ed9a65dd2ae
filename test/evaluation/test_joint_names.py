"""Which names of a recording are which joints of a URDF."""

import pytest

from icub_learning.errors import RecordingError
from icub_learning.evaluation.joint_names import match_joints


@pytest.mark.parametrize(
    ("recorded", "known", "wanted", "prefixes", "joints", "others"),
    [
        (["a", "b"], ["b", "a", "c"], [], ("", ""), ("a", "b"), ()),
        (["ns/a_1", "ns/a_2", "ns/finger"], ["a_1", "a_2"], [], ("ns/", ""), ("a_1", "a_2"), ("finger",)),
        (["joint1", "joint2"], ["arm_joint1", "arm_joint2"], [], ("", "arm_"), ("arm_joint1", "arm_joint2"), ()),
        (["fr3_joint1", "fr3_joint2"], ["panda_joint1", "panda_joint2"], ["panda_joint2"],
         ("fr3_", "panda_"), ("panda_joint2",), ()),
        (["elbow", "wrist"], ["l_elbow", "l_wrist", "r_elbow", "r_wrist"], ["r_elbow"], ("", "r_"), ("r_elbow",), ()),
        (["a", "tool"], ["a", "x_tool"], [], ("", ""), ("a",), ("tool",)),
    ],
)  # fmt: skip
def test_matches(recorded, known, wanted, prefixes, joints, others):
    match = match_joints(recorded, known, wanted)
    assert (match.remove, match.add) == prefixes and match.joints == joints
    assert [name for name in match.others if name in others] == list(others)
    assert bool(match.text) == any(prefixes)


def test_several_matches_and_none_are_refused():
    with pytest.raises(RecordingError, match="several ways"):
        match_joints(["elbow", "wrist"], ["l_elbow", "l_wrist", "r_elbow", "r_wrist"])
    with pytest.raises(RecordingError, match="no joint"):
        match_joints(["joint1", "joint2"], ["a1", "a2"])
