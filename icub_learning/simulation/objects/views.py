"""Views of an object in the hand: its orientation, the posture of the arm, eye and gaze, light and background."""

import zlib
from dataclasses import dataclass, replace

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from icub_learning import arrays
from icub_learning.arrays import Array
from icub_learning.robots import find_urdf

N_JOINTS = 7
MAX_TILT = 0.35  # [rad] largest tilt of an object about each of the two horizontal axes
SWAY = 0.06  # [rad] largest offset of each joint of the arm
MAX_AIM = 0.15  # largest offset of the object from the centre of the image, relative to half the image
TURN_PERIOD = 2.0  # [s] period of an object that turns in the hand
SCENE_PERIOD = 0.4  # [s] time between changes of the background
UNSEEN = 1_000_000  # first of the view numbers that are meant for testing
_TURNING = 2  # separates the random numbers of turning views from those of numbered ones

# The URDF has no eyes. From the link `head`, whose y axis points up along the axis of the neck's yaw and whose z
# axis points forward, to the point between the eyes, and from there to an eye [m]: kinematics of iCub's head v2 (DH
# parameters of its eye tilt: a = -50.9 mm, d = 82.05 mm above the neck's roll axis; of its eyes: d = 34 mm).
HEAD = "head"
NECK_ROLL_HEIGHT = 0.022344  # [m] height of the neck's roll axis above the link `head`
EYE_TILT = (0.0, 0.08205 + NECK_ROLL_HEIGHT, 0.0509)
HALF_BASELINE = 0.034
UP = np.array([0.0, 0.0, 1.0])  # upward direction in the root frame


@dataclass(frozen=True)
class View:
    """One view of an object.

    Attributes:
        turn: angle of the object about the vertical [rad].
        tilt: angles of the object about the two horizontal axes [rad].
        sway: (7,) offsets of the arm's joints from the posture in which it shows objects [rad].
        aim: position of the object in the image, right and up, relative to half the image.
        roll: angle by which the head is tilted to the side [rad].
        distance: distance of the object, relative to that of the real eye.
        light_azimuth: direction of the light about the vertical [rad]; 0: from behind the robot.
        light_elevation: direction of the light above the horizon [rad].
        light: brightness of the directional light, in [0, 1].
        ambient: brightness of the ambient light, in [0, 1].
        tint: red, green and blue of the light, in [0, 1].
        background: number of the random background.
    """

    turn: float = 0.0
    tilt: tuple[float, ...] = (0.0, 0.0)
    sway: tuple[float, ...] = (0.0,) * N_JOINTS
    aim: tuple[float, ...] = (0.0, 0.0)
    roll: float = 0.0
    distance: float = 1.0
    light_azimuth: float = 0.5
    light_elevation: float = 1.0
    light: float = 0.7
    ambient: float = 0.4
    tint: tuple[float, ...] = (1.0, 1.0, 1.0)
    background: int = 0


def random_view(seed: int, number: int, name: str = "") -> View:
    """Return view `number` (0, 1, 2, ...) of an object, drawn at random for each seed, number and name. Raises
    ParameterError: `seed` or `number` is not an integer of at least 0."""
    given = arrays.integer("seed", seed, 0), arrays.integer("view", number, 0)
    rng = np.random.default_rng([*given, zlib.crc32(name.encode())])
    return replace(
        _random_scene(rng), turn=float(rng.uniform(-np.pi, np.pi)),
        tilt=tuple(rng.uniform(-MAX_TILT, MAX_TILT, 2).tolist()),
        sway=tuple(rng.uniform(-SWAY, SWAY, N_JOINTS).tolist()),
    )  # fmt: skip


def turning_view(seed: int, time: float, name: str = "") -> View:
    """Return the view of an object that has been turned in the hand for `time` [s]. Object, arm, gaze and light move
    smoothly; the background changes every SCENE_PERIOD."""
    code = zlib.crc32(name.encode())
    scene, fraction = divmod(time / SCENE_PERIOD, 1.0)
    now, then = (_random_scene(np.random.default_rng([seed, int(scene) + k, code, _TURNING])) for k in (0, 1))
    between = {
        entry: (1 - fraction) * np.array(getattr(now, entry)) + fraction * np.array(getattr(then, entry))
        for entry in ("aim", "roll", "distance", "light_azimuth", "light_elevation", "light", "ambient", "tint")
    }
    # The periods of these slow waves have no common multiple, so that no combination of tilt and turn repeats.
    phases = np.random.default_rng([seed, code, _TURNING]).uniform(0, 2 * np.pi, N_JOINTS + 2)
    waves = np.sin(phases + 2 * np.pi * time / (TURN_PERIOD * np.sqrt(np.arange(2, N_JOINTS + 4))))
    return View(
        turn=float(2 * np.pi * (time / TURN_PERIOD % 1.0) + phases[0]), tilt=tuple((waves[:2] * MAX_TILT).tolist()),
        sway=tuple((waves[2:] * SWAY).tolist()), background=now.background,
        **{entry: value.tolist() for entry, value in between.items()},
    )  # fmt: skip


def _random_scene(rng: np.random.Generator) -> View:
    return View(
        tint=tuple(random_tint(rng).tolist()), aim=tuple(rng.uniform(-MAX_AIM, MAX_AIM, 2).tolist()),
        roll=float(rng.normal(0.0, 0.08)), distance=float(rng.uniform(0.85, 1.2)),
        light_azimuth=float(rng.uniform(-1.8, 1.8)), light_elevation=float(rng.uniform(0.3, 1.4)),
        light=float(rng.uniform(0.35, 0.9)), ambient=float(rng.uniform(0.15, 0.5)), background=int(rng.integers(2**31)),
    )  # fmt: skip


def random_tint(rng: np.random.Generator) -> Array:
    """Return a random colour (3,) of light between a candle and an overcast sky, its largest entry 1."""
    tint = 1.0 + np.array([1.0, 0.0, -1.0]) * rng.uniform(-0.15, 0.15)
    return tint / tint.max()


def eye_position(side: str) -> Array:
    """Return the position (3,) of the "right" or "left" eye in the root frame [m], with neck and torso at 0."""
    model = pinocchio.buildModelFromUrdf(find_urdf("icub"))
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, pinocchio.neutral(model))
    lateral = -HALF_BASELINE if side == "right" else HALF_BASELINE  # x of the head points to its left
    return data.oMf[model.getFrameId(HEAD)].act(np.add(EYE_TILT, [lateral, 0.0, 0.0]))


def gaze_axes(eye: ArrayLike, target: ArrayLike, roll: float = 0.0) -> Array:
    """Return the axes of an eye at (3,) [m] that looks at `target` (3,) [m], as columns (3, 3): right, up and backward.
    The target is not vertically above or below the eye; `roll` tilts the head to the side [rad]."""
    backward = np.subtract(eye, target)
    backward = backward / np.linalg.norm(backward)
    right = np.cross(UP, backward)
    right /= np.linalg.norm(right)
    level = np.column_stack([right, np.cross(backward, right)])
    turned = level @ np.array([[np.cos(roll), -np.sin(roll)], [np.sin(roll), np.cos(roll)]])
    return np.column_stack([turned, backward])
