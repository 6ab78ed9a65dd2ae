"""Inverse dynamics by random features, alone or beside rigid bodies: the two forms of the joint estimator."""

from icub_learning.dynamics.estimators.joint_estimator import JointEstimator
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import DEFAULTS, first_forgetting
from icub_learning.errors import ParameterError


class NonparametricEstimator(JointEstimator):
    """Learns y as a function of (q, v, a) on random features, knowing nothing of rigid bodies: NP of the thesis (8.3).

    Args:
        regressor: only its joints and outputs are used.
        n_random_features: number of random features, of all length scales together.
        forgetting, seed: see JointEstimator.

    Raises:
        ParameterError: an argument is outside its range.
    """

    _KIND = "nonparametric"

    def __init__(
        self, regressor: Regressor, n_random_features: int = DEFAULTS.n_random_features,
        forgetting: float | str = DEFAULTS.forgetting, seed: int = DEFAULTS.seed,
    ) -> None:  # fmt: skip
        super().__init__(regressor, None, n_random_features, forgetting, seed)


class SemiparametricEstimator(JointEstimator):
    """Rigid bodies, and random features for what they leave: SP of the thesis (8.3), learned as one model.

    P, and NP and SP of the joint model, are weighed for each output by how right they have been, see JointEstimator.

    Args:
        regressor: a WrenchRegressor or TorqueRegressor.
        n_random_features: number of random features, of all length scales together.
        forgetting, seed: see JointEstimator; the same for all parts.
        parametric_regularization, prior, output_weights, offset_forgetting: see ParametricEstimator.

    Raises:
        ParameterError: an argument is outside its range.
    """

    _KIND = "semiparametric"

    def __init__(
        self, regressor: Regressor, n_random_features: int = DEFAULTS.n_random_features,
        forgetting: float | str = DEFAULTS.forgetting, seed: int = DEFAULTS.seed, *,
        parametric_regularization: float = DEFAULTS.parametric_regularization, prior: str = DEFAULTS.prior,
        output_weights: str = DEFAULTS.output_weights, offset_forgetting: float = DEFAULTS.offset_forgetting,
    ) -> None:  # fmt: skip
        more = first_forgetting(forgetting), prior, output_weights, offset_forgetting
        rigid = ParametricEstimator(regressor, parametric_regularization, *more)
        super().__init__(regressor, rigid, n_random_features, forgetting, seed)

    @property
    def parametric(self) -> ParametricEstimator:
        """The rigid-body part; its offsets do not contain what `tare` added."""
        if self._rigid is None:
            raise ParameterError("parametric", None, "there: the saved model has no rigid-body part")
        return self._rigid
