"""The wrench at a force/torque sensor, linear in the inertial parameters of the bodies beyond it."""

import os
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pinocchio

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.base_parameters import base_projection
from icub_learning.dynamics.regressors.robot_model import RobotModel
from icub_learning.dynamics.regressors.sensor_columns import fill_gain, sensor_parameter_names, sensor_regularization
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
    a fixed or held joint ties to a body are part of it, carried into its frame. With offset, then the six offsets of
    the sensor, "offset.fx" to "offset.tz" [N, N m], in the sense of the measured wrench: raw sensors show tens of
    newtons that no mass explains. With gain, then the 36 errors of its gain matrix row by row, "gain.fx.fx",
    "gain.fx.fy" to "gain.tz.tz" (shown axis, true axis; [1], [1/m], [m]), see `sensor_columns.fill_gain`.

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
        nominal_parameters: (n_parameters,) from the URDF; offsets and errors of the gain 0.
        relative_regularization: (n_parameters,), see `regressor.relative_regularization`.
        offset_indices: (6,) index of the parameter that is the offset of each output; () without.
    """

    def __init__(
        self,
        model: RobotModel,
        sensor: str,
        direction: str = "parent_to_child",
        offset: bool = True,
        gain: bool = False,
    ) -> None:
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
        self._offset, self._gain = offset, gain
        self._nominal_inertial = model.body_parameters(bodies)
        self._n_inertial = len(self._nominal_inertial)
        own = sensor_regularization(offset, gain)
        self.parameter_names = model.body_parameter_names(bodies) + sensor_parameter_names(offset, gain)
        self.nominal_parameters = np.concatenate([self._nominal_inertial, np.zeros(len(own))])
        self.relative_regularization = np.concatenate([np.ones(self._n_inertial), own])
        self.n_parameters = len(self.parameter_names)
        self.offset_indices = tuple(range(self._n_inertial, self._n_inertial + 6)) if offset else ()
        self._template: Array = np.zeros((self.n_outputs, self.n_parameters))  # with what no motion changes
        self._template[range(len(self.offset_indices)), self.offset_indices] = 1.0
        # Pinocchio numbers a subtree without gaps, so both ranges are slices.
        first_row = model.model.joints[model.sensor_id].idx_v
        self._block = np.s_[first_row : first_row + 6, 10 * (bodies[0] - 1) : 10 * bodies[-1]]

    @classmethod
    def from_urdf(
        cls,
        urdf: str | os.PathLike[str],
        joints: Sequence[str],
        sensor: str,
        direction: str = "parent_to_child",
        offset: bool = True,
        gain: bool = False,
    ) -> "WrenchRegressor":
        """Build the regressor from a URDF.

        Args:
            urdf: path of a URDF file, or its XML text.
            joints: names of the joints that move, in the order of q, v and a.
            sensor: name of the fixed joint that carries the sensor, e.g. "r_arm_ft_sensor".
            direction: "parent_to_child" if the measured wrench is the one applied to the link after the sensor,
                "child_to_parent" if it is the reaction to that.
            offset: whether to add the six offsets of the sensor.
            gain: whether to add the 36 errors of its gain matrix.

        Raises:
            ModelError: the URDF cannot be read, or lacks a joint or the sensor; see `RobotModel`.
            ParameterError: the direction is none of the two.
        """
        return cls(RobotModel(urdf, joints, sensor), sensor, direction, offset, gain)

    def twin(self) -> "WrenchRegressor":
        """Return a regressor for another thread: the same, with memory of its own."""
        model = RobotModel(self._model.urdf, self.joints, self.sensor)
        return WrenchRegressor(model, self.sensor, self.direction, self._offset, self._gain)

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        """Return the regressor (6, n_parameters), a new array, of q, v, a (n_joints,) in rad or m, and seconds.

        Raises ShapeError for another shape; values are not checked.
        """
        model = self._model
        every = pinocchio.computeJointTorqueRegressor(model.model, model.data, *model.state(q, v, a))
        result: Array = self._template.copy()
        inertial = result[:, : self._n_inertial]
        inertial[:] = every[self._block]
        if self.direction == "child_to_parent":
            np.negative(inertial, out=inertial)
        if self._gain:
            fill_gain(result[:, -36:], inertial @ self._nominal_inertial)
        return result

    def state(self) -> dict[str, Array]:
        """Return what the regressor is made of, as a dict of arrays; see `saved_states.rebuild_regressor`."""
        return {
            "kind": np.asarray("wrench"),
            "urdf": np.asarray(self._model.urdf),
            "sensor": np.asarray(self.sensor),
            "direction": np.asarray(self.direction),
            "sensor_columns": np.asarray(["offset"] * self._offset + ["gain"] * self._gain, dtype=np.str_),
        }

    @cached_property
    def base_projection(self) -> Array:
        """(n_base, n_parameters): the identifiable combinations, see `base_parameters.base_projection`."""
        return base_projection(self, self.n_joints, self.n_parameters)

    @property
    def n_base(self) -> int:
        """Number of identifiable combinations of the parameters."""
        return len(self.base_projection)
