"""Write docs/reference/nodes.md: topics and services of every node, as the running node has them.

usage: python tools/write_interface.py [--check]

Each node is configured in this process, in a ROS domain of its own. With --check nothing is written; the exit code is 1
if the page differs.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import rclpy
import yaml
from rclpy.qos import QoSDurabilityPolicy, QoSReliabilityPolicy
from rclpy.signals import SignalHandlerOptions

CHECKOUT = Path(__file__).resolve().parents[1]
PAGE = Path("docs", "reference", "nodes.md")
OPTIONAL = "vision_msgs/"  # types of topics that depend on what is installed
NAMESPACE = "/one"  # names below it are relative


@dataclass(frozen=True)
class Subject:
    """A node and how it is started for its page.

    Attributes:
        name: name of the node and its module.
        case: what the parameters below choose, "" if they make no difference to the page.
        file: its parameter file, "" for none.
        parameters: names of parameters that are paths in the checkout, and these paths.
    """

    name: str
    case: str = ""
    file: str = ""
    parameters: tuple[tuple[str, str], ...] = ()


SUBJECTS = (
    Subject("inverse_dynamics", "`output: wrench`", "config/icub_right_arm.yaml"),
    Subject("inverse_dynamics", "`output: joint_torque`", "config/ur10.yaml"),
    Subject("cnn_features"),
    Subject("object_recognition"),
    Subject("object_detection"),
    Subject("icub_simulation", file="config/simulation.yaml"),
    Subject("gazebo_controller", parameters=(("config", "config/gazebo.yaml"),)),
    Subject("gazebo_joint_states"),
)


@dataclass(frozen=True, order=True)
class Endpoint:
    """A topic or service as a node has it.

    Attributes:
        direction: `in`, `out` or `service`.
        name: relative, `~/` or absolute.
        kind: its type, `package/Name` as the documents write it.
        qos: reliability, durability and depth, "" for a service.
    """

    direction: str
    name: str
    kind: str
    qos: str = ""


def endpoints(subject: Subject) -> list[Endpoint]:
    """Return the topics and services of a node once it has been configured."""
    given = {name: str(CHECKOUT / path) for name, path in subject.parameters}
    if subject.file:
        given |= yaml.safe_load((CHECKOUT / subject.file).read_text())[subject.name]["ros__parameters"]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump({"/**": {"ros__parameters": given}}, file)
        file.flush()
        arguments = ["--ros-args", "-r", f"__ns:={NAMESPACE}", "--params-file", file.name]
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = import_module(f"icub_learning.nodes.{subject.name}.node").main.args[0]()
        try:
            standard = {one.name for one in _found(node)}  # endpoints of parameters, lifecycle and log
            if node.trigger_configure().name != "SUCCESS":
                raise RuntimeError(f"{subject.name} could not be configured with {given}")
            return sorted(one for one in _found(node) if one.name not in standard and not one.kind.startswith(OPTIONAL))
        finally:
            node.trigger_shutdown()
            node.destroy_node()
    finally:
        rclpy.try_shutdown()


def _found(node: Any) -> Iterator[Endpoint]:
    for direction, ends in (("in", node.subscriptions), ("out", node.publishers)):
        for end in ends:
            yield Endpoint(direction, _short(node, end.topic_name), _type(end.msg_type), _qos(end.qos_profile))
    for service in node.services:
        yield Endpoint("service", _short(node, service.service_name), _type(service.srv_type))


def _short(node: Any, name: str) -> str:
    """Return a full name as it was given: below the node, relative to its namespace, or absolute."""
    for prefix, short in ((f"{NAMESPACE}/{node.get_name()}/", "~/"), (f"{NAMESPACE}/", "")):
        if name.startswith(prefix):
            return short + name.removeprefix(prefix)
    return name


def _type(kind: type) -> str:
    return f"{kind.__module__.split('.')[0]}/{kind.__name__}"


def _qos(profile: Any) -> str:
    reliability = "reliable" if profile.reliability == QoSReliabilityPolicy.RELIABLE else "best effort"
    latched = ", latched" if profile.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL else ""
    return f"{reliability}{latched}, {profile.depth}"


def interface() -> dict[str, dict[Endpoint, list[str]]]:
    """Return the endpoints of each node, with the cases in which it has them (none: in all)."""
    found: dict[str, dict[Endpoint, list[str]]] = {}
    cases: dict[str, list[str]] = {}
    for subject in SUBJECTS:
        cases.setdefault(subject.name, []).append(subject.case)
        for endpoint in endpoints(subject):
            found.setdefault(subject.name, {}).setdefault(endpoint, []).append(subject.case)
    return {
        name: {one: [] if having == cases[name] else having for one, having in ends.items()}
        for name, ends in found.items()
    }


HEAD = """# Nodes

Topics and services of each node, as a configured node has them: written by `tools/write_interface.py`, compared with
the nodes by a test. What they mean, and all parameters: [ROS 2 interface](../ros_interface.md).

Names with `~/` are below the node's name, those with `/` absolute, others relative to its namespace. QoS: reliability,
`latched` for transient local, depth of the queue. Besides, each node has the topics and services
of every rclpy lifecycle node: `~/change_state`, `~/get_state`, `~/transition_event`, `~/set_parameters` and the like.
"""


def page(found: dict[str, dict[Endpoint, list[str]]]) -> str:
    """Return the text of the page."""
    parts = [HEAD]
    for name, ends in found.items():
        parts.append(f"\n## {name}\n\n| topic or service | direction | type | QoS | with |\n|---|---|---|---|---|\n")
        parts += [
            f"| `{end.name}` | {end.direction} | {end.kind} | {end.qos} | {', '.join(cases)} |\n"
            for end, cases in sorted(ends.items())
        ]
    return "".join(parts)


def main() -> int:
    """Write or check; return the exit code."""
    path = CHECKOUT / PAGE
    text = page(interface())
    same = path.is_file() and path.read_text() == text
    if not same and "--check" not in sys.argv:
        path.write_text(text)
    if not same:
        print(PAGE)
    return int(not same and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
