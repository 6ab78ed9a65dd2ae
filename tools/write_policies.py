"""Write the SROS 2 policy of every node, security/NODE.policy.xml, from the topics and services that it really has.

usage: python tools/write_policies.py [--check]

Each node is started in a ROS domain of its own. With --check nothing is written: policies that differ are named, and
the exit code is 1.
"""

import sys
import tempfile
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.endurance.children import ARM, node, own_domain
from benchmarks.endurance.probe import Probe
from icub_learning.errors import IcubLearningError

CHECKOUT = Path(__file__).resolve().parents[1]
FOLDER = Path("security")
PACKAGE, SUFFIX = "icub_learning", "_node"  # of the executables of nodes
# What a node is started with, for each set of topics that it can have; others start with their defaults.
CHOSEN: dict[str, list[dict[str, object]]] = {
    "inverse_dynamics": [{"joints": list(ARM)}, {"urdf": "ur10", "joints": ["elbow_joint"], "output": "joint_torque"}],
    "icub_simulation": [{"image_rate": 0.0}],
    "gazebo_controller": [{"config": str(CHECKOUT / "config" / "gazebo.yaml")}],
}
STARTS = {
    entry.name.removesuffix(SUFFIX): CHOSEN.get(entry.name.removesuffix(SUFFIX), [{}])
    for entry in metadata.distribution(PACKAGE).entry_points
    if entry.name.endswith(SUFFIX)
}
# Topics whose types are in packages that need not be installed here.
OPTIONAL = {"object_detection": {"/object_detection/detections_2d"}}  # vision_msgs
KINDS = {("topics", "publish"), ("topics", "subscribe"), ("services", "reply"), ("services", "request")}
Access = dict[tuple[str, str], set[str]]  # names by (kind, what is allowed)
# With simulated time every node reads the clock; it is not subscribed to otherwise.
CLOCK = "/clock"
FOUND_LIMIT = 60.0  # [s]


def access_of(name: str) -> Access:
    """Start a node and return what it publishes, subscribes to, and replies to."""
    access: Access = {kind: set() for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        for number, parameters in enumerate(STARTS[name]):
            with own_domain(), node(name, Path(folder, f"{number}.log"), name, **parameters) as child, Probe() as probe:
                state = probe.services.find(_get_state(), f"/{name}/get_state", FOUND_LIMIT)

                def active(state: object = state) -> bool:
                    future = state.call_async(_get_state().Request())  # type: ignore[attr-defined]
                    return probe.until(future.done, 10.0) and future.result().current_state.label == "active"

                if not probe.until(active, FOUND_LIMIT):
                    raise IcubLearningError(f"{name} did not become active:\n{child.output}")
                probe.spin(1.5)  # the last endpoints are found
                graph = probe.node
                for found, kind in (
                    (graph.get_publisher_names_and_types_by_node, ("topics", "publish")),
                    (graph.get_subscriber_names_and_types_by_node, ("topics", "subscribe")),
                    (graph.get_service_names_and_types_by_node, ("services", "reply")),
                    (graph.get_client_names_and_types_by_node, ("services", "request")),
                ):
                    access[kind] |= {topic for topic, _ in found(name, "/")}
    access["topics", "subscribe"].add(CLOCK)
    access["topics", "publish"] |= OPTIONAL.get(name, set())
    return access


def policy(name: str, access: Access) -> str:
    """Return the policy of a node as XML of sros2's version 0.2.0."""
    root = ElementTree.Element("policy", version="0.2.0")
    enclave = ElementTree.SubElement(ElementTree.SubElement(root, "enclaves"), "enclave", path=f"/{name}")
    profile = ElementTree.SubElement(ElementTree.SubElement(enclave, "profiles"), "profile", ns="/", node=name)
    for what, allowed in sorted(access):
        names = access[what, allowed]
        if names:
            group = ElementTree.SubElement(profile, what, {allowed: "ALLOW"})
            for one in sorted(names):
                ElementTree.SubElement(group, what.removesuffix("s")).text = one
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def read_policy(text: str) -> Access:
    """Return what a policy allows."""
    access: Access = {kind: set() for kind in KINDS}
    for profile in ElementTree.fromstring(text.split("?>", 1)[-1]).iter("profile"):
        for group in profile:
            for allowed in group.attrib:
                access[group.tag, allowed] |= {one.text or "" for one in group}
    return access


def path_of(name: str) -> Path:
    """Return the file of a node's policy, relative to the checkout."""
    return FOLDER / f"{name}.policy.xml"


def _get_state() -> type:
    from lifecycle_msgs.srv import GetState

    return GetState


def main() -> int:
    """Write or check all policies; return the exit code."""
    outdated = 0
    for name in STARTS:
        path, text = CHECKOUT / path_of(name), policy(name, access_of(name))
        if not path.is_file() or path.read_text() != text:
            outdated += 1
            print(path_of(name))
            if "--check" not in sys.argv:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
    return int(bool(outdated) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
