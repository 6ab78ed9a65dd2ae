"""Objects in a model that MuJoCo renders: their visibility and their light."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning import arrays
from icub_learning.arrays import Array
from icub_learning.errors import ObjectError
from icub_learning.simulation.objects.catalogue import find_objects
from icub_learning.simulation.objects.meshes import MeshPart, read_object
from icub_learning.simulation.objects.offscreen import OffscreenRenderer
from icub_learning.simulation.objects.scene_model import HIDDEN_GROUP

SHOWN_GROUP = 0
LONGEST_NAME = 60  # largest number of characters of an unknown object's name in a message
R = TypeVar("R", bound="RenderedObjects")


class RenderedObjects:
    """Base of ObjectScene and TableScene, which describe the arguments.

    `make_model` takes the parts of each object by its name, and width and height [px].
    """

    def __init__(
        self, objects: Sequence[str] | None, seed: int, size: tuple[int, int], folder: str | os.PathLike[str] | None,
        make_model: Callable[[Mapping[str, Sequence[MeshPart]], int, int], Any],
    ) -> None:  # fmt: skip
        self.seed = arrays.integer("seed", seed, 0)
        width, height = (arrays.integer("size", entry, 16) for entry in size)
        files = find_objects(folder)
        self.names = tuple(files if objects is None else dict.fromkeys(objects))  # the objects in the given order
        for name in self.names:
            check_known(name, files)
        parts = {name: read_object(files[name]) for name in self.names}
        vertices = [np.vstack([part.vertices for part in shape]) for shape in parts.values()]
        self._depths = [-points[:, 2].min() for points in vertices]  # [m] depths of the lowest points below the centre
        self._radii = [np.linalg.norm(points[:, :2], axis=1).max() for points in vertices]  # [m] radii of footprints
        self._model = make_model(parts, width, height)
        self._data = mujoco.MjData(self._model)
        self._renderer = OffscreenRenderer(self._model, width, height)
        geoms = [self._model.geom(index).name.partition("/") for index in range(self._model.ngeom)]
        # Index of the object of each geom, -1 for geoms of the scene.
        self._owner = np.array([int(first) if slash else -1 for first, slash, _ in geoms])

    def __enter__(self: R) -> R:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the OpenGL context."""
        self._renderer.close()

    def _show(self, present: Sequence[int]) -> None:
        self._model.geom_group[self._owner >= 0] = HIDDEN_GROUP
        self._model.geom_group[np.isin(self._owner, present)] = SHOWN_GROUP

    def _paint(self, name: str, picture: NDArray[np.uint8]) -> None:
        texture = self._model.texture(name).id
        begin = self._model.tex_adr[texture]
        self._model.tex_data[begin : begin + picture.size] = picture.ravel()
        self._renderer.upload_texture(texture)

    def _light(
        self, target: Array, azimuth: float, elevation: float, diffuse: ArrayLike, specular: float, ambient: ArrayLike
    ) -> None:
        """Light `target` (3,) [m] from a direction [rad], and update what MuJoCo draws."""
        model, level = self._model, np.cos(elevation)
        towards = np.array([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)])
        model.light_dir[0], model.light_pos[0] = -towards, target + towards
        model.light_diffuse[0], model.light_specular[0] = diffuse, specular
        model.vis.headlight.ambient[:] = ambient
        mujoco.mj_kinematics(model, self._data)
        mujoco.mj_camlight(model, self._data)


def check_known(name: str, known: Collection[str]) -> None:
    """Raise ObjectError unless `name` is the name of a known object."""
    if name in known:
        return
    few = ", ".join(list(known)[:40]) + (", ..." if len(known) > 40 else "")
    asked = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "..."
    raise ObjectError(f"there is no object {asked!r}; known ones: {few}", name="object", value=name, bound=few)
