"""How a model of inverse dynamics describes itself in its file, and how large it may be."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from icub_learning.dynamics.assembly import AnyEstimator
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.estimators.semiparametric import NonparametricEstimator, SemiparametricEstimator
from icub_learning.dynamics.joint.bank import features_in_use
from icub_learning.dynamics.own_learner import OwnLearner
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import AUTOMATIC, Settings
from icub_learning.errors import ParameterError, StateError
from icub_learning.models.header import ModelHeader, digest_of_urdf
from icub_learning.models.states import reading_state, scalar

KIND = "inverse_dynamics"
ESTIMATORS: dict[str, type[AnyEstimator]] = {
    "semiparametric": SemiparametricEstimator, "parametric": ParametricEstimator,
    "nonparametric": NonparametricEstimator
}  # fmt: skip
# Largest state, in squares of all columns: it holds a few triangular factors, stored as squares, and little beside.
MOST_SQUARES = 4
SMALL_PARTS = 16 * 2**20  # [bytes] room for the URDF as text, names, frequencies of features
# Settings by the entries of a saved state that hold them, without "rigid."; later ones replace earlier ones.
SAVED = {"bank.seed": "seed", "rls.forgetting": "forgetting", "forgetting": "forgetting"}
SAVED |= {name: name for name in ("output_weights", "offset_forgetting")}
OWN_LEARNER = 2**30  # [bytes] largest model of a class from outside this package, whose state is not known here


def estimator_of(state: dict[str, Any], own: str = "") -> AnyEstimator:
    """Return the estimator of a saved state, for the robot that it describes; `own`: the import path of a class of the
    user's that it may be. Raises StateError; ParameterError: that class cannot be imported, or read its part."""
    kind = str(scalar(state, "estimator"))
    if own and kind == own:
        return OwnLearner.of(own).from_state(state)  # type: ignore[no-any-return]
    name = kind.split("_")[0]  # the rest of it says which of its methods it uses
    if name not in ESTIMATORS:
        text = f"a {kind!r} estimator learned it, and no file makes a program import a class: name that in full (--own)"
        raise StateError(text, value=kind, bound=", ".join(ESTIMATORS))
    with reading_state(f"a {name} estimator"):
        return ESTIMATORS[name].from_state(state)


class ModelDescription:
    """Describes models of one robot, learned with the same settings.

    Args:
        settings: settings of how they are learned.
        regressor: regressor of the robot.
    """

    def __init__(self, settings: Settings, regressor: Regressor) -> None:
        robot, digest = digest_of_urdf(str(regressor.state()["urdf"]))
        sensor = settings.sensor if settings.output == "wrench" else ""
        self._settings = {name: value for name, value in asdict(settings).items() if name != "urdf"}
        self._header = partial(ModelHeader, KIND, robot, digest, tuple(regressor.joints), sensor)
        self._n_parameters, self._own = regressor.n_parameters, settings.estimator not in ESTIMATORS

    def largest(self, stated: Mapping[str, Any] | None = None) -> int:
        """Return the largest size of a model [bytes]; `stated`: settings that its file states, of which the number of
        features counts if it is within the range of that setting."""
        n = self._settings["n_random_features"]
        with suppress(ParameterError):
            n = max(n, Settings(n_random_features=(stated or {}).get("n_random_features", n)).n_random_features)
        return OWN_LEARNER if self._own else MOST_SQUARES * 8 * (n + self._n_parameters + 100) ** 2 + SMALL_PARTS

    def header(self, n_samples: int, state: Mapping[str, Any] | None = None) -> ModelHeader:
        """Return the description of a model of `n_samples` samples, with the settings of the estimator of `state`."""
        settings = self._settings | self._others(state or {})
        return self._header(settings=settings, statistics={"samples": n_samples})

    def restored(self, kind: type[Any], state: dict[str, Any], regressor: Regressor) -> tuple[Any, str]:
        """Return the estimator of a state, which from now on forgets as these settings say, and in words what else it
        keeps that they say otherwise, "" for nothing. Raises StateError."""
        made, kept = kind.from_state(state, regressor), self._others(state)
        if kept.pop("forgetting", None) is not None:
            made.forget_by(self._settings["forgetting"])
        texts = ", ".join(f"{name} {kept[name]} (here {self._settings[name]})" for name in kept)
        return made, texts and f"the model keeps {texts}; ~/reset starts anew with those of the node"

    def _others(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings, by name, with which the estimator of a saved state learns where they are not these."""
        saved = {key.removeprefix("rigid."): state[key] for key in state}
        found = {name: scalar(saved, key) for key, name in SAVED.items() if key in saved and not self._own}
        if any(key.startswith("adaptive.") for key in saved):
            found["forgetting"] = AUTOMATIC
        n = 2 * len(saved.get("bank.frequencies", ()))
        if n not in (0, features_in_use(self._settings["n_random_features"])):
            found["n_random_features"] = n
        if "rls.regularization" in saved:  # that of inertial parameters is the setting itself; a tare shifts offsets
            masses = [str(name).endswith(".m") for name in np.atleast_1d(saved["columns"])]
            found["parametric_regularization"] = float(np.median(saved["rls.regularization"][masses]))
            found["prior"] = "nominal" if np.any(saved["rls.initial_weights"][masses]) else "zero"
        return {name: value for name, value in found.items() if value != self._settings[name]}
