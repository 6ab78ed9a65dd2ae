"""Recordings with known answers: exact rigid-body motions of UR10's first joints, by Pinocchio."""

import numpy as np
import pinocchio

from icub_learning.recording import Recording
from icub_learning.robots import find_urdf

JOINTS = ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint")
PERIOD_NS = 8_000_000


def rigid_recording(n: int = 800, noise: float = 0.0, seed: int = 0) -> Recording:
    """Return a recording of UR10 in smooth motion; efforts by its URDF with its wrist held, plus white noise [N m]."""
    full = pinocchio.buildModelFromUrdf(find_urdf("ur10"))
    held = [full.getJointId(name) for name in full.names[1:] if name not in JOINTS]
    model = pinocchio.buildReducedModel(full, held, np.zeros(full.nq))
    data, rng = model.createData(), np.random.default_rng(seed)
    t = np.arange(1, n + 1)[:, None, None] * PERIOD_NS * 1e-9
    frequency, phase, amplitude = rng.uniform(1.0, 5.0, (1, 3, 4)), rng.uniform(0, 2 * np.pi, (1, 3, 4)), 0.3
    q = (amplitude * np.sin(frequency * t + phase)).sum(axis=2)
    v = (amplitude * frequency * np.cos(frequency * t + phase)).sum(axis=2)
    a = (-amplitude * frequency**2 * np.sin(frequency * t + phase)).sum(axis=2)
    effort = np.array([pinocchio.rnea(model, data, *row) for row in zip(q, v, a, strict=True)])
    return Recording(
        joint_names=JOINTS, joint_stamps=np.arange(1, n + 1) * PERIOD_NS, position=q, velocity=v,
        effort=effort + noise * rng.normal(size=effort.shape), acceleration=a,
    )  # fmt: skip
