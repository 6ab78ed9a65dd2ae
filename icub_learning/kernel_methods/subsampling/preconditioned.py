"""Exact kernel regularized least squares by conjugate gradients with a Nyström preconditioner."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from icub_learning.arrays import Array
from icub_learning.kernel_methods.estimator import apply_by_blocks, check_regularization
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.rows import ArrayRows
from icub_learning.kernel_methods.spectral.iterative import check_iterations
from icub_learning.kernel_methods.subsampling.basis import CenterBasis
from icub_learning.kernel_methods.subsampling.centers import CenterRegressor
from icub_learning.kernel_methods.subsampling.conjugate_gradient import conjugate_gradients, run_iterations
from icub_learning.kernel_methods.subsampling.least_squares import BasisFeatures


@dataclass(kw_only=True, eq=False, repr=False)
class PreconditionedKRLS(CenterRegressor):
    """KRLS, (K + lambda n I) alpha = Y, by conjugate gradients; K is computed in blocks and never stored.

    The preconditioner is (A A^T + lambda n I)^-1 with A A^T the Nyström approximation of K on m centres (see
    `CenterRegressor`), applied by Woodbury's identity: n m^2 in time once, then n^2 T in each iteration, and O(n m) in
    memory. At most `max_iter` iterations end once ||Y - (K + lambda n I) alpha|| <= tol ||Y|| in each target; the path
    is that of the `n_iter_` done, and `centers_` are the training samples.
    """

    max_iter: int = 200
    tol: float = 1e-8

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        max_iter, tol = check_iterations(self.max_iter, self.tol)
        rows = ArrayRows(samples, targets)
        centers, _ = self._sample_centers(rows, kernel)
        ridge = level * len(samples)
        features = BasisFeatures(CenterBasis(kernel, centers))(samples)
        small = cho_factor(features.T @ features + ridge * np.eye(features.shape[1]), check_finite=False)
        against = kernel.against(samples)

        def apply(vectors: Array) -> Array:
            return rows.map(lambda some: apply_by_blocks(against, some, vectors)) + ridge * vectors

        def precondition(residual: Array) -> Array:
            image: Array = residual - features @ cho_solve(small, features.T @ residual, check_finite=False)
            return image / ridge

        enough = tol * np.linalg.norm(targets, axis=0)
        iterates = conjugate_gradients(apply, np.zeros_like(targets), targets, enough, precondition)
        self.centers_ = samples
        self._set_path(run_iterations(iterates, max_iter, targets, enough, "PreconditionedKRLS"))
