"""Checks of senders and of the contents of messages: QoS, numbers, arrays, names of joints."""

from dataclasses import replace

import numpy as np

from icub_learning.dynamics.motion.joint_states import LARGEST, LARGEST_ANGLE, LARGEST_EFFORT
from icub_learning.errors import RecordingError
from icub_learning.evaluation.joint_names import match_joints
from icub_learning.evaluation.robot_check.observation import OPEN, RIGHT, WRONG, Finding, Observation, listed
from icub_learning.recording.recording import AXES
from icub_learning.robots import of_type

SHARE = 0.02  # share of joint states with other joint names, beyond which a second sender is likely
BOUNDS = {"position": LARGEST, "velocity": LARGEST, "effort": LARGEST_EFFORT, "wrench": LARGEST_EFFORT}  # the node's


def check_publishers(seen: Observation) -> list[Finding]:
    """Look for more than one sender on a topic: stamps and joints of two robots would be mixed."""
    if crowded := [topic for topic in seen.topics if len(topic.publishers) > 1]:
        text = "; ".join(f"{len(one.publishers)} nodes publish {one.name}: {listed(one.publishers)}" for one in crowded)
        remedy = "give each robot a topic or namespace of its own, or stop one of them"
        return [Finding("publishers", WRONG, text, remedy)]
    if seen.recording.mixed_frames:
        text = f"wrenches of several sensors share a topic: their frames are {', '.join(seen.recording.mixed_frames)}"
        return [Finding("publishers", WRONG, text, "give each sensor a topic of its own, and name one (--wrench)")]
    names, n = seen.recording.joint_names, seen.recording.n_joint_states
    others = [event for event in seen.recording.irregular if event.names and event.names != names]
    if len(others) > SHARE * max(n, 1):
        named = listed(others[0].names)
        if all(sorted(event.names) == sorted(names) for event in others):
            text = f"{len(others)} of {n} joint states hold the same joints in another order ({named})"
            return [Finding("joint_order", WRONG, text, "set joint_order: any, as below", {"joint_order": "any"})]
        rest = "the rest" if len(others) < n else "one another"
        text = f"{len(others)} of {n} joint states have other joints than {rest} ({named}): two senders share the topic"
        return [Finding("publishers", WRONG, text, "give each sender a topic of its own, and learn from one of them")]
    return [Finding("publishers", RIGHT, "one sender on each topic")]


def check_qos(seen: Observation) -> list[Finding]:
    """Look for subscriptions that ask for more than the publishers offer."""
    if not seen.topics:
        return [Finding("qos", OPEN, "a recording does not tell who subscribed with which QoS")]
    if unserved := [text for topic in seen.topics for text in topic.unserved]:
        remedy = "let the publisher offer reliable, volatile, or the subscription ask for best effort, volatile"
        return [Finding("qos", WRONG, f"receives nothing: {'; '.join(unserved)}", remedy)]
    return [Finding("qos", RIGHT, "QoS of publishers and subscriptions match")]


def check_numbers(seen: Observation) -> list[Finding]:
    """Look for NaN, infinity and numbers beyond the node's bounds, and for arrays that do not fit the list of names."""
    recording, found, bad = seen.recording, list[Finding](), dict[str, np.ndarray]()
    remedy = "correct the driver; the node refuses such messages"
    circular = of_type(seen.root.findall("joint"), ("continuous",))
    for name, largest in BOUNDS.items():
        if (values := getattr(recording, name)) is None:
            continue
        finite, size, n = np.isfinite(values), np.abs(values), len(values)
        turning = name == "position" and np.isin(recording.joint_names, circular)
        beyond, endless = finite & (size > np.where(turning, LARGEST_ANGLE, largest)), (~finite).any(axis=1)
        bad[name] = endless | beyond.any(axis=1)
        if endless.any():
            text = f"{name} holds NaN or infinity in {endless.sum()} of {n} messages"
            found.append(Finding("not_finite", WRONG, text, remedy))
        if many := beyond.any(axis=1).sum():
            which = np.array(AXES if name == "wrench" else recording.joint_names)[beyond.any(axis=0)].tolist()
            text = f"{name} of {listed(which)} is beyond {largest:g} in {many} of {n} messages"
            found.append(Finding("out_of_range", WRONG, f"{text}, up to {size[beyond].max():.3g}", remedy))
    arrays = ((len(event.names), map(len, event[3:])) for event in recording.irregular)
    if sizes := sum(not {*given} <= {0, n} for n, given in arrays):
        text = f"in {sizes} joint states an array is longer or shorter than the list of names"
        found.append(Finding("array_size", WRONG, text, remedy))
    if not found:
        return [Finding("numbers", RIGHT, "all numbers are finite, and all arrays fit the names")]
    if "velocity" in bad and bad["velocity"].mean() > 0.5:
        recording = replace(recording, velocity=None)  # such a driver has no velocities and sends NaN for them
        bad.pop("velocity")
    joint = ~np.any([rows for name, rows in bad.items() if name != "wrench"], axis=0)
    names = ("joint_stamps", "joint_arrivals", "position", "velocity", "effort", "acceleration")
    fields = {name: values[joint] for name in names if (values := getattr(recording, name)) is not None}
    if "wrench" in bad:
        kept = ~bad["wrench"]
        fields |= {name: getattr(recording, name)[kept] for name in ("wrench", "wrench_stamps", "wrench_arrivals")}
    found[0] = replace(found[0], corrected=replace(recording, **fields))
    return found


