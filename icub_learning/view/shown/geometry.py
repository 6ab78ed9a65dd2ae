"""A robot from its URDF: what each link looks like, where it is, and the triangles of its meshes."""

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.errors import ModelError
from icub_learning.robots import KNOWN_ROBOTS, find_urdf

MOST_TRIANGLES = 1_000  # most triangles of one mesh; a larger one is made coarser, for browsers without a graphics card
# Made coarser with the library's 7, a mesh of many parts loses some (UR10: up to 80 mm), with 3 none (10 mm).
AGGRESSIVENESS = 3
GREY = (0.72, 0.74, 0.77)  # colour where the URDF gives none: red, green, blue in [0, 1]


@dataclass(frozen=True)
class Shape:
    """Something to draw on a link."""

    kind: str  # "mesh", "box", "cylinder", "sphere" or "stick"
    placement: Array  # (4, 4), pose in the frame of the link; a cylinder's axis is z
    # x, y, z of a box; radius and length of a cylinder or stick; radius of a sphere; scale of a mesh [m]
    size: tuple[float, ...]
    path: Path | None = None  # file of a mesh
    colour: tuple[float, float, float] = GREY  # red, green, blue in [0, 1]


def mesh_folders(urdf_path: str) -> list[Path]:
    """Return the folders in which packages with meshes may lie: around the URDF, of ROS workspaces, of known robots."""
    folders = list(Path(urdf_path).resolve().parents) if urdf_path else []
    for variable in ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH"):
        for prefix in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            folders += [Path(prefix, "share"), Path(prefix)]
    folders.append(Path(sys.prefix, "share"))
    for robot in KNOWN_ROBOTS[:2]:  # the other robots lie beside the second one
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
    """Read a mesh; return vertices (n, 3) [m] in the axes of its shape and triangles (m, 3). A large mesh is made
    coarser, to MOST_TRIANGLES, or some more if it has many parts. Raises ModelError: no mesh can be read from the file.
    """
    path, scale = shape.path, np.asarray(shape.size)
    try:
        if path is not None and path.suffix.lower() != ".dae":
            import trimesh

            mesh: Any = trimesh.load(path, force="mesh")
            vertices, faces = np.asarray(mesh.vertices) * scale, np.asarray(mesh.faces)
        else:  # trimesh would need another package for .dae files
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


