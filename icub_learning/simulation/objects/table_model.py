"""The MuJoCo model of a table with objects, a wall behind it, a light and the eye."""

from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from icub_learning.simulation.objects import backgrounds
from icub_learning.simulation.objects.meshes import MeshPart
from icub_learning.simulation.objects.scene_model import add_material, add_part, add_texture, compiled, prepare

FIELD_OF_VIEW = 42.0  # [deg] along the height of the image
TABLE = (0.9, 0.8)  # [m] half the sides of the table's top
WALL = "wall"


def table_model(objects: Mapping[str, Sequence[MeshPart]], width: int, height: int) -> Any:
    """Return the model: bodies "object 0", "object 1", ... with hidden geoms "<object>/<part>", a camera and a light.

    The table's top is the plane z = 0, and the eye looks along x. Raises ObjectError: MuJoCo rejects a shape.
    """
    spec = mujoco.MjSpec()
    prepare(spec, (width, height), nearest=0.01, centre=(0.0, 0.0, 0.0), shadows=0.5)
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
    return compiled(spec, list(objects))
