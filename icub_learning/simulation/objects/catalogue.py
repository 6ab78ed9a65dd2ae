"""Objects to show: those of pybullet_data that come with the set-up, or any folder of meshes or URDFs."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from icub_learning.errors import ObjectError

FOLDER_VARIABLE = "ICUB_LEARNING_OBJECTS"
DEFAULT_FOLDER = Path(sys.prefix, "share", "icub_learning", "objects")
MESHES = (".obj", ".stl", ".ply", ".glb", ".off")
SUFFIXES = (".urdf", *MESHES)


@dataclass(frozen=True)
class ObjectFile:
    """Where an object's shape is, and what its file does not tell.

    Attributes:
        name: what `show` takes; also a good label.
        path: mesh or URDF.
        upright: roll, pitch and yaw [deg] that make the object stand on its feet, z up.
        colour: red, green, blue in [0, 1] instead of the file's, or None.
        texture: picture wrapped around the object instead of the file's colours, or None.
    """

    name: str
    path: Path
    upright: tuple[float, float, float] = (0.0, 0.0, 0.0)
    colour: tuple[float, float, float] | None = None
    texture: Path | None = None


@dataclass(frozen=True)
class _Known:
    path: str
    upright: tuple[float, float, float] = (0.0, 0.0, 0.0)
    colour: tuple[float, float, float] | None = None
    texture: str | None = None
    needs: tuple[str, ...] = ()  # further files: materials and pictures


# Paths are those in pybullet_data; colours without a texture are those of its URDFs where it has one.
KNOWN = {
    "duck": _Known("duck.obj", (90, 0, 0), needs=("duck.mtl", "duckCM.png")),
    "teddy": _Known("teddy2_VHACD_CHs.obj", (90, 0, 0), colour=(0.62, 0.38, 0.2)),
    "mug": _Known("objects/mug.obj", colour=(1.0, 0.2, 0.2)),
    "lego": _Known("lego/lego.obj", (90, 0, 0), colour=(1.0, 1.0, 0.4)),
    "soccer_ball": _Known("soccerball.obj", needs=("soccerball.mtl", "colors16.png")),
    "domino": _Known("domino/domino.obj", needs=("domino/domino.mtl", "domino/domino.jpg", "domino/license.txt")),
    "letter_block": _Known("jenga/jenga.obj", needs=("jenga/jenga.mtl", "jenga/jenga.png")),
    "wheel": _Known(
        "racecar/meshes/left_rear_wheel.obj",
        needs=("racecar/meshes/left_rear_wheel.mtl", "racecar/meshes/wheel.jpg"),
    ),
    "traffic_cone": _Known("racecar/meshes/cone.obj", needs=("racecar/meshes/cone.mtl",)),
    "laser_scanner": _Known("racecar/meshes/hokuyo.obj", needs=("racecar/meshes/hokuyo.mtl",)),
    "motor": _Known("quadruped/tmotor3.obj", (90, 0, 0), needs=("quadruped/tmotor3.mtl", "quadruped/t-motor.jpg")),
    "bunny": _Known("bunny.obj", (90, 0, 0), colour=(0.85, 0.8, 0.75)),
    "ring": _Known("torus/torus_textured.obj", colour=(0.2, 0.65, 0.75)),
    "checkered_ball": _Known("textured_sphere_smooth.obj", needs=("textured_sphere_smooth.mtl", "checker_huge.gif")),
    "red_ball": _Known("sphere_smooth.obj", needs=("sphere_smooth.mtl",)),
    "shape_sorter": _Known("toys/shape_sorter.obj", texture="table/table.png"),
    "cylinder": _Known("toys/cylinder.obj", needs=("toys/cylinder.mtl",)),
    "prism": _Known("toys/prism.obj", needs=("toys/prism.mtl",)),
    "tray": _Known("tray/tray_textured.obj", needs=("tray/tray_textured.mtl", "tray/tray.jpg")),
    "airplane": _Known("random_urdfs/022/022.obj", texture="checker_blue.png"),
    "hammer": _Known("random_urdfs/006/006.obj", (90, 0, 0), texture="jenga/jenga.png"),
    "bird": _Known("random_urdfs/050/050.obj", texture="uvmap.png"),
    "shuttle": _Known("random_urdfs/016/016.obj", colour=(0.1, 0.65, 0.3)),
    "star": _Known("random_urdfs/036/036.obj", texture="checker_grid.jpg"),
}


def known_files() -> list[str]:
    """Return the files of pybullet_data that KNOWN objects need."""
    files = {file for known in KNOWN.values() for file in (known.path, known.texture, *known.needs) if file}
    return sorted(files)


def find_objects(folder: str | os.PathLike[str] | None = None) -> dict[str, ObjectFile]:
    """Return the objects of a folder by name.

    Args:
        folder: None: that of the environment variable ICUB_LEARNING_OBJECTS, else the one of the set-up. Of any other
            folder: each URDF (its meshes) or, if there is none, each mesh in it or below, named after its file.

    Raises:
        ObjectError: there is no such folder, or nothing in it.
    """
    chosen = os.fspath(folder) if folder else os.environ.get(FOLDER_VARIABLE, "")
    if not chosen:
        return _known_objects()
    root = Path(chosen).expanduser()
    if not root.is_dir():
        raise ObjectError(f"there is no folder of objects {root}", name="objects", value=str(root), bound="a folder")
    found: dict[str, ObjectFile] = {}
    for suffixes in ((".urdf",), MESHES):
        for path in sorted(root.rglob("*")):
            if path.suffix.lower() in suffixes and path.is_file():
                found.setdefault(path.stem, ObjectFile(path.stem, path))
        if found:
            return found
    bound = f"files ending in {', '.join(SUFFIXES)}"
    raise ObjectError(f"there are no objects in {root}: looked for {bound}", name="objects", value=chosen, bound=bound)


def _known_objects() -> dict[str, ObjectFile]:
    if not DEFAULT_FOLDER.is_dir():
        message = (
            f"the objects to show are not in {DEFAULT_FOLDER}; fetch them with: "
            f"python -m icub_learning.simulation.objects.fetch, or name another folder of meshes in {FOLDER_VARIABLE}"
        )
        raise ObjectError(message, name="objects", value=str(DEFAULT_FOLDER), bound="a folder of meshes")
    return {
        name: ObjectFile(
            name,
            DEFAULT_FOLDER / known.path,
            known.upright,
            known.colour,
            DEFAULT_FOLDER / known.texture if known.texture else None,
        )
        for name, known in KNOWN.items()
    }
