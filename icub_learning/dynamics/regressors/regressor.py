"""The interface of regressors, and what WrenchRegressor and TorqueRegressor have in common."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pinocchio

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.base_parameters import base_projection
from icub_learning.dynamics.regressors.robot_model import RobotModel

# Regularization of effects that a robot may not have, relative to that of the inertial parameters: 100 samples at full
# size that do without show that a drive has no such friction, and masses explain most of what a sensor's gain would. On
# the robots of simulation.zoo.DEVELOPMENT 10 to 1000 differ by 1 %.
DOUBTED = 10.0


class Regressor(Protocol):
    """A map Phi(q, v, a) whose product with the parameters is the output; attributes: see WrenchRegressor."""

    n_joints: int
    n_outputs: int
    n_parameters: int
    joints: tuple[str, ...]
    known_joints: tuple[str, ...]
    frame: str
    output_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    nominal_parameters: Array  # (n_parameters,)
    relative_regularization: Array  # (n_parameters,)
    offset_indices: tuple[int, ...]

    @property
    def n_base(self) -> int:
        """Number of identifiable combinations of the parameters."""
        ...

    @property
    def base_projection(self) -> Array:
        """(n_base, n_parameters): the identifiable combinations, see `base_parameters.base_projection`."""
        ...

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        """Return Phi (n_outputs, n_parameters) at position, velocity and acceleration, each (n_joints,)."""
        ...

    def state(self) -> dict[str, Array]:
        """Return what the regressor is made of, as a dict of arrays; see `saved_states.rebuild_regressor`."""
        ...


class RigidBodyRegressor:
    """Columns of the inertial parameters of some bodies of a robot, before those of its sensor or its drives.

    Args:
        model: the robot.
        bodies: numbers of the bodies.
        rows: of Pinocchio's joint torque regressor that are the outputs, and its columns of the bodies.
        output_names: names of the outputs.
        own: names of the further parameters, with their regularization relative to that of the inertial ones.
        offsets: places of the offsets of the outputs among the further parameters.
        frame: link in whose axes the outputs are, "" for none.
    """

    def __init__(
        self,
        model: RobotModel,
        bodies: Sequence[int],
        rows: Any,
        output_names: tuple[str, ...],
        own: Mapping[str, float],
        offsets: Sequence[int],
        frame: str = "",
    ) -> None:
        self._model, self._rows, self.frame = model, rows, frame
        self.urdf, self.joints, self.known_joints = model.urdf, model.joints, model.known_joints
        self.output_names, self.n_joints, self.n_outputs = output_names, len(self.joints), len(output_names)
        self._nominal_inertial = model.body_parameters(bodies)
        self._n_inertial = len(self._nominal_inertial)
        self.parameter_names = (*model.body_parameter_names(bodies), *own)
        self.n_parameters = len(self.parameter_names)
        self.nominal_parameters = np.concatenate([self._nominal_inertial, np.zeros(len(own))])
        self.relative_regularization = np.concatenate([np.ones(self._n_inertial), list(own.values())])
        self.offset_indices = tuple(self._n_inertial + place for place in offsets)
        self._template: Array = np.zeros((self.n_outputs, self.n_parameters))  # with what no motion changes
        self._template[range(len(offsets)), self.offset_indices] = 1.0

    def _inertial(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Return a new regressor in which the further columns are as at rest, and the view of the inertial ones."""
        model = self._model
        every = pinocchio.computeJointTorqueRegressor(model.model, model.data, *model.state(q, v, a))
        result: Array = self._template.copy()
        inertial = result[:, : self._n_inertial]
        inertial[:] = every[self._rows]
        return result, inertial

    @cached_property
    def base_projection(self) -> Array:
        """(n_base, n_parameters): the identifiable combinations, see `base_parameters.base_projection`."""
        return base_projection(self, self.n_joints, self.n_parameters)

    @property
    def n_base(self) -> int:
        """Number of identifiable combinations of the parameters."""
        return len(self.base_projection)
