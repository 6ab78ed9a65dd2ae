"""Inverse dynamics without rigid bodies, by random features."""

from icub_learning.dynamics.estimators.joint_estimator import JointEstimator
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import DEFAULTS


class NonparametricEstimator(JointEstimator):
    """Learns y as a function of (q, v, a) on random features, knowing nothing of rigid bodies: NP of the thesis (8.3).

    The features alone of the joint model, see JointEstimator: what was learned of all that was seen, and of the last
    seconds, weighed by what has been right.

    Args:
        regressor: only its joints and outputs are used.
        n_random_features: number of random features, of all length scales together.
        forgetting: in (0, 1]; weight of a sample after each further one; "auto": 1 until errors show a change, see
            AdaptiveForgetting.
        seed: seed of the random features.

    Raises:
        ParameterError: an argument is outside its range.
    """

    _KIND = "nonparametric"

    def __init__(
        self,
        regressor: Regressor,
        n_random_features: int = DEFAULTS.n_random_features,
        forgetting: float | str = DEFAULTS.forgetting,
        seed: int = DEFAULTS.seed,
    ) -> None:
        super().__init__(regressor, None, n_random_features, forgetting, seed)
