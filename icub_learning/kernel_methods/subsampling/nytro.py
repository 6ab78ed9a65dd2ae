"""NYTRO: gradient descent, plain or accelerated, on the span of Nyström centres, regularized by early stopping."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import LinearOperator
from sklearn.utils import check_random_state

from icub_learning.arrays import Array, real
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.kernels import Kernel, KernelAgainst, blocks, rows_per_block
from icub_learning.kernel_methods.rows import ArrayRows
from icub_learning.kernel_methods.spectral.iterative import (
    AcceleratedGradient,
    NuMethod,
    RecordedPath,
    check_iterations,
    choose_step,
    largest_eigenvalue,
)
from icub_learning.kernel_methods.spectral.stopping import StoppingRule
from icub_learning.kernel_methods.subsampling.basis import CenterBasis
from icub_learning.kernel_methods.subsampling.centers import CenterRegressor
from icub_learning.kernel_methods.subsampling.conjugate_gradient import conjugate_gradients

METHODS = ("gradient", "nu", "nesterov", "cg")


@dataclass(kw_only=True, eq=False, repr=False)
class NYTRO(CenterRegressor):
    """Nyström early stopping: beta_t = beta_{t-1} - (gamma / n) R^T K_nm^T (K_nm R beta_{t-1} - Y), alpha_t = R beta_t.

    With R R^T = K_mm^+ and A = K_nm R, predictions on the samples are [I - (I - (gamma / n) A A^T)^t] Y; t plays the
    part of 1 / (gamma lambda) of Nyström KRLS (NYTRO paper, eq. 17-19, where the inner R is missing). R comes from a
    triangular factor that leaves out dependent centres, and A is never formed: O(n m t + m^3) in time, O(n m) in memory
    for the whole path.

    The accelerated methods are those of the full kernel matrix, run on A^T A beta = A^T Y: with all samples as centres
    they are NuMethod, AcceleratedGradient and ConjugateGradientKRLS. t^2 plays the part of t ("nu", "nesterov"), and
    "cg" has no step at all.

    Args:
        kernel, length_scale, degree, n_centers, centers, sampling, random_state: see `CenterRegressor`.
        regularization: lambda > 0 of the leverage scores; nothing else depends on it.
        method: "gradient", the paper's; "nu" (Brakhage), "nesterov" or "cg" (conjugate gradients).
        nu: > 0, for "nu"; see `NuMethod`.
        max_iter: largest number of iterations t.
        step_size: gamma < 2 n / ||K_nm R||^2, half of that for "nu" and "nesterov", or "auto": 1 / max k(x, x), the
            paper's, which is always below. Unused by "cg".
        tol: iterations end sooner once ||Y - A beta|| <= tol ||Y|| in each target, or for the accelerated methods
            ||A^T (Y - A beta)|| <= tol ||A^T Y||.
        stopping: None, or a rule ("simple", "averaged", "median", "linear", see `StoppingRule`) that ends the iteration
            by the error on held-out samples; the solution is that of the remaining samples at the last iteration.
        window, threshold: those of the rule; see `StoppingRule`.
        validation_fraction: share of the samples held out for the rule.
        shuffle: whether these are drawn at random; if not, they are the last ones, for samples in order of time.
        path: the iterations at which `predict_path` predicts, strictly monotonic; by default all.

    Attributes:
        dual_coef_: (m,) or (m, T), after the last iteration.
        centers_: (m, d).
        n_kept_: centres that are independent to working precision.
        n_iter_, step_size_, path_levels_: iterations done, gamma, and the iterations of the path.
        validation_errors_: (n_iter_,) root mean square errors over held-out samples and targets; only with a rule.
    """

    method: str = "gradient"
    nu: float = 1.0
    max_iter: int = 500
    step_size: float | str = "auto"
    tol: float = 1e-8
    stopping: str | None = None
    window: int = 10
    threshold: float = 0.05
    validation_fraction: float = 0.2
    shuffle: bool = True
    path: Sequence[int] | None = None

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        max_iter, tol = check_iterations(self.max_iter, self.tol)
        if self.method not in METHODS:
            raise ParameterError("method", self.method, f"one of {', '.join(METHODS)}")
        path = RecordedPath(self.path, max_iter)
        rule = None if self.stopping is None else StoppingRule(self.stopping, self.window, self.threshold)
        random = check_random_state(self.random_state)
        if rule:
            held_out, kept = self._split(len(samples), random)
            validation, validation_targets = samples[held_out], targets[held_out]
            samples, targets = samples[kept], targets[kept]
        centers, _ = self._sample_centers(ArrayRows(samples, targets), kernel, random=random)
        basis = CenterBasis(kernel, centers)
        independent = kernel.against(centers[basis.kept])
        cross = ArrayRows(_kernel_rows(independent, samples), targets)
        self._set_step(cross, basis, float(kernel.diagonal(samples).max()))
        checked = _kernel_rows(independent, validation) if rule else None
        errors: list[float] = []
        start = np.zeros((len(basis.kept), targets.shape[1]))
        run = self._descend if self.method == "gradient" else self._accelerate
        for t, coefficients in enumerate(run(cross, basis, start, max_iter, tol), start=1):
            path.record(t, coefficients)
            if rule and checked is not None:
                errors.append(float(np.sqrt(np.mean((checked @ coefficients - validation_targets) ** 2))))
                if rule.stops(errors):
                    break
        self.n_iter_, self.centers_, self.n_kept_ = t, centers, len(basis.kept)
        if rule:
            self.validation_errors_ = np.asarray(errors)
        solutions, self.path_levels_ = path.finish(t, coefficients)
        self._path = np.zeros((len(solutions), len(centers), targets.shape[1]))
        self._path[:, basis.kept] = solutions
        self._coefficients = np.zeros((len(centers), targets.shape[1]))
        self._coefficients[basis.kept] = coefficients

    def _descend(
        self, cross: ArrayRows, basis: CenterBasis, start: Array, max_iter: int, tol: float
    ) -> Iterator[Array]:
        """Yield alpha_t (k, T) of gradient descent for t = 1, 2, ..."""
        rate, coordinates = self.step_size_ / cross.n, start
        # Both the residual and the path need alpha_t = R beta_t, so one triangular solve serves both.
        gradient, first = cross.sum(Residuals(start))
        for t in range(1, max_iter + 1):
            coordinates = coordinates + rate * _reduce(basis, gradient)
            coefficients = _expand(basis, coordinates)
            yield coefficients
            if t < max_iter:
                gradient, squares = cross.sum(Residuals(coefficients))
                if (np.sqrt(squares) <= tol * np.sqrt(first)).all():
                    return

    def _accelerate(
        self, cross: ArrayRows, basis: CenterBasis, start: Array, max_iter: int, tol: float
    ) -> Iterator[Array]:
        """Yield alpha_t (k, T) of an iteration on A^T A beta = A^T Y for t = 1, 2, ..., one pass over K_nm for each."""
        moment = _reduce(basis, cross.sum(Residuals(start))[0])
        enough = tol * np.linalg.norm(moment, axis=0)

        def apply(coordinates: Array) -> Array:
            (product,) = cross.sum(_Squares(_expand(basis, coordinates)))
            return _reduce(basis, product)

        iterates: Iterator[tuple[Array, Array | None]]
        if self.method == "cg":
            iterates = conjugate_gradients(apply, start, moment, enough)
        else:
            scheme = NuMethod(nu=self.nu) if self.method == "nu" else AcceleratedGradient()
            scheme.step_size_, scheme._n = self.step_size_, cross.n
            iterates = scheme._iterate(apply, moment, max_iter)
        for _, (coordinates, residual) in zip(range(max_iter), iterates, strict=False):
            yield _expand(basis, coordinates)
            if residual is not None and (np.linalg.norm(residual, axis=0) <= enough).all():
                return

    def _set_step(self, cross: ArrayRows, basis: CenterBasis, largest: float) -> None:
        if isinstance(self.step_size, str):
            self.step_size_ = choose_step(self.step_size, 2.0, largest, "max k(x, x)")
            return
        most = 1.0 if self.method in ("nu", "nesterov") else 2.0

        def apply(vector: Array) -> Array:
            inner = solve_triangular(basis.triangle, vector.reshape(-1, 1), check_finite=False)
            (outer,) = cross.sum(_Squares(inner))
            return np.ravel(solve_triangular(basis.triangle, outer, trans="T", check_finite=False))

        size = len(basis.kept)
        operator = LinearOperator((size, size), matvec=apply, dtype=np.float64)
        matrix = np.column_stack([apply(unit) for unit in np.eye(size)]) if size <= 3 else operator
        norm = largest_eigenvalue(matrix) / cross.n
        self.step_size_ = choose_step(self.step_size, most, norm, "||K_nm R||^2")

    def _split(self, n: int, random: RandomState) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        fraction = real("validation_fraction", self.validation_fraction, 0.0, 1.0, low_open=True)
        count = round(fraction * n)
        if not 1 <= count <= n - 2:
            raise ParameterError(
                "validation_fraction", fraction, f"between {1 / n:.2g} and {1 - 2 / n:.2g} for {n} samples"
            )
        order = random.permutation(n) if self.shuffle else np.arange(n)[::-1]
        return order[:count], np.sort(order[count:])


@dataclass(frozen=True)
class Residuals:
    """Sums of K_b^T (Y_b - K_b vectors) and of the squares of Y_b - K_b vectors over rows of a kernel matrix."""

    vectors: Array

    def start(self) -> tuple[Array, ...]:
        """See rows.Sum."""
        return np.zeros_like(self.vectors), np.zeros(self.vectors.shape[1])

    def add(self, totals: tuple[Array, ...], samples: NDArray[Any], targets: NDArray[Any]) -> None:
        """See rows.Sum; each block of rows is read once from memory."""
        for rows in blocks(len(samples), rows_per_block(len(self.vectors))):
            residual = targets[rows] - samples[rows] @ self.vectors
            np.add(totals[0], samples[rows].T @ residual, out=totals[0])
            np.add(totals[1], np.einsum("ij,ij->j", residual, residual), out=totals[1])


@dataclass(frozen=True)
class _Squares:
    """Sum of K_b^T K_b vectors over rows of a kernel matrix."""

    vectors: Array

    def start(self) -> tuple[Array, ...]:
        return (np.zeros_like(self.vectors),)

    def add(self, totals: tuple[Array, ...], samples: NDArray[Any], targets: NDArray[Any]) -> None:
        for rows in blocks(len(samples), rows_per_block(len(self.vectors))):
            np.add(totals[0], samples[rows].T @ (samples[rows] @ self.vectors), out=totals[0])


def _expand(basis: CenterBasis, coordinates: Array) -> Array:
    expanded: Array = solve_triangular(basis.triangle, coordinates, check_finite=False)
    return expanded


def _reduce(basis: CenterBasis, moment: Array) -> Array:
    reduced: Array = solve_triangular(basis.triangle, moment, trans="T", check_finite=False)
    return reduced


def _kernel_rows(against: KernelAgainst, samples: Array) -> Array:
    """Return the rows of the kernel matrix of `samples`, (n, m), computed in blocks."""
    out = np.empty((len(samples), against.n_centers))
    for rows in blocks(len(samples), rows_per_block(against.n_centers)):
        against(samples[rows], out[rows])
    return out
