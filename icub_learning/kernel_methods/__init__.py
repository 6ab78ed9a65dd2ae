"""Kernel learning whose cost is tailored to the data, as scikit-learn estimators."""

from typing import TYPE_CHECKING

from icub_learning.lazy import lazy

if TYPE_CHECKING:
    from icub_learning.kernel_methods.kernels import Kernel
    from icub_learning.kernel_methods.one_vs_all import OneVsAllClassifier
    from icub_learning.kernel_methods.online.dictionary import KernelDictionary
    from icub_learning.kernel_methods.online.polk import POLKClassifier, POLKRegressor
    from icub_learning.kernel_methods.online.stochastic import StochasticKernelMachine
    from icub_learning.kernel_methods.random_features import IncrementalRandomFeaturesKRLS, RandomFeaturesKRLS
    from icub_learning.kernel_methods.spectral.iterative import (
        AcceleratedGradient,
        ConjugateGradientKRLS,
        Landweber,
        NuMethod,
    )
    from icub_learning.kernel_methods.spectral.krls import KRLS, SpectralCutoff
    from icub_learning.kernel_methods.subsampling.conjugate_gradient import PreconditionedKRLS
    from icub_learning.kernel_methods.subsampling.falkon import FALKON
    from icub_learning.kernel_methods.subsampling.logistic_falkon import LogisticFALKON
    from icub_learning.kernel_methods.subsampling.nystrom import IncrementalNystromKRLS, NystromKRLS
    from icub_learning.kernel_methods.subsampling.nytro import NYTRO
    from icub_learning.kernel_methods.tensor.regressor import TensorKernelRegressor
    from icub_learning.kernel_methods.tensor.symmetric_tensor import SymmetricTensor

__all__ = [
    "FALKON", "KRLS", "NYTRO", "AcceleratedGradient", "ConjugateGradientKRLS", "IncrementalNystromKRLS",
    "IncrementalRandomFeaturesKRLS", "Kernel", "KernelDictionary", "Landweber", "LogisticFALKON", "NuMethod",
    "NystromKRLS", "OneVsAllClassifier", "POLKClassifier", "POLKRegressor", "PreconditionedKRLS", "RandomFeaturesKRLS",
    "SpectralCutoff", "StochasticKernelMachine", "SymmetricTensor", "TensorKernelRegressor",
]  # fmt: skip

__getattr__ = lazy(__name__)
