"""What estimators ask of a regressor; WrenchRegressor and TorqueRegressor both offer it."""

from typing import Protocol

from icub_learning.arrays import Array


class Regressor(Protocol):
    """A map Phi(q, v, a) whose product with the parameters is the output."""

    n_joints: int
    n_outputs: int
    n_parameters: int
    n_base: int
    joints: tuple[str, ...]
    output_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    nominal_parameters: Array  # (n_parameters,)
    base_projection: Array  # (n_base, n_parameters)

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        """Phi (n_outputs, n_parameters) at position, velocity and acceleration (n_joints,) each."""
        ...

    def state(self) -> dict[str, Array]:
        """What it takes to rebuild it, as a dict of arrays."""
        ...
