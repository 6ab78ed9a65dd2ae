"""Kernel learning whose cost is tailored to the data, as scikit-learn estimators."""

from icub_learning.kernel_methods.dictionary import KernelDictionary, matching_pursuit
from icub_learning.kernel_methods.falkon import FALKON
from icub_learning.kernel_methods.iterative import AcceleratedGradient, ConjugateGradientKRLS, Landweber, NuMethod
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.krls import KRLS, SpectralCutoff
from icub_learning.kernel_methods.nystrom import IncrementalNystromKRLS, NystromKRLS
from icub_learning.kernel_methods.nytro import NYTRO
from icub_learning.kernel_methods.one_vs_all import OneVsAllClassifier
from icub_learning.kernel_methods.polk import POLKClassifier, POLKRegressor, functional_sgd
from icub_learning.kernel_methods.preconditioned import PreconditionedKRLS
from icub_learning.kernel_methods.random_features import IncrementalRandomFeaturesKRLS, RandomFeaturesKRLS
from icub_learning.kernel_methods.stochastic import StochasticKernelMachine
from icub_learning.kernel_methods.symmetric_tensor import SymmetricTensor
from icub_learning.kernel_methods.tensor_kernel import TensorKernelRegressor

__all__ = [
    "FALKON",
    "KRLS",
    "NYTRO",
    "AcceleratedGradient",
    "ConjugateGradientKRLS",
    "IncrementalNystromKRLS",
    "IncrementalRandomFeaturesKRLS",
    "Kernel",
    "KernelDictionary",
    "Landweber",
    "NuMethod",
    "NystromKRLS",
    "OneVsAllClassifier",
    "POLKClassifier",
    "POLKRegressor",
    "PreconditionedKRLS",
    "RandomFeaturesKRLS",
    "SpectralCutoff",
    "StochasticKernelMachine",
    "SymmetricTensor",
    "TensorKernelRegressor",
    "functional_sgd",
    "matching_pursuit",
]
