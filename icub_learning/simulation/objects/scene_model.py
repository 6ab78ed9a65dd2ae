"""MuJoCo models for rendering: objects in a hand of the iCub or on a table, a wall, a light and the camera."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from icub_learning.errors import ObjectError
from icub_learning.robots import find_urdf, links_to_root, read_urdf
from icub_learning.simulation.arm.arm_model import ArmModel
from icub_learning.simulation.objects import backgrounds
from icub_learning.simulation.objects.meshes import MeshPart
from icub_learning.simulation.urdf import reduced_robot

# Posture of an open hand, palm up, about 26 cm in front of the eyes and 12 cm below them [deg], in the order of
# ArmModel.joint_names; the same for both arms.
SHOWING = (-63.0, 0.0, 7.0, 73.0, -60.0, -47.0, 25.0)
WALL_DISTANCE = 1.2  # [m] distance of the wall from the eye
SHADOW_SIZE = 1024  # [px] size of the shadow map; with the default, 4096, a picture takes 60 ms instead of 24
TABLE = (0.9, 0.8)  # [m] half the sides of the table's top
TABLE_FIELD_OF_VIEW = 42.0  # [deg] field of view along the height of the image
HIDDEN_GROUP = 5  # group of geoms that MuJoCo does not render by default
_VISIBLE = ("upper_arm", "elbow_1", "forearm", "wrist_1", "hand")
_RGB = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)


def scene_model(arm: ArmModel, objects: Mapping[str, Sequence[MeshPart]], width: int, height: int) -> Any:
    """Return the model of an arm that shows objects in its hand.

    It has the joints of the arm, camera "eye", light "light", geom and texture "wall", and in the hand the body
    "object" with hidden geoms "<index of the object>/<index of the part>" for all objects. Raises ObjectError: MuJoCo
    rejects a shape.
    """
    spec = mujoco.MjSpec.from_string(_arm_urdf(arm))
    # Shadows, around the centre, fall on object, hand and arm.
    _prepare(spec, (width, height), nearest=0.005, centre=(-0.2, 0.0, 0.3), shadows=0.25)
    _add_plane(spec, "wall", (1.0, 1.0), [1.0, 1.0, 1.0], [0.5] * 4)  # at 0 MuJoCo would keep the body's pose for good
    for joint in arm.joint_names:
        spec.joint(joint).limited = False  # the arm is rendered, not simulated
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    held = spec.body(arm.hand).add_body(name="object")
    for number, parts in enumerate(objects.values()):
        _add_object(spec, held, number, parts)
    return _compiled(spec, list(objects))


def table_model(objects: Mapping[str, Sequence[MeshPart]], width: int, height: int) -> Any:
    """Return the model of a table: bodies "object 0", "object 1", ... and all else as in `scene_model`, without arm.
    The table's top is the plane z = 0, and the eye looks along x. Raises ObjectError: MuJoCo rejects a shape."""
    spec = mujoco.MjSpec()
    _prepare(spec, (width, height), nearest=0.01, centre=(0.0, 0.0, 0.0), shadows=0.5)
    spec.camera("eye").fovy = TABLE_FIELD_OF_VIEW
    _add_plane(spec, "table", TABLE, [0.2, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0])
    # The wall stands beyond the table and faces the eye.
    _add_plane(spec, "wall", (1.5, 2.5), [1.1, 0.0, 0.0], [np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0])
    for number, parts in enumerate(objects.values()):
        _add_object(spec, spec.worldbody.add_body(name=f"object {number}", pos=[0.0, 0.0, 0.0]), number, parts)
    return _compiled(spec, list(objects))


def _prepare(spec: Any, size: tuple[int, int], nearest: float, centre: tuple[float, ...], shadows: float) -> None:
    """Add the camera and the light for images of this size [px]; nothing nearer than `nearest` [m] is seen. Shadows
    fall up to a distance of `shadows` [m] from `centre` (3,) [m], the centre of what is shown."""
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
    spec.worldbody.add_camera(name="eye")


def _compiled(spec: Any, objects: Sequence[str]) -> Any:
    try:
        return spec.compile()
    except ValueError as error:  # shapes without an area, for instance
        message = f"the objects cannot be shown: {' '.join(str(error).split())}"
        raise ObjectError(message, name="objects", value=list(objects), bound="meshes that MuJoCo accepts") from error


def _add_plane(spec: Any, name: str, size: tuple[float, float], pos: Sequence[float], quat: Sequence[float]) -> None:
    """Add a plane for a picture of backgrounds.SIZE; `size` is half its sides [m]."""
    side = backgrounds.SIZE
    _add_texture(spec, name, np.zeros((side, side, 3), dtype=np.uint8))
    _add_material(spec, name, name)
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(
        name=name, type=plane, size=[*size, 0.1], pos=pos, quat=quat, material=name, contype=0, conaffinity=0
    )


def _add_object(spec: Any, body: Any, number: int, parts: Sequence[MeshPart]) -> None:
    """Add the parts of an object to a body, as hidden geoms, with the meshes, materials and textures that they need."""
    for index, part in enumerate(parts):
        name = f"{number}/{index}"
        mesh = spec.add_mesh(name=name)
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # thin and open shapes have no volume
        mesh.uservert, mesh.userface = part.vertices.ravel().tolist(), part.faces.ravel().tolist()
        _add_material(spec, name, name if part.picture is not None else None).rgba = [*part.colour, 1.0]
        if part.picture is not None:
            _add_texture(spec, name, part.picture, wrapped=part.wrapped)
        if part.texcoords is not None:
            mesh.usertexcoord = part.texcoords.ravel().tolist()
            mesh.userfacetexcoord = mesh.userface
        kind = mujoco.mjtGeom.mjGEOM_MESH
        body.add_geom(name=name, type=kind, meshname=name, material=name, group=HIDDEN_GROUP, contype=0, conaffinity=0)


def _add_material(spec: Any, name: str, texture: str | None) -> Any:
    material = spec.add_material(name=name, specular=0.3, shininess=0.4)
    if texture is not None:
        material.textures[_RGB] = texture
    return material


def _add_texture(spec: Any, name: str, picture: NDArray[np.uint8], *, wrapped: bool = False) -> None:
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
    meshes = path.parents[2] / "meshes"
    for mesh in robot.iter("mesh"):
        mesh.set("filename", mesh.get("filename", "").replace("package://iCub/meshes", str(meshes)))
    visible = {f"{arm.side[0]}_{link}" for link in _VISIBLE}
    options = {"discardvisual": "false", "strippath": "false", "inertiafromgeom": "false"}
    return reduced_robot(robot, links_to_root(robot, arm.hand), arm.joint_names, visible, **options)
