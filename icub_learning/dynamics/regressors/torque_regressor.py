"""The joint torques of a robot, linear in its inertial and friction parameters."""

import os
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pinocchio

from icub_learning.arrays import Array, real
from icub_learning.dynamics.regressors.base_parameters import base_projection
from icub_learning.dynamics.regressors.friction import FRICTION_PARAMETERS, fill_friction
from icub_learning.dynamics.regressors.robot_model import RobotModel


class TorqueRegressor:
    """Phi(q, v, a) with joint torques = Phi @ parameters, for the chosen joints of a fixed-base robot.

    Parameters: ten for each body that a chosen joint moves, bodies in the order of the kinematic tree and named by
    the link that the joint moves: m [kg], mcx, mcy, mcz [kg m] (mass times centre of mass), Ixx, Ixy, Iyy, Ixz, Iyz,
    Izz [kg m^2] (about the origin of the link's joint frame, in its axes); links that a fixed or held joint ties to a
    body are part of it, carried into its frame. With friction, then three for each joint, in the order of `joints`:
    "joint.coulomb" [N m], "joint.viscous" [N m s/rad], "joint.offset" [N m] (prismatic: N, N s/m, N). Where the robot
    reports motor currents instead of torques, all parameters are scaled by the joints' drive gains.

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
    """

    def __init__(self, model: RobotModel, friction: bool = True, coulomb_velocity: float = 0.05) -> None:
        self._model = model
        self.joints = model.joints
        self.known_joints = model.known_joints
        self.frame = ""
        self.n_joints = len(self.joints)
        self.n_outputs = self.n_joints
        self.output_names = self.joints
        self._coulomb_velocity = real("coulomb_velocity", coulomb_velocity, 0.0, low_open=True)  # [rad/s]
        self._friction = friction
        bodies = range(1, model.model.njoints)
        names = model.body_parameter_names(bodies)
        self._n_inertial = len(names)
        if friction:
            names += tuple(f"{joint}.{parameter}" for joint in self.joints for parameter in FRICTION_PARAMETERS)
        self.parameter_names = names
        self.n_parameters = len(names)
        self.nominal_parameters = np.zeros(self.n_parameters)
        self.nominal_parameters[: self._n_inertial] = model.body_parameters(bodies)

    @classmethod
    def from_urdf(
        cls,
        urdf: str | os.PathLike[str],
        joints: Sequence[str],
        friction: bool = True,
        coulomb_velocity: float = 0.05,
    ) -> "TorqueRegressor":
        """Build the regressor from a URDF.

        Args:
            urdf: path of a URDF file, or its XML text.
            joints: names of the joints that move and whose torques are measured, in the order of q, v, a and outputs.
            friction: whether to add Coulomb, viscous and offset columns.
            coulomb_velocity: speed at which 76 % of the Coulomb friction acts [rad/s or m/s]; see `fill_friction`.

        Raises:
            ModelError: the URDF cannot be read, or lacks a joint; see `RobotModel`.
            ParameterError: coulomb_velocity is not positive.
        """
        return cls(RobotModel(urdf, joints), friction, coulomb_velocity)

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        """Return the regressor (n_joints, n_parameters), a new array.

        Args:
            q: (n_joints,) positions [rad or m].
            v: (n_joints,) velocities [rad/s or m/s].
            a: (n_joints,) accelerations [rad/s^2 or m/s^2].

        Raises:
            ShapeError: an array is not of shape (n_joints,). Values are not checked.
        """
        model = self._model
        every = pinocchio.computeJointTorqueRegressor(model.model, model.data, *model.state(q, v, a))
        result = np.zeros((self.n_outputs, self.n_parameters))
        result[:, : self._n_inertial] = every[model.velocity_index]
        if self._friction:
            fill_friction(result, np.asarray(v), self._coulomb_velocity)
        return result

    def state(self) -> dict[str, Array]:
        """Return what the regressor is made of, as a dict of arrays; see `saved_states.rebuild_regressor`."""
        return {
            "kind": np.asarray("torque"),
            "urdf": np.asarray(self._model.urdf),
            "friction": np.asarray(self._friction),
            "coulomb_velocity": np.asarray(self._coulomb_velocity),
        }

    @cached_property
    def base_projection(self) -> Array:
        """(n_base, n_parameters): the identifiable combinations, see `base_parameters.base_projection`."""
        return base_projection(self, self.n_joints, self.n_parameters)

    @property
    def n_base(self) -> int:
        """Number of identifiable combinations of the parameters."""
        return len(self.base_projection)
