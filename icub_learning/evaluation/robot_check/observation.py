"""What was seen of a robot, and what a check says about it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from xml.etree import ElementTree

from icub_learning.dynamics.regressors.robot_model import joint_names, read_urdf
from icub_learning.recording.recording import Recording

RIGHT, WRONG, OPEN = "right", "wrong", "open"  # verdicts; open: what was seen does not tell


@dataclass(frozen=True)
class TopicUse:
    """Who uses a topic."""

    name: str  # full name of the topic
    publishers: tuple[str, ...] = ()  # names of the nodes that publish
    unserved: tuple[str, ...] = ()  # subscriptions whose QoS no publisher meets, each in words: they receive nothing


@dataclass(frozen=True, eq=False)
class Observation:
    """Some seconds of a robot."""

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
        """How a sentence names the URDF."""
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
    """What one check says."""

    name: str  # short fixed name of what is right or wrong, such as "degrees"
    verdict: str  # RIGHT, WRONG or OPEN
    text: str  # one sentence in plain words
    remedy: str = ""  # what to do about it; "" where nothing is to be done
    # settings of the inverse dynamics node that follow from it
    settings: dict[str, object] = field(default_factory=dict)
    # the recording as it would be without the fault, which the checks that follow judge
    corrected: Recording | None = None


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return names in a row, the first `most` of them."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
