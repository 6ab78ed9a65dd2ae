"""What estimators ask of a regressor; WrenchRegressor and TorqueRegressor both offer it."""

from typing import Protocol

from icub_learning.arrays import Array


class Regressor(Protocol):
    """A map Phi(q, v, a) whose product with the parameters is the output.

    `frame` is the link in whose axes the outputs are given, "" where they have none.
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
        """(n_base, n_parameters): the identifiable combinations."""
        ...

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        """Phi (n_outputs, n_parameters) at position, velocity and acceleration (n_joints,) each."""
        ...

    def state(self) -> dict[str, Array]:
        """What it takes to rebuild it, as a dict of arrays."""
        ...
