"""Names of joints in the messages against those of the URDF."""

from icub_learning.errors import RecordingError
from icub_learning.evaluation.joint_names import match_joints
from icub_learning.evaluation.robot_check.observation import OPEN, RIGHT, WRONG, Finding, Observation, listed


def check_names(seen: Observation) -> list[Finding]:
    """Compare the names of the joints with the URDF's, prefixes apart."""
    names, known = seen.recording.joint_names, seen.urdf_joints
    urdf = seen.robot
    try:
        match = match_joints(names, known)
    except RecordingError:
        text = f"the messages' joints ({listed(names)}) are not those of {urdf} ({listed(known)})"
        return [
            Finding("names", WRONG, text, "give the URDF of this robot (--urdf), or another topic (--joint-states)")
        ]
    if match.text:
        where = "the messages" if match.remove else urdf
        prefix = f"{match.remove!r} in the messages and {match.add!r} in {urdf}"
        if not (match.remove and match.add):
            prefix = f"{match.remove or match.add!r} in {where} only"
        remedy = "use a URDF made with the same prefix (xacro's prefix argument, or the topic robot_description)"
        text = f"names of joints have the prefix {prefix}"
        return [Finding("prefix", WRONG, text, remedy, _settings(match.joints, ()), match.applied(seen.recording))]
    text = f"{len(match.joints)} joints of the messages are in {urdf}: {listed(match.joints)}"
    found = [Finding("names", RIGHT, text, settings=_settings(match.joints, match.others))]
    if match.others:
        text = f"{urdf} lacks {listed(match.others)}: they are not learned"
        found.append(Finding("extra_joints", OPEN, text))
    return found


def _settings(joints: tuple[str, ...], others: tuple[str, ...]) -> dict[str, object]:
    return {"joints": joints, **({"extra_joints": others} if others else {})}
