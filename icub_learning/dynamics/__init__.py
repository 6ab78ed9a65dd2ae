"""Inverse dynamics learned while the robot moves: regressors, the three estimators, and the stream that feeds them."""

from typing import TYPE_CHECKING

from icub_learning.lazy import lazy

if TYPE_CHECKING:
    from icub_learning.dynamics.estimators.nonparametric import NonparametricEstimator
    from icub_learning.dynamics.estimators.parametric import ParametricEstimator
    from icub_learning.dynamics.estimators.prediction import Prediction
    from icub_learning.dynamics.estimators.semiparametric import SemiparametricEstimator
    from icub_learning.dynamics.motion.derivatives import CausalDerivatives, Motion
    from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
    from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor

__all__ = [
    "CausalDerivatives",
    "Motion",
    "NonparametricEstimator",
    "ParametricEstimator",
    "Prediction",
    "SemiparametricEstimator",
    "TorqueRegressor",
    "WrenchRegressor",
]

__getattr__ = lazy(
    __name__,
    {
        "CausalDerivatives": "motion.derivatives",
        "Motion": "motion.derivatives",
        "NonparametricEstimator": "estimators.nonparametric",
        "ParametricEstimator": "estimators.parametric",
        "Prediction": "estimators.prediction",
        "SemiparametricEstimator": "estimators.semiparametric",
        "TorqueRegressor": "regressors.torque_regressor",
        "WrenchRegressor": "regressors.wrench_regressor",
    },
)
