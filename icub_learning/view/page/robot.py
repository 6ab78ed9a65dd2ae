"""The robot in 3-D: its links where the joints say, and arrows of what is measured, predicted and external."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import viser
import viser.transforms as transforms

from icub_learning.arrays import Array
from icub_learning.errors import ModelError
from icub_learning.reporting.colours import COLOURS, GREEN, RED
from icub_learning.view.shown.geometry import RobotGeometry, Shape, load_mesh
from icub_learning.view.shown.state import Learner, State

ARROW_COLOURS = {"measured": COLOURS["measured"], "predicted": GREEN, "external": RED}
LONGEST_ARROW = 0.35  # [m] length of the arrow for the largest force or effort seen so far
BESIDE = {"measured": -0.02, "predicted": 0.02, "external": 0.0}  # [m] offsets: equal arrows would hide each other
SMALLEST_RANGE = {"N": 20.0, "N m": 2.0}  # least force or torque that the longest arrow stands for
MOVED = 1e-4  # positions [m] and quaternions that changed by less are not sent


class RobotView:
    """Draws the robot of a state as soon as its URDF is known; meshes follow one by one.

    `show` is called with a line that says what is not drawn as it is, and why.
    """

    def __init__(self, server: viser.ViserServer, show: Callable[[str], None]) -> None:
        self._server, self._show = server, show
        self._urdf = ""
        self.geometry: RobotGeometry | None = None
        self._bodies: dict[int, viser.FrameHandle] = {}  # frames, each on its parent: only moving joints are sent
        self._sent = np.zeros((0, 7))  # poses of bodies that were sent last, as `body_poses` returns them
        self.arrows: dict[str, viser.ArrowsHandle] = {}
        self._largest: dict[str, float] = {}
        self._adding = threading.Lock()  # while a shape is added, no body is removed

    def update(self, state: State, learner: Learner | None) -> None:
        robot = state.shown(learner.name if learner is not None else "")
        if robot.urdf != self._urdf:
            self._load(robot.urdf, robot.urdf_path)
        if self.geometry is None:
            return
        poses = self.geometry.poses(robot.joints, [learner.frame] if learner is not None and learner.frame else [])
        self._move(self.geometry.body_poses())
        self._draw_arrows(learner, poses)

    def _load(self, urdf: str, path: str) -> None:
        self._urdf = urdf
        with self._adding:
            if self._bodies:
                self._bodies[0].remove()  # the others are on it and go with it
            self._bodies, self.geometry = {}, None
        if not urdf:
            return
        try:
            geometry = self.geometry = RobotGeometry(urdf, path)
        except ModelError as error:
            self._show(str(error))
            return
        chains = [geometry.chain(body) for body, _ in geometry.carriers.values()]
        for number in sorted({0}.union(*chains)):
            self._bodies[number] = self._server.scene.add_frame(_path(geometry, number), show_axes=False)
        self._sent = np.full((len(geometry.parents), 7), np.inf)
        if geometry.missing:
            some = ", ".join(geometry.missing[:3])
            self._show(f"{len(geometry.missing)} meshes were not found, sticks stand for them: {some}")
        poses = geometry.poses({}, geometry.shapes)
        lowest = min((pose[2, 3] for pose in poses.values()), default=0.0)
        self._server.scene.add_grid("/floor", width=4.0, height=4.0, position=(0.0, 0.0, lowest - 0.1),
                                    cell_color=(225, 227, 230), section_color=(200, 204, 208))  # fmt: skip
        # The camera of newly opened pages looks at the robot from the front and above.
        points, camera = np.array([pose[:3, 3] for pose in poses.values()]), self._server.initial_camera
        middle, size = (points.min(axis=0) + points.max(axis=0)) / 2.0, float(np.ptp(points, axis=0).max())
        camera.look_at = tuple(middle)
        camera.position = tuple(middle + max(1.0, 1.25 * size) * np.array([-0.85, -0.75, 0.45]))
        # Large meshes take seconds to read: meanwhile curves and buttons work.
        threading.Thread(target=self._add_shapes, args=(geometry,), daemon=True).start()

    def _add_shapes(self, geometry: RobotGeometry) -> None:
        for number, (name, (body, pose)) in enumerate(geometry.carriers.items()):
            for place, shape in enumerate(geometry.shapes[name]):
                with self._adding:
                    if self.geometry is not geometry:
                        return
                    try:
                        self._add(f"{_path(geometry, body)}/shape_{number}_{place}", shape, pose @ shape.placement)
                    except ModelError as error:
                        self._show(f"{name}: {error}")

    def _move(self, poses: Array) -> None:
        """Send those poses (n, 7) of bodies on their parents that have changed."""
        changed = np.abs(poses - self._sent) > MOVED
        for part, attribute in ((slice(0, 3), "position"), (slice(3, 7), "wxyz")):
            for number in np.flatnonzero(changed[:, part].any(axis=1)):
                self._sent[number, part] = poses[number, part]
                if (handle := self._bodies.get(int(number))) is not None:
                    setattr(handle, attribute, poses[number, part])

    def _add(self, name: str, shape: Shape, pose: Array) -> None:
        scene, colour = self._server.scene, tuple(round(255 * value) for value in shape.colour)
        # Without shadows: a browser without a graphics card draws each frame twice for them.
        placed: dict[str, Any] = {"cast_shadow": False, "receive_shadow": False}
        wxyz = np.asarray(transforms.SO3.from_matrix(pose[:3, :3]).wxyz)
        placed |= {"position": pose[:3, 3], "wxyz": wxyz, "color": colour}
        if shape.kind == "mesh":
            vertices, faces = load_mesh(shape)
            scene.add_mesh_simple(name, vertices, faces, side="double", **placed)
        elif shape.kind == "box":
            scene.add_box(name, dimensions=np.array(shape.size), **placed)
        elif shape.kind == "sphere":
            scene.add_icosphere(name, radius=shape.size[0], **placed)
        else:
            scene.add_cylinder(name, radius=shape.size[0], height=shape.size[1], **placed)

    def _draw_arrows(self, learner: Learner | None, poses: dict[str, Array]) -> None:
        shown = self._arrows_of(learner, poses) if learner is not None and len(learner.curves) else {}
        for kind, colour in ARROW_COLOURS.items():
            points, handle = shown.get(kind), self.arrows.get(kind)
            if points is None:
                if handle is not None:
                    handle.visible = False
            elif handle is None or len(handle.points) != len(points):
                shape: Any = {"shaft_radius": 0.008, "head_radius": 0.0176, "head_length": 0.05}
                rgb: Any = tuple(bytes.fromhex(colour[1:]))
                self.arrows[kind] = self._server.scene.add_arrows(f"/arrows/{kind}", points, rgb, **shape)
            else:
                handle.points, handle.visible = points, True

    def _arrows_of(self, learner: Learner, poses: dict[str, Array]) -> dict[str, np.ndarray]:
        """Return arrows (n, 2, 3): of the force at the sensor, or of each joint's effort along its axis."""
        newest = {kind: getattr(learner.curves, kind)[-1] for kind in ARROW_COLOURS}
        if learner.is_wrench:
            pose = poses.get(learner.frame)
            if pose is None:
                return {}
            scale = self._scale("N", [values[:3] for values in newest.values()])
            starts, beside = pose[None, :3, 3], np.array([0.0, 1.0, 0.0])
            vectors = {kind: (pose[:3, :3] @ values[:3])[None] for kind, values in newest.items()}
        else:
            assert self.geometry is not None
            axes = self.geometry.joint_axes(learner.outputs)
            if set(axes) != set(learner.outputs):
                return {}
            scale = self._scale("N m", list(newest.values()))
            starts, beside = np.array([axes[name][0] for name in learner.outputs]), np.ones(3)
            directions = np.array([axes[name][1] for name in learner.outputs])
            vectors = {kind: values[:, None] * directions for kind, values in newest.items()}
        begins = {kind: starts + BESIDE[kind] * beside for kind in vectors}
        ends = {kind: begins[kind] + scale * vector for kind, vector in vectors.items()}
        return {kind: np.stack([begins[kind], ends[kind]], axis=1).astype(np.float32) for kind in vectors}

    def _scale(self, unit: str, vectors: list[Array]) -> float:
        """Return metres per unit, such that nothing seen so far is longer than LONGEST_ARROW."""
        size = max(float(np.linalg.norm(one)) if unit == "N" else float(np.abs(one).max()) for one in vectors)
        self._largest[unit] = max(self._largest.get(unit, SMALLEST_RANGE[unit]), size if np.isfinite(size) else 0.0)
        return LONGEST_ARROW / self._largest[unit]


def _path(geometry: RobotGeometry, body: int) -> str:
    """Return the name of a body in the scene, which contains those of the bodies that carry it."""
    return "/robot/" + "/".join(map(str, geometry.chain(body)))
