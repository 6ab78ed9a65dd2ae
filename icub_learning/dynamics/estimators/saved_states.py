"""What estimators share in reading saved states: checks of their estimator and robot, and of their parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor
from icub_learning.errors import ModelError, ParameterError, ShapeError, StateError
from icub_learning.models import part, scalar
from icub_learning.recursive import RecursiveLeastSquares
from icub_learning.recursive.pooling import append_rows

SHOWN = 5  # largest number of names that a message shows of each model
NAMES = "joints", "output_names", "parameter_names"  # what every regressor has


def matching_regressor(
    state: Mapping[str, Any], kind: str, regressor: Regressor | None, *, may_lack_parameters: bool = False
) -> Regressor:
    """Return the given regressor, or, without one, a new one made from the URDF in the state of an estimator.

    With `may_lack_parameters` the saved model may have fewer parameters than the given regressor. Raises StateError:
    the state is not that of the estimator called `kind`, the regressor has other joints, outputs or parameters than the
    saved model, or cannot be rebuilt.
    """
    if (found := scalar(state, "estimator")) != kind:
        raise StateError(f"state is that of a {found} estimator, not of a {kind} one", value=found, bound=kind)
    saved = part(state, "regressor")
    if regressor is None:
        regressor = rebuild_regressor(saved)
    own = describe(regressor)
    names = {str(name) for name in np.atleast_1d(saved.get("parameter_names", ()))}
    if may_lack_parameters and names and names < set(regressor.parameter_names):
        del own["parameter_names"]
    check_same_meaning(own, saved, "saved")
    return regressor


def check_same_meaning(own: Mapping[str, Any], other: Mapping[str, Any], which: str = "other") -> None:
    """Raise StateError unless two regressors, as `describe` returns them, agree in joints, outputs, sensor, parameters.

    A sensor that measures in the other direction has outputs of the other sign.
    """
    of_sensor = (key for key in ("sensor", "direction") if key in other)  # models of earlier releases may lack them
    for key in (one for one in (*NAMES, *of_sensor) if one in own):
        ours, theirs = (tuple(str(name) for name in np.atleast_1d(one.get(key, ()))) for one in (own, other))
        if ours != theirs:
            alone = [[name for name in one if name not in than] for one, than in ((theirs, ours), (ours, theirs))]
            shown = [[*names[:SHOWN], *[f"{len(names) - SHOWN} more"] * (len(names) > SHOWN)] for names in
                     (alone if any(alone) else (theirs, ours))]  # fmt: skip
            there, here = (", ".join(names) or "no others" for names in shown)
            decisive = "friction" if "friction" in own else "sensor_offset and sensor_gain"
            advice = f"; set {decisive} as when it was learned" if key == "parameter_names" else ""
            text = f"{key} of the {which} model: {there}; here: {here}{advice}"
            raise StateError(text, name=key, value=theirs, bound=str(ours))


def check_poolable(mine: Any, other: Any) -> None:
    """Raise ParameterError unless two estimators are of one class and their regressors have the same meaning."""
    if type(other) is not type(mine):
        raise ParameterError("other", type(other).__name__, f"a {type(mine).__name__}")
    try:
        check_same_meaning(describe(mine.regressor), describe(other.regressor))
    except StateError as error:
        raise ParameterError("other", str(error), "the same in both models") from None


def rebuild_regressor(saved: Mapping[str, Any]) -> Regressor:
    """Return a regressor rebuilt from what `describe` returned. Raises StateError."""
    kind, urdf = scalar(saved, "kind"), scalar(saved, "urdf")
    joints = [str(name) for name in np.atleast_1d(saved.get("joints", ()))]
    try:
        if kind == "wrench":
            sensor, direction = str(scalar(saved, "sensor")), str(scalar(saved, "direction"))
            columns = [str(name) for name in np.atleast_1d(saved.get("sensor_columns", ()))]
            return WrenchRegressor.from_urdf(urdf, joints, sensor, direction, "offset" in columns, "gain" in columns)
        if kind == "torque":
            if "friction" not in saved or "coulomb_velocity" not in saved:
                raise StateError("the saved model says nothing about friction", name="friction")
            columns = [str(name) for name in np.atleast_1d(saved["friction"])]
            return TorqueRegressor.from_urdf(urdf, joints, columns, saved["coulomb_velocity"])
    except (ModelError, ParameterError, ShapeError) as error:
        raise StateError(f"the saved model's robot cannot be rebuilt: {error}") from None
    raise StateError(f"the saved model's regressor is of kind {kind!r}, not 'wrench' or 'torque'", value=kind)


def describe(regressor: Regressor) -> dict[str, Array]:
    """Return the state of a regressor and its names of joints, outputs and parameters."""
    return {**regressor.state(), **{key: np.asarray(getattr(regressor, key)) for key in NAMES}}


def with_columns(
    saved: RecursiveLeastSquares, names: Sequence[str], fresh: RecursiveLeastSquares, wanted: Sequence[str]
) -> RecursiveLeastSquares:
    """Return a learner of the parameters `wanted` that knows what `saved` knows; the others are as in `fresh`.

    Each has one target; the columns of `saved` are `names`, all among `wanted`, those of `fresh` are `wanted`. The rows
    behind the saved factor have a zero at every parameter that was not there, so the factor of both is that of the
    saved rows, and of the prior of the new parameters, with their columns in the wanted order.
    """
    if tuple(names) == tuple(wanted):
        return saved
    where, rows = [list(wanted).index(name) for name in names], np.zeros((len(names), len(wanted)))
    rows[:, where], prior = saved.factor, fresh.prior
    prior[where] = 0.0
    factor = append_rows(np.diag(np.sqrt(prior)), rows)
    state, old = fresh.state(), saved.state()
    diagonal = np.diag(factor)
    state["unit_factor"], state["pivots"] = factor / diagonal[:, None], diagonal**2
    np.fill_diagonal(state["unit_factor"], 1.0)
    for key in ("weights", "initial_weights", "prior", "regularization"):
        state[key][where] = old[key]
    for key in ("forgetting", "n_samples"):
        state[key] = old[key]
    return RecursiveLeastSquares.from_state(state)
