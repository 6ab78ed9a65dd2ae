"""Meshes of a URDF: where their files are, and their triangles, few enough for any browser."""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.errors import ModelError
from icub_learning.robots import KNOWN_ROBOTS, find_urdf

MOST_TRIANGLES = 1_000  # of one mesh; a larger one is made coarser, for browsers without a graphics card
# With the library's 7 a mesh of many parts loses some (UR10: up to 80 mm), with 3 none (10 mm).
AGGRESSIVENESS = 3
GREY = (0.72, 0.74, 0.77)


@dataclass(frozen=True)
class Shape:
    """Something to draw on a link."""

    kind: str  # "mesh", "box", "cylinder", "sphere" or "stick"
    placement: Array  # (4, 4) in the frame of the link; a cylinder's axis is z
    # x, y, z of a box; radius and length of a cylinder or stick; radius of a sphere; scale of a mesh [m]
    size: tuple[float, ...]
    path: Path | None = None  # of a mesh
    colour: tuple[float, float, float] = GREY  # red, green, blue in [0, 1]


def mesh_folders(urdf_path: str) -> list[Path]:
    """Return the folders in which packages with meshes may lie: around the URDF, of ROS workspaces, of known robots."""
    folders = list(Path(urdf_path).resolve().parents) if urdf_path else []
    for variable in ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH"):
        for prefix in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            folders += [Path(prefix, "share"), Path(prefix)]
    folders.append(Path(sys.prefix, "share"))
    for robot in KNOWN_ROBOTS[:2]:  # the others lie beside the second one
        try:
            folders += list(Path(find_urdf(robot)).resolve().parents)[:6]
        except ModelError:  # not installed
            continue
    return list(dict.fromkeys(folder for folder in folders if folder != Path("/")))


def find_mesh(name: str, folders: Iterable[Path]) -> Path | None:
    """Return the file of a mesh that a URDF names by package://, model://, file:// or a path, or None."""
    scheme, separator, rest = name.partition("://")
    candidates: list[Path] = []
    if not separator:
        candidates = [Path(name), *(folder / name for folder in folders)]
    elif scheme == "file":
        candidates = [Path(rest)]
    elif scheme in ("package", "model"):
        parts = [part for part in (rest, rest.partition("/")[2]) if part]
        candidates = [folder / part for folder in folders for part in parts]
    return next((path for path in candidates if path.is_file()), None)


def load_mesh(shape: Shape) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Read a mesh; return vertices (n, 3) [m] in the axes of its shape and triangles (m, 3), coarser if it is large:
    some more than MOST_TRIANGLES of one with many parts. Raises ModelError: no mesh can be read from the file.
    """
    path, scale = shape.path, np.asarray(shape.size)
    try:
        if path is not None and path.suffix.lower() != ".dae":
            import trimesh

            mesh: Any = trimesh.load(path, force="mesh")
            vertices, faces = np.asarray(mesh.vertices) * scale, np.asarray(mesh.faces)
        else:  # trimesh would want another package for these
            from coal import MeshLoader

            loaded = MeshLoader().load(str(path), scale)
            vertices = np.array(loaded.vertices())
            triangles = map(loaded.tri_indices, range(loaded.num_tris))
            faces = np.array([[one[place] for place in range(3)] for one in triangles])
        if not len(faces) or not np.isfinite(vertices).all():
            raise ValueError("no triangles")
    except Exception as error:  # readers of many formats raise errors of many types
        raise ModelError(f"{path} cannot be read: {error}", name="mesh", value=str(path), bound="a mesh") from error
    if len(faces) > MOST_TRIANGLES:
        import fast_simplification

        vertices, faces = fast_simplification.simplify(
            vertices.astype(np.float32), faces.astype(np.int32), target_count=MOST_TRIANGLES, agg=AGGRESSIVENESS
        )
    return vertices.astype(np.float32), faces.astype(np.uint32)
