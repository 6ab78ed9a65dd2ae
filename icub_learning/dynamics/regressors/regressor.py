"""The interface of regressors, which WrenchRegressor and TorqueRegressor implement."""

from typing import Protocol

import numpy as np

from icub_learning.arrays import Array

# Regularization of effects that a robot may not have, relative to that of the inertial parameters: 100 samples at full
# size that do without show that a drive has no such friction, and masses explain most of what a sensor's gain would. On
# the robots of simulation.zoo.DEVELOPMENT 10 to 1000 differ by 1 %.
DOUBTED = 10.0


class Regressor(Protocol):
    """A map Phi(q, v, a) whose product with the parameters is the output; attributes: see WrenchRegressor.

    A regressor may have two more attributes, `relative_regularization` and `offset_indices`: see the functions of these
    names.
    """

    n_joints: int
    n_outputs: int
    n_parameters: int
    joints: tuple[str, ...]
    known_joints: tuple[str, ...]
    frame: str
    output_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    nominal_parameters: Array  # (n_parameters,)

    @property
    def n_base(self) -> int:
        """Number of identifiable combinations of the parameters."""
        ...

    @property
    def base_projection(self) -> Array:
        """(n_base, n_parameters): the identifiable combinations of the parameters, one in a row."""
        ...

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        """Return Phi (n_outputs, n_parameters) at position, velocity and acceleration, each (n_joints,)."""
        ...

    def state(self) -> dict[str, Array]:
        """Return what the regressor is made of, as a dict of arrays; see `saved_states.rebuild_regressor`."""
        ...


def relative_regularization(regressor: Regressor) -> Array:
    """Return by how much each parameter is regularized, relative to an inertial one, (n_parameters,).

    Parameters that nothing speaks against before data come (a sensor's offset) have less than 1, those of effects that
    a robot may not have (friction that grows with the load) more: they stay near zero until data call for them. 1 for
    all where the regressor says nothing.
    """
    return np.asarray(getattr(regressor, "relative_regularization", np.ones(regressor.n_parameters)))


def offset_indices(regressor: Regressor) -> tuple[int, ...]:
    """Return the index of the parameter that is each output's constant offset, (n_outputs,); () without offsets."""
    return tuple(getattr(regressor, "offset_indices", ()))
