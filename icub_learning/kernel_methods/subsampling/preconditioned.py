"""Exact kernel regularized least squares by conjugate gradients with a Nyström preconditioner."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from icub_learning.arrays import Array
from icub_learning.kernel_methods.estimator import KernelRegressor, check_regularization
from icub_learning.kernel_methods.kernels import Kernel, blocks, rows_per_block
from icub_learning.kernel_methods.rows import ArrayRows
from icub_learning.kernel_methods.spectral.iterative import check_iterations
from icub_learning.kernel_methods.subsampling.basis import CenterBasis
from icub_learning.kernel_methods.subsampling.centers import choose_centers
from icub_learning.kernel_methods.subsampling.conjugate_gradient import conjugate_gradients, run_iterations
from icub_learning.kernel_methods.subsampling.least_squares import BasisFeatures


class PreconditionedKRLS(KernelRegressor):
    """KRLS, (K + lambda n I) alpha = Y, by conjugate gradients; K is computed in blocks and never held.

    The preconditioner is (A A^T + lambda n I)^-1 with A A^T the Nyström approximation of K on m centres, applied by
    Woodbury's identity: n m^2 once, then n^2 T an iteration, and O(n m) in memory.

    Args:
        kernel, length_scale, degree: see `Kernel`.
        regularization: lambda > 0.
        n_centers, centers, sampling, random_state: of the preconditioner; see `NystromKRLS`.
        max_iter: most iterations.
        tol: iterations end once ||Y - (K + lambda n I) alpha|| <= tol ||Y|| in each target.

    Attributes:
        dual_coef_: (n,) or (n, T).
        centers_: the training samples, (n, d).
        n_iter_: iterations done; path_levels_: 1..n_iter_.
    """

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        length_scale: float = 1.0,
        degree: int = 3,
        regularization: float = 1e-6,
        n_centers: int = 100,
        centers: ArrayLike | None = None,
        sampling: str = "uniform",
        random_state: Any = None,
        max_iter: int = 200,
        tol: float = 1e-8,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.degree = degree
        self.regularization = regularization
        self.n_centers = n_centers
        self.centers = centers
        self.sampling = sampling
        self.random_state = random_state
        self.max_iter = max_iter
        self.tol = tol

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        max_iter, tol = check_iterations(self.max_iter, self.tol)
        rows = ArrayRows(samples, targets)
        centers, _ = choose_centers(
            rows,
            kernel,
            level,
            n_centers=self.n_centers,
            centers=self.centers,
            sampling=self.sampling,
            random_state=self.random_state,
        )
        ridge = level * len(samples)
        features = BasisFeatures(kernel, CenterBasis(kernel, centers))(samples)
        small = cho_factor(features.T @ features + ridge * np.eye(features.shape[1]), check_finite=False)
        against = kernel.against(samples)

        def apply(vectors: Array) -> Array:
            def product(some: Array) -> Array:
                out = np.empty((len(some), vectors.shape[1]))
                for part in blocks(len(some), rows_per_block(len(samples))):
                    np.matmul(against(some[part]), vectors, out=out[part])
                return out

            return rows.map(product) + ridge * vectors

        def precondition(residual: Array) -> Array:
            return (residual - features @ cho_solve(small, features.T @ residual, check_finite=False)) / ridge

        enough = tol * np.linalg.norm(targets, axis=0)
        iterates = conjugate_gradients(apply, np.zeros_like(targets), targets, enough, precondition)
        path = run_iterations(iterates, max_iter, targets, enough, "PreconditionedKRLS")
        self.centers_, self.n_iter_ = samples, len(path)
        self._path = np.stack(path)
        self._coefficients = self._path[-1]
        self.path_levels_ = np.arange(1, self.n_iter_ + 1)
