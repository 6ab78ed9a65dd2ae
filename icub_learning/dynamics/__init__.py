"""Inverse dynamics learned while the robot moves: regressors, the three estimators, and the stream that feeds them."""

from icub_learning.dynamics.derivatives import CausalDerivatives, Motion
from icub_learning.dynamics.nonparametric import NonparametricEstimator
from icub_learning.dynamics.parametric import ParametricEstimator
from icub_learning.dynamics.prediction import Prediction
from icub_learning.dynamics.semiparametric import SemiparametricEstimator
from icub_learning.dynamics.torque_regressor import TorqueRegressor
from icub_learning.dynamics.wrench_regressor import WrenchRegressor

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
