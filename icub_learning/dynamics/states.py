"""Saved states of estimators: flat dicts of arrays with dotted keys, and how they are taken apart again."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressor import Regressor
from icub_learning.dynamics.torque_regressor import TorqueRegressor
from icub_learning.dynamics.wrench_regressor import WrenchRegressor
from icub_learning.errors import ModelError, ParameterError, StateError


def nested(prefix: str, state: Mapping[str, Array]) -> dict[str, Array]:
    """Put every key of `state` below `prefix`."""
    return {f"{prefix}.{key}": value for key, value in state.items()}


def part(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The entries below `prefix`, without it. Raises StateError if there are none."""
    found = {key[len(prefix) + 1 :]: value for key, value in state.items() if key.startswith(prefix + ".")}
    if not found:
        raise StateError(f"state lacks the part '{prefix}'", name=prefix)
    return found


def scalar(state: Mapping[str, Any], key: str) -> Any:
    """The single value at `key` as a Python object. Raises StateError if it is missing or no single value."""
    try:
        return np.asarray(state[key]).item()
    except (KeyError, ValueError) as error:
        raise StateError(f"state has no single value '{key}': {error}", name=key) from None


def check_kind(state: Mapping[str, Any], kind: str) -> None:
    """Raise StateError unless `state` is that of the estimator called `kind`."""
    found = scalar(state, "estimator")
    if found != kind:
        raise StateError(f"state is that of a {found} estimator, not of a {kind} one", value=found, bound=kind)


def matching_regressor(state: Mapping[str, Any], regressor: Regressor | None) -> Regressor:
    """The given regressor, or, without one, a new one made from the URDF that the state keeps.

    Raises:
        StateError: the given regressor has other joints, outputs or parameters than the saved model, or the saved
            description makes no regressor.
    """
    saved = part(state, "regressor")
    if regressor is None:
        regressor = rebuild_regressor(saved)
    for key in ("joints", "output_names", "parameter_names"):
        ours, theirs = tuple(getattr(regressor, key)), tuple(str(name) for name in np.atleast_1d(saved.get(key, ())))
        if ours != theirs:
            text = f"{key} of the saved model are {theirs}, here they are {ours}"
            raise StateError(text, name=key, value=theirs, bound=str(ours))
    return regressor


def rebuild_regressor(saved: Mapping[str, Any]) -> Regressor:
    """A regressor from what `describe` kept. Raises StateError."""
    kind, urdf = scalar(saved, "kind"), scalar(saved, "urdf")
    joints = [str(name) for name in np.atleast_1d(saved.get("joints", ()))]
    try:
        if kind == "wrench":
            sensor, direction = str(scalar(saved, "sensor")), str(scalar(saved, "direction"))
            return WrenchRegressor.from_urdf(urdf, joints, sensor, direction)
        if kind == "torque":
            friction = bool(scalar(saved, "friction"))
            return TorqueRegressor.from_urdf(urdf, joints, friction, float(scalar(saved, "coulomb_velocity")))
    except (ModelError, ParameterError) as error:
        raise StateError(f"the saved model's robot cannot be rebuilt: {error}") from None
    raise StateError(f"the saved model's regressor is of kind {kind!r}, not 'wrench' or 'torque'", value=kind)


def describe(regressor: Regressor) -> dict[str, Array]:
    """The regressor's own state and the names that a saved model is compared by."""
    names = {key: np.asarray(getattr(regressor, key)) for key in ("joints", "output_names", "parameter_names")}
    return {**regressor.state(), **names}
