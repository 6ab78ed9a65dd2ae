"""Shapes of objects, read from mesh files and URDFs as triangles with colours and textures, and scaled to one size."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio
import trimesh
from numpy.typing import NDArray
from PIL import Image

from icub_learning.arrays import Array
from icub_learning.errors import IcubLearningError, ObjectError
from icub_learning.robots import read_urdf
from icub_learning.simulation.objects.catalogue import MESHES, ObjectFile

RADIUS = 0.07  # [m] distance from the centre of an object's bounding box to its farthest point
DEFAULT_COLOUR = (0.7, 0.7, 0.7)
MAX_PICTURE = 512  # [px] largest width and height of a texture
MAX_FACES = 200_000


@dataclass(frozen=True)
class MeshPart:
    """Triangles of one material."""

    vertices: Array  # (n, 3)
    faces: NDArray[np.int32]  # (m, 3) indices of rows of `vertices`
    colour: tuple[float, float, float] = DEFAULT_COLOUR  # red, green, blue in [0, 1]
    # (n, 2) position of each vertex in the picture, rows counted from the top; None without picture
    texcoords: Array | None = None
    picture: NDArray[np.uint8] | None = None  # (height, width, 3) uint8, or None
    wrapped: bool = False  # whether the picture is projected onto the whole object, without texcoords


def read_object(file: ObjectFile) -> list[MeshPart]:
    """Return the parts of an object, upright, with the centre of its bounding box at the origin and radius RADIUS.
    Raises ObjectError: a file is missing or damaged, or has no triangles; the message names it."""
    path = Path(file.path)
    with _reading(path):
        parts = _read_urdf(path) if path.suffix.lower() == ".urdf" else _read_mesh(path)
        vertices = np.vstack([part.vertices for part in parts])
        if sum(len(part.faces) for part in parts) > MAX_FACES:
            raise ValueError(f"more than {MAX_FACES} triangles")
        turn = pinocchio.rpy.rpyToMatrix(np.deg2rad(file.upright))
        vertices = vertices @ turn.T
        middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
        radius = np.linalg.norm(vertices - middle, axis=1).max()
        if not np.isfinite(radius) or radius <= 0:
            raise ValueError("no extent")
    looks: dict[str, Any] = {}
    if file.texture:
        with _reading(Path(file.texture)), Image.open(file.texture) as image:
            looks = {"colour": (1.0, 1.0, 1.0), "picture": _pixels(image), "texcoords": None, "wrapped": True}
    elif file.colour:
        looks = {"colour": file.colour, "picture": None, "texcoords": None}
    return [replace(part, vertices=(part.vertices @ turn.T - middle) * (RADIUS / radius), **looks) for part in parts]


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Raise ObjectError, which names the file, for any exception in this block."""
    try:
        yield
    except ObjectError:
        raise
    except Exception as error:  # readers of formats raise exceptions of many kinds
        reason = error if isinstance(error, (IcubLearningError, ValueError)) else f"{type(error).__name__}: {error}"
        message = f"the object's file {path} cannot be used: {reason}"
        raise ObjectError(message, name="objects", value=str(path), bound="a mesh") from error


def _read_mesh(path: Path) -> list[MeshPart]:
    with _reading(path):
        scene = trimesh.load_scene(path, process=False)
        parts = [
            _part(mesh.apply_transform(scene.graph.get(node)[0]))
            for node in scene.graph.nodes_geometry
            if isinstance(mesh := scene.geometry[scene.graph[node][1]].copy(), trimesh.Trimesh) and len(mesh.faces)
        ]
        if not parts:
            raise ValueError("no triangles")
    return parts


def _part(mesh: trimesh.Trimesh) -> MeshPart:
    part = MeshPart(np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=np.int32))
    visual: Any = mesh.visual
    material = getattr(visual, "material", None)
    if material is None:
        return part if visual.kind is None else replace(part, colour=_rgb(visual.main_color))
    if hasattr(material, "to_simple"):
        material = material.to_simple()
    image, texcoords = getattr(material, "image", None), getattr(visual, "uv", None)
    if image is None or texcoords is None or len(texcoords) != len(part.vertices):
        return replace(part, colour=_rgb(material.diffuse))
    from_above = np.column_stack([texcoords[:, 0], 1.0 - texcoords[:, 1]])
    return replace(part, colour=(1.0, 1.0, 1.0), texcoords=from_above, picture=_pixels(image))


def _read_urdf(path: Path) -> list[MeshPart]:
    """Return the meshes of all visuals, each in the frame of its link: objects have one link."""
    parts = []
    for visual in read_urdf(path).iter("visual"):
        mesh = visual.find("geometry/mesh")
        if mesh is None:
            continue
        name = mesh.get("filename", "").removeprefix("package://").removeprefix("file://")
        file = next((folder / name for folder in path.parents if (folder / name).is_file()), None)
        if file is None or file.suffix.lower() not in MESHES:
            raise ValueError(f"its mesh {name!r} is missing or of an unknown kind ({', '.join(MESHES)})")
        origin, colour = visual.find("origin"), visual.find("material/color")
        scale, xyz, rpy = _numbers(mesh, "scale", "1 1 1"), _numbers(origin, "xyz"), _numbers(origin, "rpy")
        rgb = None if colour is None else _rgb(255 * _numbers(colour, "rgba", "0.7 0.7 0.7 1"))
        for part in _read_mesh(file):
            moved = replace(part, vertices=(part.vertices * scale) @ pinocchio.rpy.rpyToMatrix(rpy).T + xyz)
            parts.append(moved if rgb is None or part.picture is not None else replace(moved, colour=rgb))
    if not parts:
        raise ValueError("no mesh among its visuals")
    return parts


def _numbers(element: ElementTree.Element | None, key: str, default: str = "0 0 0") -> Array:
    text = element.get(key, default) if element is not None else default
    numbers = np.array([float(entry) for entry in text.split()])
    if len(numbers) != len(default.split()) or not np.isfinite(numbers).all():
        raise ValueError(f"{key}={text!r} is not {len(default.split())} numbers")
    return numbers


def _pixels(image: Image.Image) -> NDArray[np.uint8]:
    """Return the pixels, resized to powers of two, which every OpenGL supports."""
    sides = [min(MAX_PICTURE, 2 ** round(np.log2(max(side, 2)))) for side in image.size]
    return np.asarray(image.convert("RGB").resize((sides[0], sides[1])), dtype=np.uint8)


def _rgb(colour: NDArray[Any]) -> tuple[float, float, float]:
    red, green, blue = (float(entry) / 255 for entry in colour[:3])
    return red, green, blue
