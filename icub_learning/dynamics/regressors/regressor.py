"""What WrenchRegressor and TorqueRegressor have in common, and the combinations of parameters that data determine."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray
from scipy.linalg import qr

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.robot_model import RobotModel

# Regularization of effects that a robot may not have, over that of inertial parameters: 100 samples at full size
# without it show that there is none. On the robots of simulation.zoo.DEVELOPMENT 10 to 1000 differ by 1 %.
DOUBTED = 10.0
# That of offsets: a hundred newtons of a sensor, thousands of counts of a drive are common. A tenth of it to a hundred
# times as much are as good for sensors of DEVELOPMENT; drives: docs/decisions/2026-11-29-slow-and-offset-efforts.md.
OFFSETS = 1e-3

# Of a dependent column of unit length, rounding is left, about 1e-14; of an independent one 0.05 or more on iCub, UR10
# and Panda. A column this much shorter than the longest one is rounding as well.
_ROUNDING = float(np.sqrt(np.finfo(np.float64).eps))

SPARE = 20  # states sampled beyond those that are needed, so that no single one decides


class Regressor(ABC):
    """A map Phi(q, v, a) whose product with the parameters is the output; attributes: see WrenchRegressor.

    It has columns of the inertial parameters of some bodies of a robot, and then those of its sensor or its drives.

    Args:
        model: the robot.
        bodies: numbers of the bodies.
        rows: rows of Pinocchio's joint torque regressor that are the outputs, and its columns of the bodies.
        output_names: names of the outputs.
        own: names of the further parameters, with their regularization relative to that of the inertial ones.
        offsets: places of the offsets of the outputs among the further parameters.
    """

    sensor: str | None = None
    frame = ""

    def __init__(
        self, model: RobotModel, bodies: Sequence[int], rows: Any, output_names: tuple[str, ...],
        own: Mapping[str, float], offsets: Sequence[int],
    ) -> None:  # fmt: skip
        self._model, self._rows = model, rows
        self.urdf, self.joints, self.known_joints = model.urdf, model.joints, model.known_joints
        self.circular = model.circular
        self.output_names, self.n_joints, self.n_outputs = output_names, len(self.joints), len(output_names)
        inertial = model.body_parameters(bodies)
        self._n_inertial, self._nominal_inertial = len(inertial), np.array(list(inertial.values()))
        self.parameter_names = (*inertial, *own)
        self.n_parameters = len(self.parameter_names)
        self.nominal_parameters = np.concatenate([self._nominal_inertial, np.zeros(len(own))])
        self.relative_regularization = np.concatenate([np.ones(self._n_inertial), list(own.values())])
        self.offset_indices = tuple(self._n_inertial + place for place in offsets)
        self._template: Array = np.zeros((self.n_outputs, self.n_parameters))  # entries that no motion changes
        self._template[range(len(offsets)), self.offset_indices] = 1.0

    @abstractmethod
    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        """Return the regressor (n_outputs, n_parameters), a new array, of q, v, a (n_joints,) in rad or m, and seconds.
        Raises ShapeError for another shape; values are not checked."""

    @abstractmethod
    def state(self) -> dict[str, Array]:
        """Return what the regressor is made of, as a dict of arrays; see `saved_states.rebuild_regressor`."""

    def _inertial(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Return a new regressor in which the further columns are as at rest, and the view of the inertial ones."""
        model = self._model
        every = pinocchio.computeJointTorqueRegressor(model.model, model.data, *model.state(q, v, a))
        every = every.reshape(model.model.nv, -1)  # Pinocchio returns a vector for a robot with one joint
        result: Array = self._template.copy()
        inertial = result[:, : self._n_inertial]
        inertial[:] = every[self._rows]
        return result, inertial

    @cached_property
    def base_projection(self) -> Array:
        """(n_base, n_parameters): the identifiable combinations, see the function of this name."""
        return base_projection(self, self.n_joints, self.n_parameters)

    @property
    def n_base(self) -> int:
        """Number of identifiable combinations of the parameters."""
        return len(self.base_projection)


