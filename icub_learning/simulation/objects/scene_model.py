"""The MuJoCo model of the rendered scene: an arm of the iCub, objects in its hand, a wall, a light and the camera."""

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
from icub_learning.simulation.urdf import add_mujoco_options, links_to_root, reduce_robot

# Posture of an open hand, palm up, about 26 cm in front of the eyes and 12 cm below them [deg], in the order of
# ArmModel.joint_names; the same for both arms.
SHOWING = (-63.0, 0.0, 7.0, 73.0, -60.0, -47.0, 25.0)
WALL_DISTANCE = 1.2  # [m] from the eye
SHADOW_SIZE = 1024  # [px] of the shadow map; with the default, 4096, a picture takes 60 ms instead of 24
HIDDEN_GROUP = 5  # group of geoms that MuJoCo does not render by default
_VISIBLE = ("upper_arm", "elbow_1", "forearm", "wrist_1", "hand")
_RGB = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)


def scene_model(arm: ArmModel, objects: Mapping[str, Sequence[MeshPart]], width: int, height: int) -> Any:
    """Return the model of the scene.

    It has the joints of the arm, camera "eye", light "light", geom and texture "wall", and in the hand the body
    "object" with hidden geoms "<index of the object>/<index of the part>" for all objects. Raises ObjectError: MuJoCo
    rejects a shape.
    """
    spec = mujoco.MjSpec.from_string(_arm_urdf(arm))
    # Shadows, around the centre, fall on object, hand and arm.
    prepare(spec, (width, height), nearest=0.005, centre=(-0.2, 0.0, 0.3), shadows=0.25)
    spec.worldbody.add_camera(name="eye")
    _add_wall(spec)
    for joint in arm.joint_names:
        spec.joint(joint).limited = False  # the arm is rendered, not simulated
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    held = spec.body(arm.hand).add_body(name="object")
    for number, parts in enumerate(objects.values()):
        for index, part in enumerate(parts):
            add_part(spec, held, f"{number}/{index}", part)
    return compiled(spec, list(objects))


def prepare(spec: Any, size: tuple[int, int], nearest: float, centre: tuple[float, ...], shadows: float) -> None:
    """Prepare a scene for images of this size [px], with one light, "light"; nothing nearer than `nearest` [m] is seen.

    Shadows fall up to a distance [m] from the centre (3,) of what is shown.
    """
    spec.visual.global_.offwidth, spec.visual.global_.offheight = size
    spec.visual.map.znear, spec.visual.map.zfar = nearest, 30.0
    spec.stat.extent = 1.0  # [m] unit of the line above and of shadowclip
    spec.stat.center = np.array(centre)
    spec.visual.map.shadowclip = shadows
    spec.visual.quality.shadowsize = SHADOW_SIZE
    spec.visual.headlight.diffuse = spec.visual.headlight.specular = np.zeros(3)
    spec.worldbody.add_light(
        name="light", type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, castshadow=True, ambient=np.zeros(3)
    )


def compiled(spec: Any, objects: Sequence[str]) -> Any:
    """Return the model of a scene with these objects. Raises ObjectError: MuJoCo rejects a shape."""
    try:
        return spec.compile()
    except ValueError as error:  # shapes without an area, for instance
        message = f"the objects cannot be shown: {' '.join(str(error).split())}"
        raise ObjectError(message, name="objects", value=list(objects), bound="meshes that MuJoCo accepts") from error


def _add_wall(spec: Any) -> None:
    size = backgrounds.SIZE
    add_texture(spec, "wall", np.zeros((size, size, 3), dtype=np.uint8))
    add_material(spec, "wall", "wall")
    spec.worldbody.add_geom(
        name="wall",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[1.0, 1.0, 0.1],
        pos=[1.0, 1.0, 1.0],  # not the identity: MuJoCo would use the body's pose for good
        quat=[0.5, 0.5, 0.5, 0.5],
        material="wall",
        contype=0,
        conaffinity=0,
    )


def add_part(spec: Any, body: Any, name: str, part: MeshPart) -> None:
    """Add a part of an object to a body, as a hidden geom, with the mesh, material and texture that it needs."""
    mesh = spec.add_mesh(name=name)
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # thin and open shapes have no volume
    mesh.uservert, mesh.userface = part.vertices.ravel().tolist(), part.faces.ravel().tolist()
    material = add_material(spec, name, name if part.picture is not None else None)
    material.rgba = [*part.colour, 1.0]
    if part.picture is not None:
        add_texture(spec, name, part.picture, wrapped=part.wrapped)
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


def add_material(spec: Any, name: str, texture: str | None) -> Any:
    """Add a slightly glossy material, with a texture or without one, and return it."""
    material = spec.add_material(name=name, specular=0.3, shininess=0.4)
    if texture is not None:
        material.textures[_RGB] = texture
    return material


def add_texture(spec: Any, name: str, picture: NDArray[np.uint8], *, wrapped: bool = False) -> None:
    """Add the texture of a picture (height, width, 3); a wrapped one is projected from all sides."""
    if wrapped:  # project the picture from all six sides of a cube around the object
        side = min(picture.shape[:2])
        picture = np.tile(picture[:side, :side], (6, 1, 1))
    kind = mujoco.mjtTexture.mjTEXTURE_CUBE if wrapped else mujoco.mjtTexture.mjTEXTURE_2D
    height, width, _ = picture.shape
    texture = spec.add_texture(name=name, type=kind, width=width, height=height, nchannel=3)
    texture.data = np.ascontiguousarray(picture).tobytes()


def _arm_urdf(arm: ArmModel) -> str:
    """Return the URDF of the links from the root to the hand, with the shapes of the arm's; other joints fixed."""
    path = Path(find_urdf("icub"))
    robot = read_urdf(path)
    add_mujoco_options(robot, discardvisual="false", strippath="false", inertiafromgeom="false")
    visible = {f"{arm.side[0]}_{link}" for link in _VISIBLE}
    meshes = path.parents[2] / "meshes"
    reduce_robot(robot, links_to_root(robot, arm.hand), arm.joint_names)
    for link in robot.findall("link"):
        for shape in [*link.findall("collision"), *(link.findall("visual") if link.get("name") not in visible else [])]:
            link.remove(shape)
        for mesh in link.iter("mesh"):
            mesh.set("filename", mesh.get("filename", "").replace("package://iCub/meshes", str(meshes)))
    return ElementTree.tostring(robot, encoding="unicode")
