"""The world that Gazebo loads: a world file with the robot in it, and with what the learner relies on."""

import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pinocchio

from icub_learning.errors import ModelError
from icub_learning.simulation.gazebo_model import cached, model_file

WORLD = "icub_learning"  # its name, which is in the name of the clock's topic
ROBOT = "robot"
STEP_NS = 1_000_000  # [ns] of the physics
HEIGHT = 1.5  # [m] of the robot's root above the floor: out of reach of all arms
GZ = "http://gazebosim.org/schema"
SYSTEMS = {  # plugins without which a robot does not move, measure or show
    "physics": "Physics",
    "forcetorque": "ForceTorque",
    "user-commands": "UserCommands",
    "scene-broadcaster": "SceneBroadcaster",
}
# Other systems read the state that the physics of the same step has reached. gz-sim 9 does not see to it by itself.
PHYSICS_PRIORITY = -64


def world_file(config: str | os.PathLike[str], world: str | os.PathLike[str]) -> Path:
    """Write the world with the robot of an inverse_dynamics parameter file into the user's cache; return its path.

    `world` is the SDF file of any world; see `gazebo_world` for what is changed in it. Raises ParameterError,
    ModelError: a file lacks what is needed.
    """
    try:
        text = Path(world).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{world} cannot be read: {error}", name="world", value=str(world)) from None
    return cached("gazebo_world", ".sdf", gazebo_world(text, model_file(config)))


def gazebo_world(sdf: str, model: str | os.PathLike[str]) -> str:
    """Return a world (SDF text) with a robot in it from the first step on, so that all stamps count from one instant.

    What the robot and the learner rely on is set, whatever the world says: its name, steps of 1 ms, the learner's
    gravity (9.81 m/s^2; sdformat's default is another), the systems of SYSTEMS, and that physics is the first of them.
    Raises ModelError: the text does not parse, or has no world.
    """
    try:
        root = ElementTree.fromstring(sdf)
    except ElementTree.ParseError as error:
        raise ModelError(f"the world does not parse: {error}", name="world", value=sdf[:80]) from None
    world = root.find("world")
    if world is None:
        raise ModelError("the SDF file has no world", name="world", value=root.tag, bound="<sdf><world>")
    ElementTree.register_namespace("gz", GZ)
    world.set("name", WORLD)
    _set(world, "gravity", " ".join(f"{value:g}" for value in pinocchio.Model.gravity981))
    physics = world.find("physics")
    if physics is None:
        physics = ElementTree.SubElement(world, "physics", name="1ms", type="ignored")
    _set(physics, "max_step_size", f"{STEP_NS * 1e-9:g}")
    for file, kind in SYSTEMS.items():
        name = f"gz::sim::systems::{kind}"
        plugin = next((entry for entry in world.findall("plugin") if entry.get("name") == name), None)
        if plugin is None:
            plugin = ElementTree.SubElement(world, "plugin", filename=f"gz-sim-{file}-system", name=name)
        if kind == "Physics":
            _set(plugin, f"{{{GZ}}}system_priority", str(PHYSICS_PRIORITY))
    include = ElementTree.SubElement(world, "include")
    _set(include, "uri", os.fspath(model))
    _set(include, "name", ROBOT)
    _set(include, "pose", f"0 0 {HEIGHT:g} 0 0 0")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _set(parent: ElementTree.Element, tag: str, text: str) -> None:
    element = parent.find(tag)
    if element is None:
        element = ElementTree.SubElement(parent, tag)
    element.text = text
