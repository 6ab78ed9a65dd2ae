"""Feature maps from samples to rows of fixed length, on which recursive least squares learns."""

from icub_learning.features.nystrom import NystromFeatures
from icub_learning.features.random_fourier import MultiscaleFourierFeatures, RandomFourierFeatures
from icub_learning.features.standardizer import Standardizer

__all__ = ["MultiscaleFourierFeatures", "NystromFeatures", "RandomFourierFeatures", "Standardizer"]