class RobotGeometry:
    """Shapes and poses of the links of a robot, from XML text that came from the file `path` ("": unknown), around
    which meshes are looked for.

    A body is what moves with one joint; number 0 stands still. Links whose meshes are not found, and robots without
    any, get sticks from joint to joint. Raises ModelError: the text is no URDF that Pinocchio can read.
    """

    def __init__(self, urdf: str, path: str = "") -> None:
        try:
            root = ElementTree.fromstring(urdf.encode())
            self._model = pinocchio.buildModelFromXML(urdf)
        except (ElementTree.ParseError, RuntimeError, ValueError) as error:
            text = f"the robot cannot be drawn: {' '.join(str(error).split())}"
            raise ModelError(text, name="urdf", value=path or "text", bound="a valid URDF") from error
        model = self._model
        self._data = model.createData()
        movable = [(name, number) for number, name in enumerate(model.names) if number and model.joints[number].nv == 1]
        self._joint_ids = dict(movable)
        self.joints = tuple(self._joint_ids)  # names of the joints that have a position
        self._frames = {
            frame.name: number
            for number, frame in enumerate(model.frames)
            if frame.type == pinocchio.FrameType.BODY or frame.name not in {one.name for one in model.frames[:number]}
        }
        folders = mesh_folders(path)
        self.shapes: dict[str, list[Shape]] = {}  # shapes that are drawn on each link
        self.missing: list[str] = []  # meshes that were not found
        bare = []
        materials = {one.get("name", ""): _colour(one, {}) for one in root.findall("material")}
        for link in root.findall("link"):
            name, visuals = link.get("name", ""), link.findall("visual")
            found = [shape for visual in visuals if (shape := self._shape(visual, folders, materials)) is not None]
            if found:
                self.shapes[name] = found
            elif visuals:
                bare.append(name)
        if not self.shapes:
            bare = [link.get("name", "") for link in root.findall("link")]
        self.shapes |= {name: _sticks(root, name) for name in bare}
        self.parents = tuple(model.parents)  # number of the body on which each body moves
        frames = {name: model.frames[self._frames[name]] for name in self.shapes if name in self._frames}
        # For each link with shapes, the number of its body, and its pose (4, 4) on it.
        self.carriers = {name: (int(frame.parentJoint), frame.placement.homogeneous) for name, frame in frames.items()}

    def chain(self, body: int) -> list[int]:
        """Return the number of a body after those of the bodies that carry it, from the one that stands still."""
        found = [body]
        while found[0]:
            found.insert(0, self.parents[found[0]])
        return found

    def poses(self, joints: Mapping[str, float], links: Iterable[str]) -> dict[str, Array]:
        """Return the pose (4, 4) of links and other frames in the root frame; joints that are not given are at 0."""
        q = pinocchio.neutral(self._model)
        for name, value in joints.items():
            number = self._joint_ids.get(name)
            if number is None or not np.isfinite(value):
                continue
            joint = self._model.joints[number]
            if joint.nq == 1:
                q[joint.idx_q] = value
            else:  # a joint without limits is given by cosine and sine
                q[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        pinocchio.framesForwardKinematics(self._model, self._data, q)
        return {name: self._data.oMf[self._frames[name]].homogeneous for name in links if name in self._frames}

    def body_poses(self) -> Array:
        """Return position [m] and quaternion (w, x, y, z) of each body (n, 7) on its parent, as of the last `poses`."""
        return np.array([pinocchio.SE3ToXYZQUAT(one) for one in self._data.liMi])[:, (0, 1, 2, 6, 3, 4, 5)]

    def joint_axes(self, names: Iterable[str]) -> dict[str, tuple[Array, Array]]:
        """Return origin and unit axis (3,) each of joints, as of the last call of `poses`."""
        found = {}
        for name, number in ((name, self._joint_ids[name]) for name in names if name in self._joint_ids):
            placement = self._data.oMi[number]
            column = np.asarray(self._model.joints[number].createData().S).reshape(6, -1)[:, 0]
            direction = column[3:] if np.any(column[3:]) else column[:3]
            found[name] = placement.translation.copy(), placement.rotation @ direction
        return found

    def _shape(self, visual: ElementTree.Element, folders: list[Path], materials: dict) -> Shape | None:
        kind = visual.find("geometry/*")
        if kind is None:
            return None
        material = visual.find("material")
        colour = GREY if material is None else _colour(material, materials)
        with suppress(ValueError):  # such a shape is not drawn
            placement = _origin(visual.find("origin"))
            if kind.tag == "mesh":
                name = kind.get("filename", "")
                if (path := find_mesh(name, folders)) is not None:
                    return Shape("mesh", placement, _numbers(kind.get("scale", "1 1 1"), 3), path, colour)
                self.missing.append(name)
            elif kind.tag == "box":
                return Shape("box", placement, _numbers(kind.get("size", ""), 3), colour=colour)
            elif kind.tag in ("cylinder", "capsule"):
                size = float(kind.get("radius", "")), float(kind.get("length", ""))
                return Shape("cylinder", placement, size, colour=colour)
            elif kind.tag == "sphere":
                return Shape("sphere", placement, (float(kind.get("radius", "")),), colour=colour)
        return None


def _sticks(root: ElementTree.Element, link: str) -> list[Shape]:
    """Return sticks from the origin of a link to those of the joints on it, and a ball at its origin."""
    ends = [
        _origin(joint.find("origin"))[:3, 3]
        for joint in root.findall("joint")
        if (parent := joint.find("parent")) is not None and parent.get("link") == link
    ]
    radius = min(0.03, max(0.008, 0.08 * max((float(np.linalg.norm(end)) for end in ends), default=0.0)))
    shapes = [Shape("sphere", np.eye(4), (1.3 * radius,))]
    for end in ends:
        length = float(np.linalg.norm(end))
        if length > 1e-3:
            placement = np.eye(4)
            placement[:3, :3] = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), end / length).matrix()
            placement[:3, 3] = end / 2.0
            shapes.append(Shape("stick", placement, (radius, length)))
    return shapes


def _origin(element: ElementTree.Element | None) -> Array:
    placement = np.eye(4)
    if element is not None:
        placement[:3, 3] = _numbers(element.get("xyz", "0 0 0"), 3)
        placement[:3, :3] = pinocchio.rpy.rpyToMatrix(*_numbers(element.get("rpy", "0 0 0"), 3))
    return placement


def _numbers(text: str, count: int) -> tuple[float, ...]:
    values = tuple(map(float, text.split()))
    if len(values) != count:
        raise ValueError(f"{count} numbers expected, not {text!r}")
    return values


def _colour(material: ElementTree.Element, known: Mapping) -> tuple[float, float, float]:
    element = material.find("color")
    if element is None:
        return known.get(material.get("name", ""), GREY)
    try:
        return _numbers(element.get("rgba", "0.7 0.7 0.7 1"), 4)[:3]  # type: ignore[return-value]
    except ValueError:
        return GREY
