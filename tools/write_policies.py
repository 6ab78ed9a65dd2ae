"""Write the SROS 2 policy of every node and of the page, security/NAME.policy.xml, from their topics and services.

usage: python tools/write_policies.py [--check]

Each node is started in a ROS domain of its own, the page beside nodes that it shows. With --check nothing is written:
policies that differ are named, and the exit code is 1.
"""

import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.endurance.children import ARM, Child, node, own_domain
from benchmarks.endurance.probe import Probe
from icub_learning.errors import IcubLearningError

CHECKOUT = Path(__file__).resolve().parents[1]
FOLDER = Path("security")
PACKAGE, SUFFIX = "icub_learning", "_node"  # distribution, and ending of the names of its nodes' executables
# Parameters of a node for each set of topics that it can have; other nodes start with their defaults.
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
Access = dict[tuple[str, str], set[str]]  # names of topics or services by (kind, what is allowed)
# Every node subscribes to the clock, but only with simulated time.
CLOCK = "/clock"
FOUND_LIMIT = 60.0  # [s] for a node to be found, and to become active
# The page: its enclave, its nodes, and the nodes whose services it calls.
PAGE, PAGE_NODES = "view", ("icub_learning_view", "icub_learning_view_streams")
ASKED = ("inverse_dynamics", "object_recognition", "object_detection")
PAGE_LIMIT = 120.0  # [s] for the page to find all of them
QUESTIONS = {"inverse_dynamics": "get_parameters", "object_detection": "list_objects"}  # called without a button


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
                for kind, topics in seen_by(probe, name).items():
                    access[kind] |= topics
    access["topics", "subscribe"].add(CLOCK)
    access["topics", "publish"] |= OPTIONAL.get(name, set())
    return access


def access_of_page() -> dict[str, Access]:
    """Start nodes, and the page beside them; return what each node of the page needs."""
    with own_domain(), tempfile.TemporaryDirectory() as folder, ExitStack() as stack, Probe() as probe:
        for name in ASKED:
            parameters = {**STARTS[name][0], "models_folder": folder}
            stack.enter_context(node(name, Path(folder, f"{name}.log"), name, **parameters))
        probe.node.create_publisher(_image(), "/image", 1)  # the camera that the detector looks at
        line = [sys.executable, "-m", "icub_learning.cli", "view", "--port", "0"]
        page = stack.enter_context(Child(line, Path(folder, "view.log")))

        def all_found() -> bool:
            topics = [topic for name in PAGE_NODES for topic in seen_by(probe, name)["topics", "subscribe"]]
            wanted = [*(f"/{name}/" for name in ASKED), "/joint_states", "/wrench", "/image"]
            return all(any(topic.startswith(one) for topic in topics) for one in wanted)

        if not probe.until(all_found, PAGE_LIMIT):
            raise IcubLearningError(f"the page did not find all nodes:\n{page.output}")
        probe.spin(3.0)  # the last subscriptions
        found = {name: seen_by(probe, name) for name in PAGE_NODES}
        offered = {name: seen_by(probe, name)["services", "reply"] for name in ASKED}
    asked = {f"/{name}/{service}" for name in ASKED for service in (*_buttons(), QUESTIONS.get(name, ""))}
    # The page makes a client when it needs it first, so it may call each of these services that the nodes offer.
    found[PAGE_NODES[0]]["services", "request"] = asked & set().union(*offered.values())
    return found


def seen_by(probe: Probe, name: str) -> Access:
    """Return the topics and services that a node has now; none if there is no such node."""
    graph = probe.node
    return {
        kind: set(probe.seen(query, name))
        for query, kind in (
            (graph.get_publisher_names_and_types_by_node, ("topics", "publish")),
            (graph.get_subscriber_names_and_types_by_node, ("topics", "subscribe")),
            (graph.get_service_names_and_types_by_node, ("services", "reply")),
            (graph.get_client_names_and_types_by_node, ("services", "request")),
        )
    }


def policy(enclave: str, nodes: dict[str, Access]) -> str:
    """Return the policy of an enclave with some nodes as XML of sros2's version 0.2.0."""
    root = ElementTree.Element("policy", version="0.2.0")
    named = ElementTree.SubElement(ElementTree.SubElement(root, "enclaves"), "enclave", path=f"/{enclave}")
    profiles = ElementTree.SubElement(named, "profiles")
    for name, access in nodes.items():
        profile = ElementTree.SubElement(profiles, "profile", ns="/", node=name)
        for what, allowed in sorted(access):
            names = access[what, allowed]
            if names:
                group = ElementTree.SubElement(profile, what, {allowed: "ALLOW"})
                for one in sorted(names):
                    ElementTree.SubElement(group, what.removesuffix("s")).text = one
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def read_policy(text: str) -> dict[str, Access]:
    """Return what a policy allows each node."""
    found: dict[str, Access] = {}
    for profile in ElementTree.fromstring(text.split("?>", 1)[-1]).iter("profile"):
        access = found[profile.attrib["node"]] = {kind: set() for kind in KINDS}
        for group in profile:
            for allowed in group.attrib:
                access[group.tag, allowed] |= {one.text or "" for one in group}
    return found


def texts() -> Iterator[tuple[str, str]]:
    """Yield the name of each policy, and its text."""
    for name in STARTS:
        yield name, policy(name, {name: access_of(name)})
    yield PAGE, policy(PAGE, access_of_page())


def path_of(name: str) -> Path:
    """Return the file of a policy, relative to the checkout."""
    return FOLDER / f"{name}.policy.xml"


def _get_state() -> type:
    from lifecycle_msgs.srv import GetState

    return GetState


def _image() -> type:
    from sensor_msgs.msg import Image

    return Image


def _buttons() -> Iterable[str]:
    from icub_learning.view.live.services import KINDS as SERVICES

    return SERVICES


def main() -> int:
    """Write or check all policies; return the exit code."""
    outdated = 0
    for name, text in texts():
        path = CHECKOUT / path_of(name)
        if not path.is_file() or path.read_text() != text:
            outdated += 1
            print(path_of(name))
            if "--check" not in sys.argv:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
    return int(bool(outdated) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
