"""Images of an object in the open hand of the iCub, seen by its eye."""

import os
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from icub_learning import arrays
from icub_learning.arrays import Array
from icub_learning.errors import ObjectError, ParameterError
from icub_learning.simulation.arm.arm_model import ArmModel
from icub_learning.simulation.objects.backgrounds import background
from icub_learning.simulation.objects.catalogue import find_objects
from icub_learning.simulation.objects.eye import eye_position, gaze_axes
from icub_learning.simulation.objects.meshes import RADIUS, read_object
from icub_learning.simulation.objects.offscreen import OffscreenRenderer
from icub_learning.simulation.objects.scene_model import HIDDEN_GROUP, SHOWING, WALL_DISTANCE, scene_model
from icub_learning.simulation.objects.views import View, random_view, turning_view

SIZE = (224, 224)  # width, height [px]
FIELD_OF_VIEW = 45.0  # [deg] along the shorter side of the image
MAX_SIZE = 2048  # [px]
PALM = 0.03  # [m] from the origin of the hand's frame to the surface of the palm
SHOWN_GROUP = 0
LONGEST_NAME = 60  # characters of an unknown object's name in a message


class ObjectScene:
    """Renders images of objects in the hand, one at a time.

    Needs no ROS, no display and no graphics card. Use it only in the thread that created it, and `close` it at the end
    or use it in a `with` statement.

        scene = ObjectScene(seed=0)
        scene.show("duck")
        training = [scene.render(number) for number in range(20)]
        unseen = [scene.render(UNSEEN + number) for number in range(20)]

    Args:
        objects: names of the objects to load; None: all of the folder.
        seed: seed of the random views; equal seeds give equal images on the same machine.
        size: width and height of the images [px].
        folder: folder of the objects; None: $ICUB_LEARNING_OBJECTS, else those of the set-up (see find_objects).
        side: "left" or "right" arm, which shows the objects, and eye.
        field_of_view: along the shorter side of the image [deg].

    Attributes:
        names: the objects, in the given order.
        shown: the object in the hand, "" for none.

    Raises:
        ObjectError: a name is unknown, or the folder or a file in it is missing or damaged.
        RenderingError: off-screen OpenGL is not available; the message names the packages to install.
        ParameterError: `seed`, `size`, `side` or `field_of_view` is outside its range.
    """

    def __init__(
        self,
        objects: Sequence[str] | None = None,
        seed: int = 0,
        size: tuple[int, int] = SIZE,
        folder: str | os.PathLike[str] | None = None,
        side: str = "left",
        field_of_view: float = FIELD_OF_VIEW,
    ) -> None:
        self.seed = arrays.integer("seed", seed, 0)
        width, height = (arrays.integer("size", entry, 16) for entry in size)
        if max(width, height) > MAX_SIZE:
            raise ParameterError("size", size, f"at most {MAX_SIZE} px a side")
        if side not in ("left", "right"):
            raise ParameterError("side", side, "left or right")
        self._fov = arrays.real("field_of_view", field_of_view, 5.0, 120.0)
        files = find_objects(folder)
        chosen = list(files) if objects is None else list(dict.fromkeys(objects))
        for name in chosen:
            if name not in files:
                raise _unknown(name, files)
        self.names, self.shown = tuple(chosen), ""
        self._arm = ArmModel(side)
        parts = {name: read_object(files[name]) for name in chosen}
        # [m] from the centre of each object down to its lowest point
        self._depths = [-min(part.vertices[:, 2].min() for part in shape) for shape in parts.values()]
        self._model = scene_model(self._arm, parts, width, height)
        self._data = mujoco.MjData(self._model)
        self._renderer = OffscreenRenderer(self._model, width, height)
        self._prepare(width, height)

    def __enter__(self) -> "ObjectScene":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the OpenGL context."""
        self._renderer.close()

    def show(self, name: str) -> None:
        """Put another object into the hand, "" for none. Raises ObjectError if it is unknown."""
        if name and name not in self.names:
            raise _unknown(name, self.names)
        self.shown = name
        self._model.geom_group[self._object_geoms >= 0] = HIDDEN_GROUP
        if name:
            self._model.geom_group[self._object_geoms == self.names.index(name)] = SHOWN_GROUP

    def render(self, view: int | View) -> NDArray[np.uint8]:
        """Return the image of the eye, uint8 RGB (height, width, 3).

        Args:
            view: a View, or the number (0, 1, 2, ...) of a random view of this object, see `random_view`; numbers from
                UNSEEN on are meant for tests.

        Raises:
            ParameterError: the number is negative.
        """
        self._arrange(view if isinstance(view, View) else random_view(self.seed, view, self.shown))
        return self._renderer.render(self._data, self._camera)

    def render_turning(self, time: float) -> NDArray[np.uint8]:
        """Return the image after turning the object in the hand for `time` >= 0 [s]; see `turning_view`."""
        return self.render(turning_view(self.seed, arrays.real("time", time, 0.0), self.shown))

    def _prepare(self, width: int, height: int) -> None:
        model = self._model
        numbers = [model.geom(index).name.partition("/") for index in range(model.ngeom)]
        self._object_geoms = np.array([int(first) if slash else -1 for first, slash, _ in numbers])
        self._camera, self._light = model.camera("eye").id, model.light("light").id
        self._wall, self._wall_texture = model.geom("wall").id, model.texture("wall").id
        self._object, self._hand = model.body("object").id, model.body(self._arm.hand).id
        self._joints = [model.joint(name).qposadr[0] for name in self._arm.joint_names]
        self._eye = eye_position(self._arm.side)
        vertical = 2 * np.arctan(np.tan(np.deg2rad(self._fov) / 2) * max(1.0, height / width))
        model.cam_fovy[self._camera] = np.rad2deg(vertical)
        self._half_picture = np.tan(vertical / 2) * np.array([width / height, 1.0])  # width and height at distance 1
        model.geom_size[self._wall, :2] = 1.01 * WALL_DISTANCE * self._half_picture
        self._pose(np.zeros(len(self._joints)))
        self._showing_hand = self._data.xmat[self._hand].reshape(3, 3).copy()
        self._background = -1

    def _pose(self, sway: Array) -> None:
        self._data.qpos[self._joints] = np.deg2rad(SHOWING) + sway
        mujoco.mj_kinematics(self._model, self._data)

    def _arrange(self, view: View) -> None:
        """Set positions, orientations and light of the scene as in a view."""
        model, data = self._model, self._data
        depth = self._depths[self.names.index(self.shown)] if self.shown else RADIUS
        model.body_pos[self._object] = self._showing_hand.T @ np.array([0.0, 0.0, PALM + depth])
        _set_quat(model.body_quat[self._object], self._showing_hand.T @ _object_axes(view))
        self._pose(np.asarray(view.sway))

        target = data.xpos[self._object].copy()
        eye = target + view.distance * (self._eye - target)
        axes = gaze_axes(eye, target, view.roll)
        away = np.linalg.norm(target - eye)
        axes = gaze_axes(eye, target - axes[:, :2] @ (np.asarray(view.aim) * self._half_picture * away), view.roll)
        model.cam_pos[self._camera] = eye
        _set_quat(model.cam_quat[self._camera], axes)
        model.geom_pos[self._wall] = eye - WALL_DISTANCE * axes[:, 2]
        _set_quat(model.geom_quat[self._wall], axes)

        level, up = np.cos(view.light_elevation), np.sin(view.light_elevation)
        # Azimuth 0 is behind the robot: its x axis points backward.
        towards = np.array([level * np.cos(view.light_azimuth), level * np.sin(view.light_azimuth), up])
        model.light_dir[self._light], model.light_pos[self._light] = -towards, target + towards
        model.light_diffuse[self._light] = view.light * np.asarray(view.tint)
        model.light_specular[self._light] = 0.5 * view.light
        model.vis.headlight.ambient[:] = view.ambient * np.asarray(view.tint)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        if view.background != self._background:
            self._set_background(view.background)

    def _set_background(self, number: int) -> None:
        picture = background(np.random.default_rng([self.seed, number]))
        begin = self._model.tex_adr[self._wall_texture]
        self._model.tex_data[begin : begin + picture.size] = picture.ravel()
        self._renderer.upload_texture(self._wall_texture)
        self._background = number


def _object_axes(view: View) -> Array:
    """Return the axes of the object in the root frame, for the arm without sway."""
    (c, s), (cx, sx), (cy, sy) = ((np.cos(angle), np.sin(angle)) for angle in (view.turn, *view.tilt))
    about_z = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    return about_x @ about_y @ about_z


def _set_quat(quat: Any, rotation: Array) -> None:
    result = np.empty(4)
    mujoco.mju_mat2Quat(result, np.ascontiguousarray(rotation).ravel())
    quat[:] = result


def _unknown(name: str, known: Any) -> ObjectError:
    few = ", ".join(list(known)[:40]) + (", ..." if len(known) > 40 else "")
    asked = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "..."
    return ObjectError(f"there is no object {asked!r}; known ones: {few}", name="object", value=name, bound=few)