def base_projection(
    regressor: Callable[[Array, Array, Array], Array], n_joints: int, n_parameters: int, n_states: int | None = None
) -> Array:
    """Return the identifiable combinations (n_base, n_parameters) of the parameters of `regressor`, one in a row.

    The result B has full row rank and B @ p determines regressor(q, v, a) @ p for every state, so two parameter
    vectors predict the same exactly when B maps them to the same base parameters. It is the reduced row echelon form
    of the regressor's row space, hence unique: each row begins with a 1 at the first parameter, in the regressor's
    order, that does not depend on those before it, and holds the multiples of later parameters that act through it.

    The rank is found from a fixed pseudo-random sample of states. The regressor is analytic in the state, so its rank
    over any random sample of enough states is, with probability one, its rank over all states (Gautier and Khalil,
    "Exciting trajectories for the identification of base inertial parameters of robots", 1992; numerical rank by QR:
    Gautier, "Numerical calculation of the base inertial parameters of robots", 1991).

    `regressor` maps q, v and a, each (n_joints,), to (n_outputs, n_parameters). Without `n_states` there are twice as
    many states as parameters and SPARE more, since a joint's own row may be all that shows a parameter.
    """
    heard, triangle, scale = _scaled_triangle(regressor, n_joints, n_states or 2 * n_parameters + SPARE)
    kept: list[int] = []
    directions = np.zeros((len(heard), len(heard)))
    for index in range(len(heard)):
        rest, basis = triangle[:, index], directions[: len(kept)]
        for _ in range(2):  # twice: after one pass rounding leaves the basis not quite orthogonal
            rest = rest - (basis @ rest) @ basis
        if (length := float(np.linalg.norm(rest))) > _ROUNDING:
            directions[len(kept)] = rest / length
            kept.append(index)
    basis = directions[: len(kept)]
    # basis @ triangle[:, kept] is triangular: solving with it expresses every column in those kept.
    rows = np.linalg.solve(basis @ triangle[:, kept], basis @ triangle)
    rows[np.abs(rows) < _ROUNDING] = 0.0
    rows[:, kept] = np.eye(len(kept))
    projection = np.zeros((len(kept), n_parameters))
    projection[:, heard] = rows * scale / scale[kept, None]
    return projection


def base_columns(projection: Array) -> NDArray[np.intp]:
    """Return the columns (n_base,) of a regressor that stand for its base parameters: where the rows of B begin."""
    return np.asarray(np.argmax(projection != 0.0, axis=1))


def _scaled_triangle(
    regressor: Callable[[Array, Array, Array], Array], n_joints: int, n_states: int
) -> tuple[NDArray[np.intp], Array, Array]:
    """Return which columns are not zero, R of the QR factorization of these, of unit length, and their lengths."""
    random = np.random.default_rng(0)
    q = random.uniform(-np.pi, np.pi, (n_states, n_joints))
    v = random.normal(0.0, 3.0, (n_states, n_joints))  # [rad/s] with a, makes motion weigh about as much as gravity
    a = random.normal(0.0, 10.0, (n_states, n_joints))  # [rad/s^2]
    stack = np.concatenate([regressor(*state) for state in zip(q, v, a, strict=True)])
    scale = np.linalg.norm(stack, axis=0)
    heard = np.flatnonzero(scale >= _ROUNDING * scale.max())
    scale = scale[heard]
    return heard, qr(stack[:, heard] / scale, mode="r", overwrite_a=True)[0][: len(heard)], scale


def relative_regularization(regressor: Regressor) -> Array:
    """Return by how much each parameter is regularized, relative to an inertial one; 1 where none is given."""
    return np.asarray(getattr(regressor, "relative_regularization", np.ones(regressor.n_parameters)))


def offset_indices(regressor: Regressor) -> tuple[int, ...]:
    """Return the index of the parameter that is each output's constant offset, (n_outputs,); () without offsets."""
    return tuple(getattr(regressor, "offset_indices", ()))
