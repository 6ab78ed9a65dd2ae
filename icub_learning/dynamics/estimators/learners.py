"""The nonparametric halves there are, by the names that settings and saved models know them by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.nystrom_learner import NystromLearner
from icub_learning.dynamics.estimators.polk_learner import PolkLearner
from icub_learning.dynamics.estimators.random_feature_learner import RandomFeatureLearner
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import scalar

AnyLearner = RandomFeatureLearner | NystromLearner | PolkLearner
KINDS: dict[str, type[RandomFeatureLearner] | type[PolkLearner]] = {
    "random_features": RandomFeatureLearner,
    "nystrom": NystromLearner,
    "polk": PolkLearner,
}


@dataclass(frozen=True)
class LearnerSettings:
    """What decides how the nonparametric half learns.

    Attributes:
        kind: one of KINDS.
        n_random_features: of random_features; of nystrom the most centres.
        length_scale, n_warm_up: of all.
        regularization: lambda; of polk that of its variances alone.
        forgetting, seed: of random_features and nystrom; of random_features.
        step_size, parsimony, max_dictionary: of polk, see PolkLearner.
    """

    kind: str = "random_features"
    n_random_features: int = 1000
    length_scale: float = 5.0
    regularization: float = 0.003
    forgetting: float = 1.0
    n_warm_up: int = 200
    seed: int = 0
    step_size: float = 0.5
    parsimony: float = 0.01
    max_dictionary: int = 300

    @property
    def linear_in_targets(self) -> bool:
        """Whether the answer to a sum of targets is the sum of the answers, see ResidualTargets."""
        return self.kind != "polk"

    def make(self, minimum_scale: Array, n_outputs: int) -> AnyLearner:
        """A learner that knows nothing. Raises ParameterError."""
        common: dict[str, Any] = {
            "length_scale": self.length_scale,
            "regularization": self.regularization,
            "n_warm_up": self.n_warm_up,
        }
        if self.kind == "random_features":
            return RandomFeatureLearner(
                minimum_scale,
                n_outputs,
                n_random_features=self.n_random_features,
                forgetting=self.forgetting,
                seed=self.seed,
                **common,
            )
        if self.kind == "nystrom":
            return NystromLearner(
                minimum_scale, n_outputs, n_centers=self.n_random_features, forgetting=self.forgetting, **common
            )
        if self.kind == "polk":
            return PolkLearner(
                minimum_scale,
                n_outputs,
                step_size=self.step_size,
                parsimony=self.parsimony,
                max_dictionary=self.max_dictionary,
                **common,
            )
        raise ParameterError("nonparametric", self.kind, f"one of {', '.join(KINDS)}")


def learner_from_state(state: Mapping[str, Any]) -> AnyLearner:
    """A learner as its `state` method saved it. Raises StateError."""
    kind = str(scalar(state, "kind"))
    if kind not in KINDS:
        raise StateError(f"saved learner is {kind!r}, not one of {', '.join(KINDS)}", name="kind", value=kind)
    return KINDS[kind].from_state(dict(state))


def check_same_kind(one: AnyLearner, other: AnyLearner) -> None:
    """Raise ParameterError unless both are of the same kind."""
    if type(one) is not type(other):
        raise ParameterError("other", type(other).__name__, f"one that learns with a {type(one).__name__}")
