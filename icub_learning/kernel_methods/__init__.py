"""Kernel learning whose cost is tailored to the data, as scikit-learn estimators."""

from icub_learning.kernel_methods.iterative import AcceleratedGradient, ConjugateGradientKRLS, Landweber, NuMethod
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.krls import KRLS, SpectralCutoff
from icub_learning.kernel_methods.one_vs_all import OneVsAllClassifier

__all__ = [
    "KRLS",
    "AcceleratedGradient",
    "ConjugateGradientKRLS",
    "Kernel",
    "Landweber",
    "NuMethod",
    "OneVsAllClassifier",
    "SpectralCutoff",
]
