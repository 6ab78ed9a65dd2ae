"""The interface of regressors, which WrenchRegressor and TorqueRegressor implement."""

from typing import Protocol

from icub_learning.arrays import Array


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
