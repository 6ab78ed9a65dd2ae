"""The wrench at a force/torque sensor, linear in the inertial parameters of the bodies beyond it."""

import os
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pinocchio

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.base_parameters import base_projection
from icub_learning.dynamics.regressors.robot_model import RobotModel
from icub_learning.errors import ParameterError

DIRECTIONS = ("parent_to_child", "child_to_parent")
WRENCH_AXES: tuple[str, ...] = ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")


class WrenchRegressor:
    """Phi(q, v, a) with wrench = Phi @ parameters, for a force/torque sensor at a fixed joint of a fixed-base robot.

    The wrench is what the link before the sensor applies to the link after it, at the origin of the sensor joint and
    in the axes of the link after it (its child): a robot at rest shows the weight it carries, pointing up. It equals
    the force of that joint in Pinocchio's recursive Newton-Euler algorithm (`data.f`), and is "parent_to_child" in
    the words of SDF (`measure_direction`). A sensor that shows the reaction to it is "child_to_parent": the regressor
    then has the opposite sign, and the parameters keep their meaning.

    Parameters: ten for each body beyond the sensor, bodies in the order of the kinematic tree and named by the link
    that the joint (for the first one: the sensor) moves, then m [kg], mcx, mcy, mcz [kg m] (mass times centre of
    mass), Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg m^2] (about the origin of the link's joint frame, in its axes). Links that
    a fixed or held joint ties to a body are part of it, carried into its frame.

    Joints before the sensor matter as well (they turn gravity and move everything beyond); list all that move. Joints
    that are not listed are held at 0, clipped into their limits.

    Source: the inverse dynamics are linear in the inertial parameters (Atkeson, An and Hollerbach, "Estimation of
    inertial parameters of manipulator loads and links", 1986). The sensor is computed as a joint of six degrees of
    freedom at rest, whose rows in Pinocchio's joint torque regressor are the regressor of its wrench.

    Attributes:
        joints: (n_joints) names, the order of q, v and a.
        known_joints: names of all joints that the URDF has.
        frame: the link in whose axes the wrench is given.
        sensor: name of the sensor's joint.
        direction: "parent_to_child" or "child_to_parent".
        n_joints, n_outputs, n_parameters: sizes; n_outputs is 6.
        output_names: "force.x" to "torque.z" [N, N m].
        parameter_names: "link.parameter", as above.
        nominal_parameters: (n_parameters,) from the URDF.
    """

    def __init__(self, model: RobotModel, sensor: str, direction: str = "parent_to_child") -> None:
        if direction not in DIRECTIONS:
            raise ParameterError("direction", direction, f"one of {', '.join(DIRECTIONS)}")
        self._model = model
        self.direction = direction
        self.joints = model.joints
        self.known_joints = model.known_joints
        self.frame = model.body_names[model.sensor_id - 1]
        self.sensor = sensor
        self.n_joints = len(self.joints)
        self.n_outputs = len(WRENCH_AXES)
        self.output_names = WRENCH_AXES
        bodies = list(model.model.subtrees[model.sensor_id])
        self.parameter_names = model.body_parameter_names(bodies)
        self.nominal_parameters = model.body_parameters(bodies)
        self.n_parameters = len(self.parameter_names)
        # Pinocchio numbers a subtree without gaps, so both ranges are slices.
        first_row = model.model.joints[model.sensor_id].idx_v
        self._block = np.s_[first_row : first_row + 6, 10 * (bodies[0] - 1) : 10 * bodies[-1]]

    @classmethod
    def from_urdf(
        cls, urdf: str | os.PathLike[str], joints: Sequence[str], sensor: str, direction: str = "parent_to_child"
    ) -> "WrenchRegressor":
        """Build the regressor from a URDF.

        Args:
            urdf: path of a URDF file, or its XML text.
            joints: names of the joints that move, in the order of q, v and a.
            sensor: name of the fixed joint that carries the sensor, e.g. "r_arm_ft_sensor".
            direction: "parent_to_child" if the measured wrench is the one applied to the link after the sensor,
                "child_to_parent" if it is the reaction to that.

        Raises:
            ModelError: the URDF cannot be read, or lacks a joint or the sensor; see `RobotModel`.
            ParameterError: the direction is none of the two.
        """
        return cls(RobotModel(urdf, joints, sensor), sensor, direction)

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        """Return the regressor (6, n_parameters), a new array.

        Args:
            q: (n_joints,) positions [rad or m].
            v: (n_joints,) velocities [rad/s or m/s].
            a: (n_joints,) accelerations [rad/s^2 or m/s^2].

        Raises:
            ShapeError: an array is not of shape (n_joints,). Values are not checked.
        """
        model = self._model
        every = pinocchio.computeJointTorqueRegressor(model.model, model.data, *model.state(q, v, a))
        rows = every[self._block]
        return np.ascontiguousarray(rows) if self.direction == "parent_to_child" else -rows

    def state(self) -> dict[str, Array]:
        """Return what the regressor is made of, as a dict of arrays; see `saved_states.rebuild_regressor`."""
        return {
            "kind": np.asarray("wrench"),
            "urdf": np.asarray(self._model.urdf),
            "sensor": np.asarray(self.sensor),
            "direction": np.asarray(self.direction),
        }

    @cached_property
    def base_projection(self) -> Array:
        """(n_base, n_parameters): the identifiable combinations, see `base_parameters.base_projection`."""
        return base_projection(self, self.n_joints, self.n_parameters)

    @property
    def n_base(self) -> int:
        """Number of identifiable combinations of the parameters."""
        return len(self.base_projection)