def check_outputs(seen: Observation) -> list[Finding]:
    """Look for outputs that can be learned: wrenches, or efforts."""
    effort = seen.recording.effort
    if seen.has_wrench and not seen.sensor:
        fixed = of_type(seen.root.findall("joint"), ("fixed",))
        text = "wrenches come, but which fixed joint of the URDF carries the sensor is not known"
        return [Finding("outputs", WRONG, text, f"name it by --sensor, one of: {listed(fixed) or 'none'}")]
    if seen.has_wrench:
        text = f"wrenches come beside the joint states, of the sensor {seen.sensor}"
        return [Finding("outputs", RIGHT, text, settings={"output": "wrench"})]
    if not len(seen.recording.position):
        return []  # all messages differ in their joints, which is said already
    if effort is None or not len(effort):
        text = "neither wrenches nor efforts come: there is nothing to learn"
        remedy = "name the topic of the wrenches (--wrench; --wrench-topic in a recording), or fill JointState.effort"
        return [Finding("outputs", WRONG, text, remedy)]
    return [Finding("outputs", RIGHT, "joint states carry efforts", settings={"output": "joint_torque"})]


def check_names(seen: Observation) -> list[Finding]:
    """Compare the names of the joints with the URDF's, which may differ by a prefix."""
    names, known, urdf = seen.recording.joint_names, seen.urdf_joints, seen.robot
    try:
        match = match_joints(names, known)
    except RecordingError:
        text = f"the messages' joints ({listed(names)}) are not those of {urdf} ({listed(known)})"
        remedy = "give the URDF of this robot (--urdf), or another topic (--joint-states)"
        return [Finding("names", WRONG, text, remedy)]
    if match.text:
        own = {"the messages": match.remove, urdf: match.add}
        prefix = " and ".join(f"{one!r} in {where}" for where, one in own.items() if one)
        remedy = "use a URDF made with the same prefix (xacro's prefix argument, or the topic robot_description)"
        text = f"names of joints have the prefix {prefix}{'' if all(own.values()) else ' only'}"
        return [Finding("prefix", WRONG, text, remedy, {"joints": match.joints}, match.applied(seen.recording))]
    silent = {name for name in known if name not in match.joints}
    mimic = silent & {joint.get("name", "") for joint in seen.root.findall("joint") if joint.find("mimic") is not None}
    text = f"{len(match.joints)} joints of the messages are in {urdf}: {listed(match.joints)}"
    for why, still in (("no message names them", silent - mimic), ("mimic joints not published are held at 0", mimic)):
        which = listed([name for name in known if name in still])
        text += f"; taken to stand still, since {why}: {which}" if which else ""
    found = [Finding("names", RIGHT, text, settings={"joints": match.joints})]
    if match.others:
        text = f"{urdf} lacks {listed(match.others)}: they are not learned"
        found.append(Finding("extra_joints", OPEN, text, settings={"extra_joints": match.others}))
    return found


CHECKS = (check_publishers, check_qos, check_numbers, check_outputs, check_names)
