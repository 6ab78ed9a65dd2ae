"""What was observed of a robot, the finding of a check, and guesses which robot and which sensor it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from xml.etree import ElementTree

from icub_learning.errors import ModelError
from icub_learning.recording.recording import Recording
from icub_learning.robots import KNOWN_ROBOTS, find_urdf, joint_names, link_at, links_to_root, read_urdf

RIGHT, WRONG, OPEN = "right", "wrong", "open"  # verdicts; open: the observation does not decide
SENSOR_WORDS = ("ft_sensor", "force_torque", "ft_joint", "ft300", "wrench")


@dataclass(frozen=True)
class TopicUse:
    """The publishers of a topic, and its subscriptions that receive nothing."""

    name: str  # full name of the topic
    publishers: tuple[str, ...] = ()  # names of the nodes that publish
    unserved: tuple[str, ...] = ()  # subscriptions whose QoS no publisher meets, each in words: they receive nothing


@dataclass(frozen=True, eq=False)
class Observation:
    """The messages of a robot in some seconds, and its URDF."""

    recording: Recording  # its joint states and wrenches, with times of arrival
    urdf: str  # path or XML text
    sensor: str = ""  # fixed joint of the force/torque sensor; "" where there is none
    wrench_frame: str | None = None  # frame_id of the wrenches; None where the source does not tell
    clock_published: bool | None = None  # whether a simulated clock was published; None where the source does not tell
    # who uses the topics of joint states and wrenches; empty where the source does not tell
    topics: tuple[TopicUse, ...] = ()

    @cached_property
    def root(self) -> ElementTree.Element:
        """Root element of the URDF. Raises ModelError if it cannot be read."""
        return read_urdf(self.urdf)

    @cached_property
    def urdf_joints(self) -> tuple[str, ...]:
        """Names of the URDF's joints of one degree of freedom."""
        return joint_names(self.urdf)

    @property
    def robot(self) -> str:
        """The URDF as it is called in a sentence."""
        return f"the URDF of {self.root.get('name') or 'a robot without a name'}"

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints that both the messages and the URDF have, in the order of the messages."""
        known = set(self.urdf_joints)
        return tuple(name for name in self.recording.joint_names if name in known)

    @property
    def has_wrench(self) -> bool:
        """Whether any wrench was seen."""
        return self.recording.wrench is not None and len(self.recording.wrench) > 0


@dataclass(frozen=True, eq=False)
class Finding:
    """One finding of a check."""

    name: str  # short fixed name of what is right or wrong, such as "degrees"
    verdict: str  # RIGHT, WRONG or OPEN
    text: str  # one sentence in plain words
    remedy: str = ""  # how to correct it; "" where nothing has to be done
    # settings of the inverse dynamics node that follow from it
    settings: dict[str, object] = field(default_factory=dict)
    # the recording as it would be without the fault, for the checks that follow; None where nothing is corrected
    corrected: Recording | None = None


def listed(names: Sequence[str]) -> str:
    """Return the first six names, separated by commas, and how many more there are."""
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def guess_robot(names: Sequence[str]) -> str | None:
    """Return the known robot whose URDF has all joints of these names; None where there is none."""
    for robot in KNOWN_ROBOTS:
        try:
            known = joint_names(find_urdf(robot))
        except ModelError:
            continue  # its description is not installed
        if names and set(names) <= set(known):
            return robot
    return None


def guess_sensor(urdf: str, names: Sequence[str], frame: str = "") -> str:
    """Return the fixed joint of the force/torque sensor with the most joints of `names` above and below it; "" if none.

    A fixed joint to the frame of the wrenches goes first. Raises ModelError: the URDF (path or XML) cannot be read.
    """
    root = read_urdf(urdf)
    fixed = [joint for joint in root.findall("joint") if joint.get("type") == "fixed"]
    if frame and (leading := [joint for joint in fixed if link_at(joint, "child") == frame.lstrip("/")]):
        return leading[0].get("name", "")
    sensors = [joint for joint in fixed if any(word in joint.get("name", "").lower() for word in SENSOR_WORDS)]
    sensors = sensors or fixed[len(fixed) > 1 :]  # of a single one the name does not matter
    related = {joint.get("name", ""): _related(root, joint, set(names)) for joint in sensors}
    best = max(related, key=lambda name: related[name], default="")
    return best if best and related[best] else ""


def _related(root: ElementTree.Element, sensor: ElementTree.Element, names: set[str]) -> int:
    """Return how many of the named joints are above or below a sensor in the kinematic tree."""
    above, below = links_to_root(root, link_at(sensor, "parent")), link_at(sensor, "child")
    named = [joint for joint in root.findall("joint") if joint.get("name", "") in names]
    beyond = (below in links_to_root(root, link_at(joint, "parent")) for joint in named)
    return sum(beyond) + sum(link_at(joint, "child") in above for joint in named)
