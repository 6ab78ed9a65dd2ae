"""URDFs of the robots that the tests use, and random states of them."""

from pathlib import Path

import icub_models
import numpy as np
import pinocchio

# example-robot-data installs beside pinocchio, under the same prefix.
_SHARE = Path(pinocchio.__file__).parents[4] / "share" / "example-robot-data" / "robots"

ICUB = Path(icub_models.get_model_file("iCubGenova01"))
UR10 = _SHARE / "ur_description" / "urdf" / "ur10_robot.urdf"
PANDA = _SHARE / "panda_description" / "urdf" / "panda.urdf"

ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_prosup", "wrist_pitch", "wrist_yaw")
RIGHT_ARM, LEFT_ARM = tuple(f"r_{joint}" for joint in ARM), tuple(f"l_{joint}" for joint in ARM)
UR10_JOINTS = (
    "shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint",
)  # fmt: skip
PANDA_JOINTS = (*(f"panda_joint{number}" for number in range(1, 8)), "panda_finger_joint1", "panda_finger_joint2")


def random_state(n_joints, seed):
    """Return q, v and a of a robot in lively motion: (n_joints,) each."""
    random = np.random.default_rng(seed)
    return random.uniform(-np.pi, np.pi, n_joints), random.normal(0, 3, n_joints), random.normal(0, 10, n_joints)
