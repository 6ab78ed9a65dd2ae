"""The registry of nonparametric learners, by the names that settings and saved models use."""

from collections.abc import Mapping
from typing import Any

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.nystrom_learner import NystromLearner
from icub_learning.dynamics.estimators.polk_learner import PolkLearner
from icub_learning.dynamics.estimators.random_feature_learner import RandomFeatureLearner
from icub_learning.dynamics.settings import LearnerSettings, first_forgetting
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import scalar

AnyLearner = RandomFeatureLearner | NystromLearner | PolkLearner
KINDS: dict[str, type[RandomFeatureLearner] | type[PolkLearner]] = {
    "random_features": RandomFeatureLearner,
    "nystrom": NystromLearner,
    "polk": PolkLearner,
}


def linear_in_targets(settings: LearnerSettings) -> bool:
    """Return whether predictions for a sum of targets are the sum of the predictions, see ResidualTargets."""
    return settings.nonparametric != "polk"


def make_learner(settings: LearnerSettings, minimum_scale: Array, n_outputs: int) -> AnyLearner:
    """Return a learner that has learned nothing; `minimum_scale` (n_inputs,), see WarmUp. Raises ParameterError."""
    s = settings
    common: dict[str, Any] = {
        "length_scale": s.length_scale,
        "regularization": s.nonparametric_regularization,
        "n_warm_up": s.n_warm_up,
    }
    if s.nonparametric == "polk":
        return PolkLearner(
            minimum_scale,
            n_outputs,
            step_size=s.step_size,
            parsimony=s.parsimony,
            max_dictionary=s.max_dictionary,
            **common,
        )
    common["forgetting"] = first_forgetting(s.forgetting)
    if s.nonparametric == "nystrom":
        return NystromLearner(minimum_scale, n_outputs, n_centers=s.n_random_features, **common)
    return RandomFeatureLearner(minimum_scale, n_outputs, n_random_features=s.n_random_features, seed=s.seed, **common)


def learner_from_state(state: Mapping[str, Any]) -> AnyLearner:
    """Return a learner rebuilt from what its `state` method saved. Raises StateError."""
    kind = str(scalar(state, "kind"))
    if kind not in KINDS:
        raise StateError(f"saved learner is {kind!r}, not one of {', '.join(KINDS)}", name="kind", value=kind)
    return KINDS[kind].from_state(dict(state))


def check_same_kind(one: AnyLearner, other: AnyLearner) -> None:
    """Raise ParameterError unless both learners are of the same class."""
    if type(one) is not type(other):
        raise ParameterError("other", type(other).__name__, f"one that learns with a {type(one).__name__}")
