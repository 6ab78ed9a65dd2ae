"""The rigid bodies of a robot of the zoo: a published description whose inertial parameters were changed at random."""

from collections.abc import Sequence

import numpy as np
import pinocchio

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.robot_model import RobotModel


class TrueBodies:
    """A robot with the geometry of a URDF and inertial parameters of its own, which no learner knows.

    The mass of every body is multiplied by a random number, and its distribution of mass is sheared and stretched by a
    random linear map, so that it stays physically possible. `spread` is the standard deviation of the logarithm of
    the masses, and of the entries of the map. Without `sensor`, a fixed joint, outputs are joint torques.
    """

    def __init__(
        self, urdf: str, joints: Sequence[str], sensor: str | None, spread: float, rng: np.random.Generator
    ) -> None:
        self._robot = RobotModel(urdf, joints, sensor)
        model = self._robot.model
        for body in range(1, model.njoints):
            model.inertias[body] = changed_inertia(model.inertias[body], spread, rng)
        beyond = list(model.subtrees[self._robot.sensor_id]) if sensor else list(range(1, model.njoints))
        self.parameters = self._robot.body_parameters(beyond)
        indices = [model.getJointId(joint) for joint in joints]
        plain = np.array([model.joints[index].nq == 1 for index in indices])
        places = [model.joints[index].idx_q for index in indices]
        # Limits of the positions from the URDF [rad or m], infinite where it has none.
        self.low = np.where(plain, model.lowerPositionLimit[places], -np.inf)
        self.high = np.where(plain, model.upperPositionLimit[places], np.inf)

    def outputs(self, q: Array, v: Array, a: Array) -> Array:
        """Return torques (n, n_joints) [N m], or a sensor's wrenches (n, 6) [N, N m], of motions (n, n_joints) each."""
        robot = self._robot
        model, data, rows, sensor = robot.model, robot.data, robot.velocity_index, robot.sensor_id
        results = np.empty((len(q), 6 if sensor else len(rows)))
        for index in range(len(q)):
            torques = pinocchio.rnea(model, data, *robot.state(q[index], v[index], a[index]))
            results[index] = data.f[sensor].vector if sensor else torques[rows]
        return results


def changed_inertia(inertia: pinocchio.Inertia, spread: float, rng: np.random.Generator) -> pinocchio.Inertia:
    """Return the inertia of the same body, heavier or lighter and stretched about the origin of its frame at random."""
    heavier, noise = np.exp(spread * rng.standard_normal()), rng.standard_normal((3, 3))
    if not inertia.mass > 0:
        return inertia  # a body of no mass is a frame of the description, not a part of the robot
    mass, stretch = inertia.mass * heavier, np.eye(3) + spread * noise
    about_centre = inertia.inertia * heavier
    second_moment = np.trace(about_centre) / 2 * np.eye(3) - about_centre
    second_moment = stretch @ second_moment @ stretch.T
    # Rounding in a description may yield an inertia that no body has; it is lifted to one that a body can have.
    values, axes = np.linalg.eigh(second_moment)
    second_moment = (axes * np.maximum(values, 1e-9 * mass)) @ axes.T
    about_centre = np.trace(second_moment) * np.eye(3) - second_moment
    return pinocchio.Inertia(mass, stretch @ inertia.lever, about_centre)


def planar_arm_urdf(lengths: Sequence[float], masses: Sequence[float]) -> str:
    """Return the URDF (XML text) of an arm whose links, uniform rods [m, kg], swing in one vertical plane.

    Its dynamics can be written down by hand. Link k is "link_k" on the joint "joint_k" about the horizontal y axis, k
    from 1 on; at 0 every rod points along the x axis of the one before.
    """
    parts, parent, start = ['<link name="base"/>'], "base", 0.0
    for number, (length, mass) in enumerate(zip(lengths, masses, strict=True), 1):
        across, along = mass * length**2 / 12, mass * length**2 / 1200
        parts.append(
            f'<link name="link_{number}"><inertial><origin xyz="{length / 2} 0 0"/><mass value="{mass}"/>'
            f'<inertia ixx="{along}" iyy="{across}" izz="{across}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="joint_{number}" type="revolute"><origin xyz="{start} 0 0"/><axis xyz="0 1 0"/>'
            f'<parent link="{parent}"/><child link="link_{number}"/>'
            '<limit lower="-3" upper="3" effort="200" velocity="10"/></joint>'
        )
        parent, start = f"link_{number}", length
    return f'<robot name="planar_arm">{"".join(parts)}</robot>'
