"""Inverse dynamics learned while the robot moves: regressors, the three estimators, and the stream that feeds them."""

from typing import TYPE_CHECKING

from icub_learning.lazy import lazy

if TYPE_CHECKING:
    from icub_learning.dynamics.estimators.parametric import ParametricEstimator
    from icub_learning.dynamics.estimators.prediction import Prediction
    from icub_learning.dynamics.estimators.semiparametric import NonparametricEstimator, SemiparametricEstimator
    from icub_learning.dynamics.motion.motion import Motion
    from icub_learning.dynamics.motion.motion_filter import MotionFilter
    from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
    from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor

__all__ = [
    "Motion", "MotionFilter", "NonparametricEstimator", "ParametricEstimator", "Prediction",
    "SemiparametricEstimator", "TorqueRegressor", "WrenchRegressor",
]  # fmt: skip

__getattr__ = lazy(__name__)
