"""Which names of a recording are which joints of a URDF."""

import pytest

from icub_learning.errors import RecordingError
from icub_learning.evaluation.joint_names import match_joints


@pytest.mark.parametrize(("recorded", "known", "wanted", "prefixes", "joints", "others", "text"), [
    (["a", "b"], ["b", "a", "c"], [], ("", ""), ("a", "b"), (), ""),
    (["ns/a_1", "ns/a_2", "ns/finger"], ["a_1", "a_2"], [], ("ns/", ""), ("a_1", "a_2"), ("finger",),
     "joints have the prefix 'ns/' in the recording only"),
    (["joint1", "joint2"], ["arm_joint1", "arm_joint2"], [], ("", "arm_"), ("arm_joint1", "arm_joint2"), (),
     "joints have the prefix 'arm_' in the URDF only"),
    (["fr3_joint1", "fr3_joint2"], ["panda_joint1", "panda_joint2"], ["panda_joint2"], ("fr3_", "panda_"),
     ("panda_joint2",), (), "joints are called fr3_* in the recording and panda_* in the URDF"),
    (["elbow", "wrist"], ["l_elbow", "l_wrist", "r_elbow", "r_wrist"], ["r_elbow"], ("", "r_"), ("r_elbow",), (),
     "joints have the prefix 'r_' in the URDF only"),
    (["a", "tool"], ["a", "x_tool"], [], ("", ""), ("a",), ("tool",), ""),
    (["a"], ["b"], ["x"], ("", ""), ("x",), ("a",), ""),  # whoever reads the URDF says that it lacks x
])  # fmt: skip
def test_matches(recorded, known, wanted, prefixes, joints, others, text):
    match = match_joints(recorded, known, wanted)
    assert (match.remove, match.add, match.joints, match.others, match.text) == (*prefixes, joints, others, text)


def test_several_matches_and_none_are_refused():
    with pytest.raises(RecordingError, match=r"several ways: \* as l_\* or \* as r_\*; name the URDF's joints"):
        match_joints(["elbow", "wrist"], ["l_elbow", "l_wrist", "r_elbow", "r_wrist"])
    with pytest.raises(RecordingError, match=r"no joint of the recording \(joint1, joint2\) is in the URDF \(a1, a2\)"):
        match_joints(["joint1", "joint2"], ["a1", "a2"])
