"""The MuJoCo model of what an eye sees: an arm of the iCub, objects in its hand, a wall, a light and the eye itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
from numpy.typing import NDArray

from icub_learning.dynamics.regressors.robot_model import read_urdf
from icub_learning.errors import ObjectError
from icub_learning.robots import find_urdf
from icub_learning.simulation.arm.arm_model import ArmModel
from icub_learning.simulation.objects import backgrounds
from icub_learning.simulation.objects.meshes import MeshPart

# Posture of an open hand, palm up, about 26 cm in front of the eyes and 12 cm below them [deg], in the order of
# ArmModel.joint_names; the same for both arms.
SHOWING = (-63.0, 0.0, 7.0, 73.0, -60.0, -47.0, 25.0)
WALL_DISTANCE = 1.2  # [m] from the eye
SHADOW_SIZE = 1024  # [px], of the map of shadows: 4096, the default, takes 60 ms a picture instead of 24
HIDDEN_GROUP = 5  # of geoms that MuJoCo's default options do not show
_SHAPED = ("upper_arm", "elbow_1", "forearm", "wrist_1", "hand")
_RGB = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)


def scene_model(arm: ArmModel, objects: Mapping[str, Sequence[MeshPart]], width: int, height: int) -> Any:
    """Return the model: the joints of the arm; camera "eye", light "light", geom and texture "wall"; and body "object"
    in the hand, with hidden geoms "<number of the object>/<number of the part>" for all objects.

    Raises:
        ObjectError: MuJoCo refuses a shape.
    """
    spec = mujoco.MjSpec.from_string(_arm_urdf(arm))
    spec.visual.global_.offwidth, spec.visual.global_.offheight = width, height
    spec.visual.map.znear, spec.visual.map.zfar = 0.005, 30.0
    spec.stat.extent = 1.0  # the unit of the two above, and of the shadows
    spec.stat.center = np.array([-0.2, 0.0, 0.3])
    spec.visual.map.shadowclip = 0.25  # [m] about the middle of the scene: shadows fall on object, hand and arm
    spec.visual.quality.shadowsize = SHADOW_SIZE
    spec.visual.headlight.diffuse = spec.visual.headlight.specular = np.zeros(3)
    spec.worldbody.add_light(
        name="light", type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, castshadow=True, ambient=np.zeros(3)
    )
    spec.worldbody.add_camera(name="eye")
    _add_wall(spec)
    for joint in arm.joint_names:
        spec.joint(joint).limited = False  # only drawn
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    held = spec.body(arm.hand).add_body(name="object")
    for number, parts in enumerate(objects.values()):
        for index, part in enumerate(parts):
            _add_part(spec, held, f"{number}/{index}", part)
    try:
        return spec.compile()
    except ValueError as error:  # shapes without an area, for instance
        message = f"the objects cannot be shown: {' '.join(str(error).split())}"
        raise ObjectError(message, name="objects", value=list(objects), bound="meshes that MuJoCo takes") from error


def _add_wall(spec: Any) -> None:
    size = backgrounds.SIZE
    _add_texture(spec, "wall", np.zeros((size, size, 3), dtype=np.uint8))
    _add_material(spec, "wall", "wall")
    spec.worldbody.add_geom(
        name="wall",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[1.0, 1.0, 0.1],
        pos=[1.0, 1.0, 1.0],  # anywhere but in the body's own frame, which MuJoCo would then take in its place
        quat=[0.5, 0.5, 0.5, 0.5],
        material="wall",
        contype=0,
        conaffinity=0,
    )


def _add_part(spec: Any, body: Any, name: str, part: MeshPart) -> None:
    mesh = spec.add_mesh(name=name)
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # thin and open shapes have no volume
    mesh.uservert, mesh.userface = part.vertices.ravel().tolist(), part.faces.ravel().tolist()
    material = _add_material(spec, name, name if part.picture is not None else None)
    material.rgba = [*part.colour, 1.0]
    if part.picture is not None:
        _add_texture(spec, name, part.picture, wrapped=part.wrapped)
    if part.texcoords is not None:
        mesh.usertexcoord = part.texcoords.ravel().tolist()
        mesh.userfacetexcoord = mesh.userface
    body.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=name,
        material=name,
        group=HIDDEN_GROUP,
        contype=0,
        conaffinity=0,
    )


def _add_material(spec: Any, name: str, texture: str | None) -> Any:
    material = spec.add_material(name=name, specular=0.3, shininess=0.4)
    if texture is not None:
        material.textures[_RGB] = texture
    return material


def _add_texture(spec: Any, name: str, picture: NDArray[np.uint8], *, wrapped: bool = False) -> None:
    if wrapped:  # the same picture on all six sides of a cube around the object
        side = min(picture.shape[:2])
        picture = np.tile(picture[:side, :side], (6, 1, 1))
    kind = mujoco.mjtTexture.mjTEXTURE_CUBE if wrapped else mujoco.mjtTexture.mjTEXTURE_2D
    height, width, _ = picture.shape
    texture = spec.add_texture(name=name, type=kind, width=width, height=height, nchannel=3)
    texture.data = np.ascontiguousarray(picture).tobytes()


def _arm_urdf(arm: ArmModel) -> str:
    """The URDF reduced to one arm, with the shapes of its links; other joints fixed at 0."""
    path = Path(find_urdf("icub"))
    root = read_urdf(path)
    compiler = {"fusestatic": "false", "discardvisual": "false", "strippath": "false", "inertiafromgeom": "false"}
    ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler", compiler)
    shaped = {f"{arm.side[0]}_{link}" for link in _SHAPED}
    kept = _way_to_root(root, arm.hand)
    meshes = path.parents[2] / "meshes"
    for link in root.findall("link"):
        name = link.get("name", "")
        if name not in kept:
            root.remove(link)
        for shape in [*link.findall("collision"), *(link.findall("visual") if name not in shaped else [])]:
            link.remove(shape)
        for mesh in link.iter("mesh"):
            mesh.set("filename", mesh.get("filename", "").replace("package://iCub/meshes", str(meshes)))
    for joint in root.findall("joint"):
        if _end(joint, "child") not in kept:
            root.remove(joint)
        elif joint.get("name") not in arm.joint_names:
            joint.set("type", "fixed")
    return ElementTree.tostring(root, encoding="unicode")


def _way_to_root(root: ElementTree.Element, link: str) -> set[str]:
    parents = {_end(joint, "child"): _end(joint, "parent") for joint in root.findall("joint")}
    kept = {link}
    while link in parents:
        link = parents[link]
        kept.add(link)
    return kept


def _end(joint: ElementTree.Element, end: str) -> str:
    found = joint.find(end)
    return found.get("link", "") if found is not None else ""
