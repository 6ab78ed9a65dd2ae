"""Robot descriptions: found by short name, package URI, path or XML text, and read."""

import math
import os
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

from icub_learning.errors import ModelError

Urdf = str | os.PathLike[str]  # path of a URDF file, or its XML text
ONE_DOF = ("revolute", "continuous", "prismatic")  # types of joints
_EXAMPLE_ROBOTS = {
    "ur10": "ur_description/urdf/ur10_robot.urdf", "panda": "panda_description/urdf/panda.urdf",
    "tiago": "tiago_description/robots/tiago.urdf", "ur5": "ur_description/urdf/ur5_robot.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf", "z1": "z1_description/urdf/z1.urdf",
}  # fmt: skip
# Short names of robots whose descriptions are installed with this package (see requirements.in).
KNOWN_ROBOTS = ("icub", *_EXAMPLE_ROBOTS)
ICUB_MODEL = "iCubGenova01"  # newer descriptions carry inertias that were raised for the sake of simulators


def is_xml(urdf: str) -> bool:
    """Return whether a URDF is given as XML text, not by its path or name."""
    return urdf.lstrip("\ufeff \t\r\n").startswith("<")


def find_urdf(robot: str | os.PathLike[str]) -> str:
    """Return the URDF that `robot` names, as a path or XML text that the regressors accept.

    `robot` is one of KNOWN_ROBOTS ("icub" is iCubGenova01); the name of any robot of icub-models ("iCubGazeboV2_5");
    "package://PACKAGE/FILE" in a sourced ROS workspace; the path of a URDF; or XML text. Raises ModelError: nothing of
    that name is found; the message lists what is accepted.
    """
    text = os.fspath(robot)
    if is_xml(text):
        return text
    if text.startswith("package://"):
        if (found := _in_ros_package(text.removeprefix("package://"))) is None:
            message = f"{text} is in no sourced ROS workspace (AMENT_PREFIX_PATH)"
            raise ModelError(message, name="urdf", value=text, bound="a file of an installed package")
        return str(found)
    if Path(os.path.expanduser(text)).is_file():
        return str(Path(os.path.expanduser(text)))
    if text in _EXAMPLE_ROBOTS:
        return str(_in_distribution("example-robot-data", _EXAMPLE_ROBOTS[text]))
    if (found := _icub(ICUB_MODEL if text == "icub" else text)) is None:
        known = ", ".join(KNOWN_ROBOTS)
        message = f"there is no URDF file {text!r} (seen from {Path.cwd()}), nor a known robot of that name ({known})"
        raise ModelError(message, name="urdf", value=text, bound=f"a path, XML text, package:// URI or one of {known}")
    return str(found)


def _icub(name: str) -> Path | None:
    """Return the path of the URDF of a robot of icub-models, from its wheel or from a ROS workspace, or None."""
    try:
        import icub_models

        return Path(icub_models.get_model_file(name))
    except (ImportError, FileNotFoundError):
        pass
    return _in_ros_package(f"iCub/robots/{name}/model.urdf")


def _in_distribution(distribution: str, ending: str) -> Path:
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        message = f"the description is in the Python package {distribution}: pip install {distribution}"
        raise ModelError(message, name="urdf", value=ending, bound=distribution) from None
    if found := next((file for file in files if str(file).endswith(ending)), None):
        return Path(str(found.locate())).resolve()
    raise ModelError(f"{distribution} has no file {ending}", name="urdf", value=ending, bound=distribution)


def _in_ros_package(file: str) -> Path | None:
    candidates = (prefix / "share" / file for prefix in ament_prefixes())
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def ament_prefixes() -> list[Path]:
    """Return the folders of the sourced ROS workspaces."""
    return [Path(prefix) for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if prefix]


def joint_names(urdf: Urdf) -> tuple[str, ...]:
    """Return the names of all joints of one degree of freedom in a URDF (path or XML text). Raises ModelError."""
    return of_type(read_urdf(urdf).findall("joint"), ONE_DOF)


def of_type(joints: Iterable[ElementTree.Element], types: Sequence[str]) -> tuple[str, ...]:
    """Return the names of those joints of a URDF that have one of the types, such as "fixed"."""
    return tuple(joint.get("name", "") for joint in joints if joint.get("type") in types)


def position_limits(root: ElementTree.Element, joints: Sequence[str]) -> list[tuple[float, float]]:
    """Return the lowest and highest position of each joint in a URDF [rad or m], infinite without any."""
    elements = {joint.get("name"): joint for joint in root.findall("joint")}
    limits = [elements[name].find("limit") if elements[name].get("type") != "continuous" else None for name in joints]
    ends = [("", "") if limit is None else (limit.get("lower"), limit.get("upper")) for limit in limits]
    return [(float(low), float(high)) if low and high else (-math.inf, math.inf) for low, high in ends]


def read_urdf(urdf: Urdf) -> ElementTree.Element:
    """Return the root element of a URDF given as a path or as XML text. Raises ModelError if the file cannot be read,
    is not well-formed XML with a <robot> at its root, or has joints that form no tree."""
    if isinstance(urdf, str) and is_xml(urdf):
        text, source = urdf.lstrip("\ufeff \t\r\n"), "the URDF text"
    else:
        path = Path(urdf)
        source = f"URDF file {path}"
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise ModelError(f"{source}: {reason}", name="urdf", value=str(path), bound="a readable file") from error
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        bound = "well-formed XML"
        raise ModelError(f"{source} does not parse: {error}", name="urdf", value=str(error), bound=bound) from error
    if root.tag != "robot":
        message = f"{source} has <{root.tag}> at its root, not <robot>: it is no URDF"
        raise ModelError(message, name="urdf", value=root.tag, bound="robot")
    if any(element.tag.startswith("{http://www.ros.org/wiki/xacro}") for element in root.iter()):
        message = f"{source} is a xacro file: expand it with the xacro tool first"
        raise ModelError(message, name="urdf", value="xacro", bound="a URDF without xacro elements")
    _check_tree(root.findall("joint"))
    return root


def _check_tree(joints: Iterable[ElementTree.Element]) -> None:
    """Raise ModelError where a link has two parents or is its own ancestor: a loop ends the process in urdfdom."""
    parents = dict[str, str]()
    for joint in joints:
        child, above = link_at(joint, "child"), link_at(joint, "parent")
        fault = f"has two parents, {parents[child]!r} and {above!r}" if child and child in parents else ""
        parents.setdefault(child, above)
        while above in parents and above != child:  # it ends, as the joints before form no loop
            above = parents[above]
        if fault or (child and above == child):
            message = f"link {child!r} of the URDF {fault or 'is its own ancestor'}, but links must form a tree"
            remedy = f"leave out joint {joint.get('name')!r}, or another one that closes the loop"
            raise ModelError(f"{message}: {remedy}", name="urdf", value=child, bound="a tree")


def link_at(joint: ElementTree.Element, end: str) -> str:
    """Return the name of the link at one end of a joint of a URDF, its "parent" or its "child"."""
    link = joint.find(end)
    return link.get("link", "") if link is not None else ""


def links_to_root(robot: ElementTree.Element, link: str) -> list[str]:
    """Return the names of the links from `link` up to the root of the robot."""
    parents = {link_at(joint, "child"): link_at(joint, "parent") for joint in robot.findall("joint")}
    chain = [link]
    while chain[-1] in parents:
        chain.append(parents[chain[-1]])
    return chain
