"""Learners of samples that come one by one as dictionaries, with river's `learn_one` and `predict_one`.

Where river is installed they are river estimators: they work in its pipelines and pass its checks. They work the same
without it.
"""

from icub_learning.streaming.fourier import RandomFourierRegressor
from icub_learning.streaming.linear import RLSClassifier, RLSMultiTargetRegressor, RLSRegressor

__all__ = ["RLSClassifier", "RLSMultiTargetRegressor", "RLSRegressor", "RandomFourierRegressor"]
