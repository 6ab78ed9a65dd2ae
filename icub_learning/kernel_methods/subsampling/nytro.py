"""NYTRO: gradient descent, plain or accelerated, on the span of Nyström centres, regularized by early stopping."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import LinearOperator

from icub_learning.arrays import Array, real
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.estimator import check_choice
from icub_learning.kernel_methods.kernels import Kernel, Operator, blocks, check_seed, rows_per_block
from icub_learning.kernel_methods.rows import ArrayRows
from icub_learning.kernel_methods.spectral.iterative import (
    AcceleratedGradient,
    Landweber,
    NuMethod,
    RecordedPath,
    check_iterations,
    choose_step,
    largest_eigenvalue,
)
from icub_learning.kernel_methods.subsampling.centers import CenterBasis, CenterRegressor
from icub_learning.kernel_methods.subsampling.conjugate_gradient import conjugate_gradients
from icub_learning.kernel_methods.subsampling.least_squares import BasisFeatures, NormalEquations, rows_of

Indices = NDArray[np.int64]
# Time of a multiplication in a product of a matrix and some vectors, which waits for memory, over that in a product of
# matrices: 7 for 1000 centres, 9 for 2000, on one core with AVX-512; with few centres both are quick.
PRODUCT_GAIN = 8
FIRST = 10  # first iteration at which the rule may stop: once the mean is fitted, errors can seem to stall
# Gain below which a doubling of t is the last: ten more such doublings, 1000 times the iterations, would gain 1 %.
GAIN = 0.001


@dataclass(kw_only=True, eq=False, repr=False)
class NYTRO(CenterRegressor):
    """Nyström early stopping: beta_t = beta_{t-1} - (gamma / n) R^T K_nm^T (K_nm R beta_{t-1} - Y), alpha_t = R beta_t.

    With R R^T = K_mm^+ and A = K_nm R, predictions on the samples are [I - (I - (gamma / n) A A^T)^t] Y; t plays the
    part of 1 / (gamma lambda) of Nyström KRLS (NYTRO paper, eq. 17-19, where the inner R is missing), t^2 with the
    accelerated methods. O(n m t + m^3) in time and O(n m) in memory for the whole path, by passes over K_nm; where it
    takes fewer operations (see `forms_normal_equations`), A^T A is formed once, in O(n m^2) and O(m^2), and an
    iteration costs m^2. With all samples as centres the methods are Landweber, NuMethod, AcceleratedGradient, and, for
    some ten iterations, until rounding spoils its orthogonality, ConjugateGradientKRLS.

    Args:
        kernel, ..., random_state: see `CenterRegressor`.
        regularization: lambda > 0 of the leverage scores; nothing else depends on it.
        method: "gradient", the paper's; "nu" (Brakhage), "nesterov" or "cg" (conjugate gradients).
        nu: > 0, for "nu"; see `NuMethod`.
        max_iter: largest number of iterations t; `n_iter_` are done.
        step_size: gamma < 2 n / ||K_nm R||^2, half of that for "nu" and "nesterov", or "auto": n / ||K_nm R||^2, the
            largest step for which the paper bounds the risk (theorem 5), as in its release. Unused by "cg".
        tol: iterations end sooner once ||A^T (Y - A beta)|| <= tol ||A^T Y|| in each target.
        stopping: whether the error on held-out samples ends the iteration, see `stops`; the solution is then that of
            the remaining samples at the iteration with the least `validation_errors_` (root mean squares).
        threshold: in [0, 1]; `stops` ends the iteration after a doubling of t that lowers the error by a smaller share.
        validation_fraction: share of the samples held out for the rule.
        shuffle: whether held-out samples are drawn at random; else they are the last ones, for data in order of time.
        path: the iterations at which `predict_path` predicts, strictly monotonic; by default all.
    """

    method: str = "gradient"
    nu: float = 1.0
    max_iter: int = 500
    step_size: float | str = "auto"
    tol: float = 1e-8
    stopping: bool = False
    threshold: float = GAIN
    validation_fraction: float = 0.2
    shuffle: bool = True
    path: Sequence[int] | None = None

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        max_iter, tol = check_iterations(self.max_iter, self.tol)
        check_choice("method", self.method, ("gradient", "nu", "nesterov", "cg"))
        if not isinstance(self.stopping, bool | np.bool):
            raise ParameterError("stopping", self.stopping, "True or False")
        threshold = real("threshold", self.threshold, 0.0, 1.0)
        path = RecordedPath(self.path, max_iter)
        random = check_seed(self.random_state)
        if self.stopping:
            held_out, kept = split_off(len(samples), self.validation_fraction, self.shuffle, random)
            validation, validation_targets = samples[held_out], targets[held_out]
            samples, targets = samples[kept], targets[kept]
        self.centers_, _ = self._sample_centers(ArrayRows(samples, targets), kernel, random)
        basis = CenterBasis(kernel, self.centers_)
        self.n_kept_ = len(basis.kept)
        apply, moment = _normal_equations(basis, ArrayRows(samples, targets), max_iter)
        self._set_step(apply, len(samples))
        checked = rows_of(BasisFeatures(basis), validation) if self.stopping else None
        errors: list[float] = []
        for t, coordinates in enumerate(self._iterate(apply, moment, len(samples), max_iter, tol), start=1):
            path.record(t, coordinates)
            if checked is None:
                best = coordinates
                continue
            errors.append(float(np.sqrt(np.mean((checked @ coordinates - validation_targets) ** 2))))
            if errors[-1] == min(errors):
                best = coordinates.copy()
            if stops(errors, threshold):
                break
        self.n_iter_ = t
        self.validation_errors_ = np.asarray(errors)  # none without `stopping`
        solutions, self.path_levels_ = path.finish(t, coordinates)
        flat = solutions.transpose(1, 0, 2).reshape(self.n_kept_, -1)
        shape = (len(self.centers_), len(solutions), targets.shape[1])
        self._path = basis.to_coefficients(flat).reshape(shape).transpose(1, 0, 2)
        self._coefficients = basis.to_coefficients(best)

    def _iterate(self, apply: Operator, moment: Array, n: int, max_iter: int, tol: float) -> Iterator[Array]:
        """Yield beta_t (k, T) of the method on A^T A beta = A^T Y for t = 1, 2, ..."""
        enough = tol * np.linalg.norm(moment, axis=0)
        iterates: Iterator[tuple[Array, Array]]
        if self.method == "cg":
            iterates = conjugate_gradients(apply, np.zeros_like(moment), moment, enough)
            if (np.linalg.norm(moment, axis=0) <= enough).all():  # conjugate gradients have no step to take
                iterates = iter([(np.zeros_like(moment), moment)])
        else:
            schemes = {"gradient": Landweber(), "nu": NuMethod(nu=self.nu), "nesterov": AcceleratedGradient()}
            scheme = schemes[self.method]
            scheme.step_size_, scheme._n = self.step_size_, n
            iterates = scheme._iterate(apply, moment, max_iter)
        for _, (coordinates, residual) in zip(range(max_iter), iterates, strict=False):
            yield coordinates
            if (np.linalg.norm(residual, axis=0) <= enough).all():
                return

    def _set_step(self, apply: Operator, n: int) -> None:
        def product(vector: Array) -> Array:
            return np.ravel(apply(vector.reshape(-1, 1)))

        matrix = LinearOperator((self.n_kept_, self.n_kept_), matvec=product, dtype=np.float64)
        most = 1.0 if self.method in ("nu", "nesterov") else 2.0
        self.step_size_ = choose_step(self.step_size, most, largest_eigenvalue(matrix) / n, "||K_nm R||^2")


def stops(errors: Sequence[float], threshold: float = GAIN) -> bool:
    """Return whether the validation error of iterations 1..t fell by less than a share `threshold` while t doubled.

    A threshold over a fixed number of iterations, as in the paper's release, would stop every slow descent.
    """
    t = len(errors)
    return t >= FIRST and errors[-1] >= (1 - threshold) * errors[t // 2 - 1]


def split_off(n: int, fraction: float, shuffle: bool, random: RandomState) -> tuple[Indices, Indices]:
    """Return the indices of validation samples, a random fraction of n or the last ones, and of training samples."""
    fraction = real("validation_fraction", fraction, 0.0, 1.0, low_open=True)
    count = round(fraction * n)
    if not 1 <= count <= n - 2:
        bound = f"between {1 / n:.2g} and {1 - 2 / n:.2g} for {n} samples"
        raise ParameterError("validation_fraction", fraction, bound)
    order = random.permutation(n) if shuffle else np.arange(n)[::-1]
    return order[:count], np.sort(order[count:])


def forms_normal_equations(k: int, n_targets: int, max_iter: int) -> bool:
    """Return whether to form A^T A (n k^2 in matrix products) and not pass over K_nm (2 n k per pass and target)."""
    return k / PRODUCT_GAIN <= 2 * max_iter * n_targets


def _normal_equations(basis: CenterBasis, rows: ArrayRows, max_iter: int) -> tuple[Operator, Array]:
    """Return the operator A^T A on (k, T), as a matrix or by passes over K_nm, and A^T Y (k, T)."""
    if forms_normal_equations(len(basis.kept), rows.n_targets, max_iter):
        upper, moment = rows.sum(NormalEquations(BasisFeatures(basis), rows.n_targets))
        gram = np.triu(upper) + np.triu(upper, 1).T
        return lambda coordinates: gram @ coordinates, moment
    cross = ArrayRows(rows_of(basis.against, rows.samples), rows.targets)

    def reduce(moment: Array) -> Array:
        return np.asarray(solve_triangular(basis.triangle, moment, trans="T", check_finite=False))

    def apply(coordinates: Array) -> Array:
        vectors = solve_triangular(basis.triangle, coordinates, check_finite=False)

        def squares(kernel: Array, _: Array) -> tuple[Array]:
            total = np.zeros_like(vectors)
            for some in blocks(len(kernel), rows_per_block(len(vectors))):  # each block is read from memory once
                total += kernel[some].T @ (kernel[some] @ vectors)
            return (total,)

        return reduce(*cross.sum(squares))

    return apply, reduce(cross.samples.T @ rows.targets)
