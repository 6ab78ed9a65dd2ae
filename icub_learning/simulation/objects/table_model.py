"""The MuJoCo model of a table with objects, a wall behind it, a light and the eye."""

from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from icub_learning.errors import ObjectError
from icub_learning.simulation.objects import backgrounds
from icub_learning.simulation.objects.meshes import MeshPart
from icub_learning.simulation.objects.scene_model import SHADOW_SIZE, add_material, add_part, add_texture

FIELD_OF_VIEW = 42.0  # [deg] along the height of the image
TABLE = (0.9, 0.8)  # [m] half the sides of the table's top
WALL = "wall"


def table_model(objects: Mapping[str, Sequence[MeshPart]], width: int, height: int) -> Any:
    """Return the model: bodies "object 0", "object 1", ... with hidden geoms "<object>/<part>", a camera and a light.

    The table's top is the plane z = 0, and the eye looks along x. Raises ObjectError: MuJoCo rejects a shape.
    """
    spec = mujoco.MjSpec()
    spec.visual.global_.offwidth, spec.visual.global_.offheight = width, height
    spec.visual.map.znear, spec.visual.map.zfar = 0.01, 30.0
    spec.stat.extent = 1.0  # [m] unit of the line above and of shadowclip
    spec.stat.center = np.zeros(3)
    spec.visual.map.shadowclip = 0.5
    spec.visual.quality.shadowsize = SHADOW_SIZE
    spec.visual.headlight.diffuse = spec.visual.headlight.specular = np.zeros(3)
    spec.worldbody.add_light(
        name="light", type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, castshadow=True, ambient=np.zeros(3)
    )
    spec.worldbody.add_camera(name="eye", fovy=FIELD_OF_VIEW)
    # The wall stands beyond the table and faces the eye.
    for name, size, pos, quat in (
        ("table", TABLE, [0.2, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]),
        (WALL, (1.5, 2.5), [1.1, 0.0, 0.0], [np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0]),
    ):
        side = backgrounds.SIZE
        add_texture(spec, name, np.zeros((side, side, 3), dtype=np.uint8))
        add_material(spec, name, name)
        plane = mujoco.mjtGeom.mjGEOM_PLANE
        spec.worldbody.add_geom(
            name=name, type=plane, size=[*size, 0.1], pos=pos, quat=quat, material=name, contype=0, conaffinity=0
        )
    for number, parts in enumerate(objects.values()):
        body = spec.worldbody.add_body(name=f"object {number}", pos=[0.0, 0.0, 0.0])
        for index, part in enumerate(parts):
            add_part(spec, body, f"{number}/{index}", part)
    try:
        return spec.compile()
    except ValueError as error:  # shapes without an area, for instance
        message = f"the objects cannot be shown: {' '.join(str(error).split())}"
        raise ObjectError(message, name="objects", value=list(objects), bound="meshes that MuJoCo accepts") from error
