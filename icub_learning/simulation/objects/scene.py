"""Images of an object in the open hand of the iCub, seen by its eye."""

import os
from collections.abc import Sequence
from functools import partial

import mujoco
import numpy as np
from numpy.typing import NDArray

from icub_learning import arrays
from icub_learning.arrays import Array
from icub_learning.errors import ParameterError
from icub_learning.simulation.arm.arm_model import ArmModel
from icub_learning.simulation.objects.backgrounds import background
from icub_learning.simulation.objects.meshes import RADIUS
from icub_learning.simulation.objects.rendered import RenderedObjects, check_known
from icub_learning.simulation.objects.scene_model import SHOWING, WALL_DISTANCE, scene_model
from icub_learning.simulation.objects.views import View, eye_position, gaze_axes, random_view, turning_view

SIZE = (224, 224)  # [px] width and height of an image
FIELD_OF_VIEW = 45.0  # [deg] field of view along the shorter side of the image
MAX_SIZE = 2048  # [px] largest width and height of an image
PALM = 0.03  # [m] distance from the origin of the hand's frame to the surface of the palm


class ObjectScene(RenderedObjects):
    """Renders images of objects in the hand, one at a time.

    Needs no ROS, no display and no graphics card. Use it only in the thread that created it, and `close` it at the end
    or use it in a `with` statement.

    Args:
        objects: names of the objects to load; None: all of the folder.
        seed: seed of the random views; equal seeds give equal images on the same machine.
        size: width and height of the images [px].
        folder: folder of the objects; None: $ICUB_LEARNING_OBJECTS, else those of the set-up (see find_objects).
        side: "left" or "right", of the arm that shows the objects and of the eye.
        field_of_view: field of view along the shorter side of the image [deg].

    Attributes:
        names: the objects, in the given order.
        shown: the object in the hand, "" for none.

    Raises:
        ObjectError: a name is unknown, or the folder or a file in it is missing or damaged.
        RenderingError: off-screen OpenGL is not available; the message names the packages to install.
        ParameterError: `seed`, `size`, `side` or `field_of_view` is outside its range.
    """

    def __init__(
        self, objects: Sequence[str] | None = None, seed: int = 0, size: tuple[int, int] = SIZE,
        folder: str | os.PathLike[str] | None = None, side: str = "left", field_of_view: float = FIELD_OF_VIEW,
    ) -> None:  # fmt: skip
        if max(arrays.integer("size", entry, 16) for entry in size) > MAX_SIZE:
            raise ParameterError("size", size, f"at most {MAX_SIZE} px a side")
        if side not in ("left", "right"):
            raise ParameterError("side", side, "left or right")
        fov = np.deg2rad(arrays.real("field_of_view", field_of_view, 5.0, 120.0))
        self._arm = ArmModel(side)
        super().__init__(objects, seed, size, folder, partial(scene_model, self._arm))
        self.shown = ""
        model, (width, height) = self._model, size
        self._wall, self._object, hand = (model.geom("wall").id, model.body("object").id, model.body(self._arm.hand).id)
        self._joints = [model.joint(name).qposadr[0] for name in self._arm.joint_names]
        self._eye = eye_position(side)
        vertical = 2 * np.arctan(np.tan(fov / 2) * max(1.0, height / width))
        model.cam_fovy[0] = np.rad2deg(vertical)
        self._half_picture = np.tan(vertical / 2) * np.array([width / height, 1.0])  # half its sides at distance 1
        model.geom_size[self._wall, :2] = 1.01 * WALL_DISTANCE * self._half_picture
        self._pose(np.zeros(len(self._joints)))
        self._showing_hand = self._data.xmat[hand].reshape(3, 3).copy()
        self._background = -1

    def show(self, name: str) -> None:
        """Put another object into the hand, "" for none. Raises ObjectError if it is unknown."""
        if name:
            check_known(name, self.names)
        self.shown = name
        self._show([self.names.index(name)] if name else [])

    def render(self, view: int | View) -> NDArray[np.uint8]:
        """Return the image of the eye, uint8 RGB (height, width, 3), of a View or of the random view of this number.
        Numbers (0, 1, 2, ...) from UNSEEN on are meant for tests. Raises ParameterError: the number is negative."""
        self._arrange(view if isinstance(view, View) else random_view(self.seed, view, self.shown))
        return self._renderer.render(self._data, 0)

    def render_turning(self, time: float) -> NDArray[np.uint8]:
        """Return the image after turning the object in the hand for `time` >= 0 [s]; see `turning_view`."""
        return self.render(turning_view(self.seed, arrays.real("time", time, 0.0), self.shown))

    def _pose(self, sway: Array) -> None:
        self._data.qpos[self._joints] = np.deg2rad(SHOWING) + sway
        mujoco.mj_kinematics(self._model, self._data)

    def _arrange(self, view: View) -> None:
        model, data = self._model, self._data
        depth = self._depths[self.names.index(self.shown)] if self.shown else RADIUS
        model.body_pos[self._object] = self._showing_hand.T @ np.array([0.0, 0.0, PALM + depth])
        mujoco.mju_mat2Quat(model.body_quat[self._object], (self._showing_hand.T @ _object_axes(view)).ravel())
        self._pose(np.asarray(view.sway))

        target = data.xpos[self._object].copy()
        eye = target + view.distance * (self._eye - target)
        axes = gaze_axes(eye, target, view.roll)
        away = np.linalg.norm(target - eye)
        axes = gaze_axes(eye, target - axes[:, :2] @ (np.asarray(view.aim) * self._half_picture * away), view.roll)
        model.cam_pos[0], model.geom_pos[self._wall] = eye, eye - WALL_DISTANCE * axes[:, 2]
        for quat in (model.cam_quat[0], model.geom_quat[self._wall]):
            mujoco.mju_mat2Quat(quat, axes.ravel())

        # Azimuth 0 is behind the robot: its x axis points backward.
        direction, tint = (view.light_azimuth, view.light_elevation), np.asarray(view.tint)
        self._light(target, *direction, view.light * tint, 0.5 * view.light, view.ambient * tint)
        if view.background != self._background:
            self._paint("wall", background(np.random.default_rng([self.seed, view.background])))
            self._background = view.background


def _object_axes(view: View) -> Array:
    """Return the axes of the object in the root frame, for the arm without sway."""
    (c, s), (cx, sx), (cy, sy) = ((np.cos(angle), np.sin(angle)) for angle in (view.turn, *view.tilt))
    about_z = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    return about_x @ about_y @ about_z
