"""The eyes of the iCub: their positions, and the orientation in which an eye looks at a point."""

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.robots import find_urdf

# The URDF has no eyes. From the link `head`, whose y axis points up along the axis of the neck's yaw and whose z
# axis points forward, to the point between the eyes, and from there to an eye [m]: kinematics of iCub's head v2 (DH
# parameters of its eye tilt: a = -50.9 mm, d = 82.05 mm above the neck's roll axis; of its eyes: d = 34 mm).
HEAD = "head"
NECK_ROLL_HEIGHT = 0.022344  # [m] above the link `head`
EYE_TILT = (0.0, 0.08205 + NECK_ROLL_HEIGHT, 0.0509)
HALF_BASELINE = 0.034
UP = np.array([0.0, 0.0, 1.0])  # in the root frame


def eye_position(side: str) -> Array:
    """Return the position (3,) of the "right" or "left" eye in the root frame [m], with neck and torso at 0."""
    model = pinocchio.buildModelFromUrdf(find_urdf("icub"))
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, pinocchio.neutral(model))
    lateral = -HALF_BASELINE if side == "right" else HALF_BASELINE  # x of the head points to its left
    return data.oMf[model.getFrameId(HEAD)].act(np.add(EYE_TILT, [lateral, 0.0, 0.0]))


def gaze_axes(eye: ArrayLike, target: ArrayLike, roll: float = 0.0) -> Array:
    """Return the axes of an eye at (3,) [m] that looks at `target` (3,) [m], as columns (3, 3): right, up and backward.

    The target is not vertically above or below the eye; `roll` tilts the head to the side [rad].
    """
    backward = np.subtract(eye, target)
    backward = backward / np.linalg.norm(backward)
    right = np.cross(UP, backward)
    right /= np.linalg.norm(right)
    up = np.cross(backward, right)
    level = np.column_stack([right, up])
    turned = level @ np.array([[np.cos(roll), -np.sin(roll)], [np.sin(roll), np.cos(roll)]])
    return np.column_stack([turned, backward])
