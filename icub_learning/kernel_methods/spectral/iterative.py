"""Regularization by early stopping of iterations on the full kernel matrix; the number of iterations is the level."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from icub_learning.arrays import Array, integer, real
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.estimator import KernelRegressor, check_choice, check_counts
from icub_learning.kernel_methods.kernels import Kernel, Operator, indefinite

ROUNDING = 1e-12  # share of ||K|| ||r|| up to which what is new in K r is rounding: a thousand rounding errors of 1e-15


@dataclass(kw_only=True, eq=False, repr=False)
class IterativeRegressor(KernelRegressor):
    """Base of iterations alpha_t on K alpha = Y, regularized by early stopping. A subclass defines `_iterate`.

    Args:
        kernel, length_scale, degree: the kernel; see `Kernel`. `regularization` and `random_state` are unused.
        max_iter: largest number of iterations; `n_iter_` are done.
        tol: iterations end sooner once ||Y - K alpha|| <= tol ||Y|| in each target.
        path: the iterations at which `predict_path` predicts, strictly monotonic; by default all.
    """

    max_iter: int = 100
    tol: float = 1e-8
    path: Sequence[int] | None = None

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        max_iter, tol = check_iterations(self.max_iter, self.tol)
        path = RecordedPath(self.path, max_iter)
        self.centers_, self._n = samples, len(samples)
        gram = kernel.gram(samples)
        self._prepare(gram)
        sizes = np.linalg.norm(targets, axis=0)
        self.n_iter_ = 0
        for coefficients, residual in self._iterate(lambda a: gram @ a, targets, max_iter):
            self.n_iter_ += 1
            left = np.linalg.norm(residual, axis=0)
            energy = np.einsum("ij,ij->j", coefficients, targets - residual)  # alpha^T K alpha
            if ((energy < 0) & (left > 2 * sizes)).any():  # it grows along an eigenvector whose eigenvalue is below 0
                raise indefinite()
            path.record(self.n_iter_, coefficients)
            if (left <= tol * sizes).all():
                break
        self._coefficients = coefficients.copy()
        self._path, self.path_levels_ = path.finish(self.n_iter_, self._coefficients)

    def _iterate(self, apply: Operator, targets: Array, max_iter: int) -> Iterator[tuple[Array, Array]]:
        """Yield (alpha_t, Y - K alpha_t) for t = 1, 2, ...; the arrays may change afterwards."""
        raise NotImplementedError

    def _prepare(self, gram: Array) -> None:
        """Prepare the iteration for the kernel matrix (n, n), e.g. set its step size."""


@dataclass(kw_only=True, eq=False, repr=False)
class GradientRegressor(IterativeRegressor):
    """Base of iterations along the gradient (Y - K alpha) / n; see `IterativeRegressor`.

    `step_size` is eta, within the bound of the method, or "auto": n / ||K||; `step_size_` is the eta that was used.
    """

    step_size: float | str = "auto"
    _largest_step = 1.0  # largest step in units of n / ||K||; beyond it the iteration need not converge

    def _prepare(self, gram: Array) -> None:
        norm = largest_eigenvalue(gram) / len(gram)
        self.step_size_ = choose_step(self.step_size, self._largest_step, norm, "||K||")


@dataclass(kw_only=True, eq=False, repr=False)
class Landweber(GradientRegressor):
    """Gradient descent with early stopping (L2 boosting): filter (1 - (1 - eta sigma / n)^t) / sigma.

    alpha_t = alpha_{t-1} - (eta / n) (K alpha_{t-1} - Y), alpha_0 = 0, eta < 2 n / ||K||; t plays the part of 1 / (eta
    lambda) (thesis 3.4; the bound on the step in 4.3.2 lacks its n). See `GradientRegressor`.
    """

    max_iter: int = 500
    _largest_step = 2.0

    def _iterate(self, apply: Operator, targets: Array, max_iter: int) -> Iterator[tuple[Array, Array]]:
        coefficients, residual = np.zeros_like(targets), targets
        for _ in range(max_iter):
            coefficients = coefficients + (self.step_size_ / self._n) * residual
            residual = targets - apply(coefficients)
            yield coefficients, residual


@dataclass(kw_only=True, eq=False, repr=False)
class NuMethod(GradientRegressor):
    """The nu-method of Brakhage: an accelerated iteration that needs about sqrt(t) of Landweber's t iterations.

    alpha_i = alpha_{i-1} + u_i (alpha_{i-1} - alpha_{i-2}) + (w_i eta / n) (Y - K alpha_{i-1}) with u_i, w_i of the
    Jacobi polynomials that belong to nu > 0, the smoothness up to which it is optimal; i^2 plays the part of 1 / lambda
    (De Vito et al. 2006, named in the thesis, 1). The step is bounded by eta <= n / ||K||. See `GradientRegressor`.
    """

    nu: float = 1.0

    def _iterate(self, apply: Operator, targets: Array, max_iter: int) -> Iterator[tuple[Array, Array]]:
        nu = real("nu", self.nu, 0.0, low_open=True)
        before = coefficients = np.zeros_like(targets)
        residual = targets
        for i in range(1, max_iter + 1):
            u = (i - 1) * (2 * i - 3) * (2 * i + 2 * nu - 1)
            u /= (i + 2 * nu - 1) * (2 * i + 4 * nu - 1) * (2 * i + 2 * nu - 3) if i > 1 else 1.0
            w = 4 * (2 * i + 2 * nu - 1) * (i + nu - 1) / ((i + 2 * nu - 1) * (2 * i + 4 * nu - 1))
            step = u * (coefficients - before) + (w * self.step_size_ / self._n) * residual
            before, coefficients = coefficients, coefficients + step
            residual = targets - apply(coefficients)
            yield coefficients, residual


@dataclass(kw_only=True, eq=False, repr=False)
class AcceleratedGradient(GradientRegressor):
    """Gradient descent with momentum and early stopping, by Nesterov's or the heavy-ball method.

    * "nesterov": from the point b_t = alpha_t + (t - 1) / (t + 2) (alpha_t - alpha_{t-1}),
      alpha_{t+1} = b_t + (eta / n) (Y - K b_t)
    * "heavy_ball": alpha_{t+1} = alpha_t + momentum (alpha_t - alpha_{t-1}) + (eta / n) (Y - K alpha_t)

    eta <= n / ||K||; for "heavy_ball", momentum in [0, 1), eta < 2 (1 + momentum) n / ||K||. See `GradientRegressor`.
    """

    method: str = "nesterov"
    momentum: float = 0.9

    def _prepare(self, gram: Array) -> None:
        check_choice("method", self.method, ("nesterov", "heavy_ball"))
        momentum = real("momentum", self.momentum, 0.0)
        if momentum >= 1.0:
            raise ParameterError("momentum", momentum, "in [0, 1)")
        self._largest_step = 1.0 if self.method == "nesterov" else 2 * (1 + momentum)
        super()._prepare(gram)

    def _iterate(self, apply: Operator, targets: Array, max_iter: int) -> Iterator[tuple[Array, Array]]:
        rate, nesterov = self.step_size_ / self._n, self.method == "nesterov"
        coefficients = velocity = image_change = np.zeros_like(targets)
        image = np.zeros_like(targets)  # K alpha_t, so that K at the extrapolated point costs no second product
        for t in range(max_iter):
            momentum = 0.0 if t == 0 else (t - 1) / (t + 2) if nesterov else self.momentum
            point = image + momentum * image_change if nesterov else image
            velocity = momentum * velocity + rate * (targets - point)
            coefficients = coefficients + velocity
            before, image = image, apply(coefficients)
            image_change = image - before
            yield coefficients, targets - image


@dataclass(kw_only=True, eq=False, repr=False)
class ConjugateGradientKRLS(IterativeRegressor):
    """Conjugate gradients with early stopping (kernel partial least squares); see `IterativeRegressor`.

    alpha_t minimizes ||Y - K alpha|| over the Krylov space span{Y, K Y, ..., K^(t-1) Y}, each target by itself.
    """

    max_iter: int = 50

    def _iterate(self, apply: Operator, targets: Array, max_iter: int) -> Iterator[tuple[Array, Array]]:
        coefficients, residual = np.zeros_like(targets), targets.copy()
        max_iter = min(max_iter, len(targets))  # directions that span the whole space
        directions, images = np.empty((2, max_iter, *targets.shape))  # K directions[t] = images[t], orthonormal in t
        enough, norm = float(self.tol) * np.linalg.norm(targets, axis=0), 0.0
        for t in range(max_iter):
            length = np.linalg.norm(residual, axis=0)
            active = length > enough
            direction, image = residual.copy(), apply(residual)
            norm = np.maximum(norm, np.linalg.norm(image, axis=0) / np.where(length > 0.0, length, 1.0))  # of K, so far
            # Orthogonalize against all earlier directions, twice: with the last alone rounding would spoil the path.
            for _ in range(2):
                turn = np.einsum("tij,ij->tj", images[:t], image)
                direction -= np.einsum("tij,tj->ij", directions[:t], turn)
                image -= np.einsum("tij,tj->ij", images[:t], turn)
            size = np.linalg.norm(image, axis=0)
            active &= size > ROUNDING * norm * length
            scale = np.where(active, 1.0 / np.where(active, size, 1.0), 0.0)
            directions[t], images[t] = direction * scale, image * scale
            step = np.einsum("ij,ij->j", images[t], residual)
            coefficients = coefficients + step * directions[t]
            residual = residual - step * images[t]
            yield coefficients, residual
            if not active.any():
                return


def check_iterations(max_iter: int, tol: float) -> tuple[int, float]:
    """Return max_iter >= 1 and tol >= 0. Raises ParameterError."""
    return integer("max_iter", max_iter, 1), real("tol", tol, 0.0)


class RecordedPath:
    """The solutions at given iterations, or at all if `path` is None. Raises ParameterError, ShapeError."""

    def __init__(self, path: Sequence[int] | None, max_iter: int) -> None:
        self._levels = None if path is None else np.sort(check_counts(path, max_iter, f"max_iter = {max_iter}"))
        self._solutions: list[Array] = []

    def record(self, iteration: int, solution: Array) -> None:
        """Keep a copy of the solution after this iteration, if it belongs to the path."""
        if self._levels is None or iteration in self._levels:
            self._solutions.append(solution.copy())

    def finish(self, n_iter: int, last: Array) -> tuple[Array, NDArray[np.int64]]:
        """Return the solutions and their iterations; beyond the last iteration the solution stays as it is."""
        if self._levels is None:
            return np.stack(self._solutions), np.arange(1, n_iter + 1)
        return np.stack(self._solutions + [last] * (len(self._levels) - len(self._solutions))), self._levels


def choose_step(step_size: float | str, largest: float, norm: float, norm_name: str) -> float:
    """Return the given step size eta, or 1 / norm for "auto". Raises ParameterError: eta > largest / norm, norm 0."""
    if norm <= 0.0:
        raise ParameterError(norm_name, norm, "above 0: the kernel is 0 for all inputs")
    if isinstance(step_size, str):
        if step_size != "auto":
            raise ParameterError("step_size", step_size, "'auto' or a positive number")
        return 1.0 / norm
    step = real("step_size", step_size, 0.0, low_open=True)
    if step > largest / norm * (1 + 1e-9):
        text = f"at most {largest:g} n / {norm_name} = {largest / norm:.6g}, beyond which the iteration diverges"
        raise ParameterError("step_size", step, text)
    return step


def largest_eigenvalue(matrix: Array | LinearOperator) -> float:
    """Return the largest eigenvalue of a symmetric positive semidefinite matrix, by Lanczos from a fixed start."""
    n = matrix.shape[0]
    if n <= (64 if isinstance(matrix, np.ndarray) else 3):
        return float(np.linalg.eigvalsh(matrix @ np.eye(n))[-1])
    start = np.cos(np.arange(n) * 1.618) + 1.5  # hardly orthogonal to the eigenvector, whatever symmetry data have
    try:  # 8 Lanczos vectors suffice for a kernel's largest eigenvalue: 9 products; ARPACK's default of 20 takes 21
        return float(eigsh(matrix, k=1, which="LA", v0=start, return_eigenvectors=False, maxiter=200, ncv=min(8, n))[0])
    except ArpackNoConvergence:
        v = start / np.linalg.norm(start)
        for _ in range(50):
            image = matrix @ v
            v = image / np.linalg.norm(image)
        return float(np.linalg.norm(matrix @ v)) * 1.05
