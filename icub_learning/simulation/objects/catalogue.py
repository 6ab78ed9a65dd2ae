"""The objects that can be shown: those of pybullet_data that the set-up fetches, or a folder of meshes or URDFs."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from icub_learning.errors import ObjectError

FOLDER_VARIABLE = "ICUB_LEARNING_OBJECTS"
DEFAULT_FOLDER = Path(sys.prefix, "share", "icub_learning", "objects")
MESHES = (".obj", ".stl", ".ply", ".glb", ".off")


@dataclass(frozen=True)
class ObjectFile:
    """An object's shape, and what its file lacks."""

    path: str | Path  # mesh or URDF
    # roll, pitch and yaw [deg] that turn the object upright, z up
    upright: tuple[float, float, float] = (0.0, 0.0, 0.0)
    # red, green, blue in [0, 1] in place of the file's colours, or None
    colour: tuple[float, float, float] | None = None
    texture: str | Path = ""  # picture projected onto the object in place of the file's colours, or ""
    materials: Sequence[str] = ()  # further files of the object: materials, pictures, licence


# Paths are relative to pybullet_data; colours without texture are those of its URDF, if there is one.
KNOWN = {
    "duck": ObjectFile("duck.obj", (90, 0, 0), materials=("duck.mtl", "duckCM.png")),
    "teddy": ObjectFile("teddy2_VHACD_CHs.obj", (90, 0, 0), colour=(0.62, 0.38, 0.2)),
    "mug": ObjectFile("objects/mug.obj", colour=(1.0, 0.2, 0.2)),
    "lego": ObjectFile("lego/lego.obj", (90, 0, 0), colour=(1.0, 1.0, 0.4)),
    "soccer_ball": ObjectFile("soccerball.obj", materials=("soccerball.mtl", "colors16.png")),
    "domino": ObjectFile(
        "domino/domino.obj", materials=("domino/domino.mtl", "domino/domino.jpg", "domino/license.txt")
    ),
    "letter_block": ObjectFile("jenga/jenga.obj", materials=("jenga/jenga.mtl", "jenga/jenga.png")),
    "wheel": ObjectFile(
        "racecar/meshes/left_rear_wheel.obj",
        materials=("racecar/meshes/left_rear_wheel.mtl", "racecar/meshes/wheel.jpg"),
    ),
    "traffic_cone": ObjectFile("racecar/meshes/cone.obj", materials=("racecar/meshes/cone.mtl",)),
    "laser_scanner": ObjectFile("racecar/meshes/hokuyo.obj", materials=("racecar/meshes/hokuyo.mtl",)),
    "motor": ObjectFile(
        "quadruped/tmotor3.obj", (90, 0, 0), materials=("quadruped/tmotor3.mtl", "quadruped/t-motor.jpg")
    ),
    "bunny": ObjectFile("bunny.obj", (90, 0, 0), colour=(0.85, 0.8, 0.75)),
    "ring": ObjectFile("torus/torus_textured.obj", colour=(0.2, 0.65, 0.75)),
    "checkered_ball": ObjectFile(
        "textured_sphere_smooth.obj", materials=("textured_sphere_smooth.mtl", "checker_huge.gif")
    ),
    "red_ball": ObjectFile("sphere_smooth.obj", materials=("sphere_smooth.mtl",)),
    "shape_sorter": ObjectFile("toys/shape_sorter.obj", texture="table/table.png"),
    "cylinder": ObjectFile("toys/cylinder.obj", materials=("toys/cylinder.mtl",)),
    "prism": ObjectFile("toys/prism.obj", materials=("toys/prism.mtl",)),
    "tray": ObjectFile("tray/tray_textured.obj", materials=("tray/tray_textured.mtl", "tray/tray.jpg")),
    "airplane": ObjectFile("random_urdfs/022/022.obj", texture="checker_blue.png"),
    "hammer": ObjectFile("random_urdfs/006/006.obj", (90, 0, 0), texture="jenga/jenga.png"),
    "bird": ObjectFile("random_urdfs/050/050.obj", texture="uvmap.png"),
    "shuttle": ObjectFile("random_urdfs/016/016.obj", colour=(0.1, 0.65, 0.3)),
    "star": ObjectFile("random_urdfs/036/036.obj", texture="checker_grid.jpg"),
}


def known_files() -> list[str]:
    """Return the files of pybullet_data that the objects in KNOWN consist of."""
    files = (file for known in KNOWN.values() for file in (known.path, known.texture, *known.materials))
    return sorted({str(file) for file in files if file})


def find_objects(folder: str | os.PathLike[str] | None = None) -> dict[str, ObjectFile]:
    """Return the objects of a folder by name. Raises ObjectError: the folder is missing or contains no objects.

    It is searched with its subfolders for URDFs or, if there are none, for meshes; objects are named after their files.
    None: the folder in the environment variable ICUB_LEARNING_OBJECTS, else KNOWN objects.
    """
    chosen = folder or os.environ.get(FOLDER_VARIABLE)
    if not chosen:
        return _known_objects()
    root = Path(chosen).expanduser()
    if not root.is_dir():
        raise ObjectError(f"there is no folder of objects {root}", name="objects", value=str(root), bound="a folder")
    found: dict[str, ObjectFile] = {}
    for suffixes in ((".urdf",), MESHES):
        for path in sorted(root.rglob("*")):
            if path.suffix.lower() in suffixes and path.is_file():
                found.setdefault(path.stem, ObjectFile(path))
        if found:
            return found
    bound = f"files ending in {', '.join(('.urdf', *MESHES))}"
    message = f"there are no objects in {root}: looked for {bound}"
    raise ObjectError(message, name="objects", value=str(root), bound=bound)


def _known_objects() -> dict[str, ObjectFile]:
    if not DEFAULT_FOLDER.is_dir():
        message = (
            f"the objects to show are not in {DEFAULT_FOLDER}; fetch them with: "
            f"python -m icub_learning.simulation.objects.fetch, or name another folder of meshes in {FOLDER_VARIABLE}"
        )
        raise ObjectError(message, name="objects", value=str(DEFAULT_FOLDER), bound="a folder of meshes")
    place = DEFAULT_FOLDER.joinpath
    return {
        name: replace(known, path=place(known.path), texture=known.texture and place(known.texture))
        for name, known in KNOWN.items()
    }
