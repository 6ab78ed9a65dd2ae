"""How a model of inverse dynamics describes itself in its file, and how large it may be."""

from dataclasses import asdict
from functools import partial
from typing import Any

from icub_learning.dynamics.assembly import AnyEstimator
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.estimators.semiparametric import NonparametricEstimator, SemiparametricEstimator
from icub_learning.dynamics.own_learner import OwnLearner
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import StateError
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
        given = {name: value for name, value in asdict(settings).items() if name != "urdf"}
        self._header = partial(ModelHeader, KIND, robot, digest, tuple(regressor.joints), sensor, settings=given)
        largest = MOST_SQUARES * 8 * (settings.n_random_features + regressor.n_parameters + 100) ** 2 + SMALL_PARTS
        self.largest = largest if settings.estimator in ESTIMATORS else OWN_LEARNER  # [bytes] largest model

    def header(self, n_samples: int) -> ModelHeader:
        """Return the description of a model of `n_samples` samples."""
        return self._header(statistics={"samples": n_samples})
