"""Kernel learning whose cost is tailored to the data, as scikit-learn estimators."""

from icub_learning.kernel_methods.falkon import FALKON
from icub_learning.kernel_methods.iterative import AcceleratedGradient, ConjugateGradientKRLS, Landweber, NuMethod
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.krls import KRLS, SpectralCutoff
from icub_learning.kernel_methods.nystrom import IncrementalNystromKRLS, NystromKRLS
from icub_learning.kernel_methods.one_vs_all import OneVsAllClassifier
from icub_learning.kernel_methods.preconditioned import PreconditionedKRLS
from icub_learning.kernel_methods.random_features import IncrementalRandomFeaturesKRLS, RandomFeaturesKRLS

__all__ = [
    "FALKON",
    "KRLS",
    "AcceleratedGradient",
    "ConjugateGradientKRLS",
    "IncrementalNystromKRLS",
    "IncrementalRandomFeaturesKRLS",
    "Kernel",
    "Landweber",
    "NuMethod",
    "NystromKRLS",
    "OneVsAllClassifier",
    "PreconditionedKRLS",
    "RandomFeaturesKRLS",
    "SpectralCutoff",
]
