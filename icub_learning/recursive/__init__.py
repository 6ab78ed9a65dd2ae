"""Recursive regularized least squares on a Cholesky factor, at a fixed cost per sample."""

from icub_learning.recursive.adaptive_forgetting import AdaptiveForgetting
from icub_learning.recursive.covariance import Certainty, RegularizedCovariance
from icub_learning.recursive.least_squares import RecursiveLeastSquares

__all__ = ["AdaptiveForgetting", "Certainty", "RecursiveLeastSquares", "RegularizedCovariance"]
