"""The joint torques of a robot, linear in its inertial and friction parameters."""

import os
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pinocchio

from icub_learning.arrays import Array, finite, vector
from icub_learning.dynamics.regressors.base_parameters import base_projection
from icub_learning.dynamics.regressors.friction import (
    DRIVE_COLUMNS,
    STANDSTILL,
    checked_columns,
    coulomb_velocity,
    drive_regularization,
    fill_friction,
)
from icub_learning.dynamics.regressors.robot_model import RobotModel
from icub_learning.errors import NotFiniteError, ParameterError, ShapeError


class TorqueRegressor:
    """Phi(q, v, a) with joint torques = Phi @ parameters, for the chosen joints of a fixed-base robot.

    Parameters: ten for each body that a chosen joint moves, bodies in the order of the kinematic tree and named by
    the link that the joint moves: m [kg], mcx, mcy, mcz [kg m] (mass times centre of mass), Ixx, Ixy, Iyy, Ixz, Iyz,
    Izz [kg m^2] (about the origin of the link's joint frame, in its axes); links that a fixed or held joint ties to a
    body are part of it, carried into its frame. With friction, then those of the drive of each joint, in the order of
    `joints`: "joint.coulomb" [N m], "joint.viscous" [N m s/rad], "joint.offset" [N m], "joint.stribeck" [N m],
    "joint.load" (no unit) and "joint.rotor" [kg m^2] (prismatic: N, N s/m, N, N, none, kg), see `fill_friction`. Where
    the robot reports motor currents instead of torques, all parameters are scaled by the joints' drive gains.

    Joints that are not listed are held at 0, clipped into their limits.

    Source: the inverse dynamics are linear in the inertial parameters (Atkeson, An and Hollerbach, "Estimation of
    inertial parameters of manipulator loads and links", 1986); Pinocchio's joint torque regressor.

    Attributes:
        joints: (n_joints) names, the order of q, v, a and of the outputs.
        known_joints: names of all joints that the URDF has.
        frame: "": torques have none.
        n_joints, n_outputs, n_parameters: sizes; n_outputs equals n_joints.
        output_names: the names of the joints.
        parameter_names: as above.
        nominal_parameters: (n_parameters,) the inertial ones from the URDF; friction and offset 0, so that the
            regressor times these is Pinocchio's `rnea`. A URDF's <dynamics> holds settings of a simulator, not
            properties of the robot.
        relative_regularization: (n_parameters,), see `regressor.relative_regularization`.
        offset_indices: (n_outputs,) index of the parameter that is the offset of each output; () without.
    """

    def __init__(
        self,
        model: RobotModel,
        friction: bool | Sequence[str] = True,
        coulomb_velocity: float | Array = STANDSTILL,
    ) -> None:
        self._model = model
        self.joints = model.joints
        self.known_joints = model.known_joints
        self.frame = ""
        self.n_joints = len(self.joints)
        self.n_outputs = self.n_joints
        self.output_names = self.joints
        self._coulomb_velocity = self._checked_width(coulomb_velocity)  # (n_joints,) [rad/s]
        self._columns = checked_columns((DRIVE_COLUMNS if friction else ()) if isinstance(friction, bool) else friction)
        bodies = range(1, model.model.njoints)
        names = model.body_parameter_names(bodies)
        self._n_inertial = len(names)
        names += tuple(f"{joint}.{parameter}" for joint in self.joints for parameter in self._columns)
        self.parameter_names = names
        self.n_parameters = len(names)
        self.nominal_parameters = np.zeros(self.n_parameters)
        self._nominal_inertial = model.body_parameters(bodies)
        self.nominal_parameters[: self._n_inertial] = self._nominal_inertial
        own = drive_regularization(self._columns, self.n_joints)
        self.relative_regularization = np.concatenate([np.ones(self._n_inertial), own])
        self.offset_indices: tuple[int, ...] = ()
        if "offset" in self._columns:
            first, step = self._n_inertial + self._columns.index("offset"), len(self._columns)
            self.offset_indices = tuple(range(first, self.n_parameters, step))

    @classmethod
    def from_urdf(
        cls,
        urdf: str | os.PathLike[str],
        joints: Sequence[str],
        friction: bool | Sequence[str] = True,
        coulomb_velocity: float | Array = STANDSTILL,
    ) -> "TorqueRegressor":
        """Build the regressor from a URDF.

        Args:
            urdf: path of a URDF file, or its XML text.
            joints: names of the joints that move and whose torques are measured, in the order of q, v, a and outputs.
            friction: whether to add the columns of the drives; or the names of those to add.
            coulomb_velocity: speed at which 76 % of the Coulomb friction acts [rad/s or m/s], one or (n_joints,); see
                `fill_friction` and `follow_velocity_noise`.

        Raises:
            ModelError: the URDF cannot be read, or lacks a joint; see `RobotModel`.
            ParameterError: coulomb_velocity is not positive, or a name is that of no column.
            ShapeError: coulomb_velocity is neither one number nor one a joint.
        """
        return cls(RobotModel(urdf, joints), friction, coulomb_velocity)

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        """Return the regressor (n_joints, n_parameters), a new array, of q, v, a (n_joints,) in rad or m, and seconds.

        Raises ShapeError for another shape; values are not checked.
        """
        model = self._model
        every = pinocchio.computeJointTorqueRegressor(model.model, model.data, *model.state(q, v, a))
        result = np.zeros((self.n_outputs, self.n_parameters))
        result[:, : self._n_inertial] = every[model.velocity_index]
        if self._columns:
            inertial = result[:, : self._n_inertial]
            load = inertial @ self._nominal_inertial if "load" in self._columns else np.zeros(0)
            fill_friction(result, self._columns, np.asarray(v), np.asarray(a), load, self._coulomb_velocity)
        return result

    def follow_velocity_noise(self, deviation: Array) -> None:
        """Make the direction of friction as sharp as the velocities are known.

        What was learned before stays and means a little less: call it when the noise is first known and when it has
        changed much. Twins follow too.

        Args:
            deviation: (n_joints,) standard deviations of the velocities [rad/s or m/s].

        Raises:
            ShapeError, NotFiniteError: not n_joints finite numbers; nothing changes then.
            ParameterError: a deviation is negative; nothing changes then.
        """
        values = vector("deviation", deviation, self.n_joints)
        if (values < 0).any():
            raise ParameterError("deviation", float(values.min()), "at least 0")
        self._coulomb_velocity[:] = coulomb_velocity(values)

    def twin(self) -> "TorqueRegressor":
        """Return a regressor for another thread: it has memory of its own, and follows the same velocity noise."""
        twin = TorqueRegressor(RobotModel(self._model.urdf, self.joints), self._columns)
        twin._coulomb_velocity = self._coulomb_velocity
        return twin

    @property
    def coulomb_velocity(self) -> Array:
        """(n_joints,) speeds at which 76 % of the Coulomb friction acts [rad/s or m/s]; a copy."""
        return np.array(self._coulomb_velocity)

    def _checked_width(self, width: float | Array) -> Array:
        try:
            values = finite("coulomb_velocity", width)
        except (NotFiniteError, ShapeError):
            raise ParameterError("coulomb_velocity", width, "positive numbers") from None
        if np.shape(width) not in ((), (self.n_joints,)):
            raise ShapeError("coulomb_velocity", np.shape(width), f"() or ({self.n_joints},)")
        if not (values > 0).all():
            raise ParameterError("coulomb_velocity", width, "a number in (0, inf)")
        return np.asarray(np.broadcast_to(values, (self.n_joints,)).copy())

    def state(self) -> dict[str, Array]:
        """Return what the regressor is made of, as a dict of arrays; see `saved_states.rebuild_regressor`."""
        return {
            "kind": np.asarray("torque"),
            "urdf": np.asarray(self._model.urdf),
            "friction": np.asarray(self._columns, dtype=np.str_),
            "coulomb_velocity": self._coulomb_velocity.copy(),
        }

    @cached_property
    def base_projection(self) -> Array:
        """(n_base, n_parameters): the identifiable combinations, see `base_parameters.base_projection`."""
        return base_projection(self, self.n_joints, self.n_parameters)

    @property
    def n_base(self) -> int:
        """Number of identifiable combinations of the parameters."""
        return len(self.base_projection)
