"""FALKON with the logistic loss: Newton's method on Nyström centres, by preconditioned conjugate gradients."""

import warnings
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from icub_learning.arrays import Array
from icub_learning.kernel_methods.estimator import check_regularization, check_signs, share_of_signs
from icub_learning.kernel_methods.kernels import Kernel, sample_rows
from icub_learning.kernel_methods.rows import ArrayRows
from icub_learning.kernel_methods.spectral.iterative import check_iterations
from icub_learning.kernel_methods.subsampling.centers import CenterBasis, CenterRegressor
from icub_learning.kernel_methods.subsampling.conjugate_gradient import conjugate_gradients
from icub_learning.kernel_methods.subsampling.falkon_system import SAMPLES_PER_CENTER
from icub_learning.kernel_methods.subsampling.least_squares import BasisFeatures, rows_of

FIRST_LEVEL = 0.1  # lambda of the first Newton step; each further step has a tenth of it, down to the given lambda
PRODUCTS = 30  # largest number of conjugate gradient iterations in one Newton step
ACCURACY = 0.1  # residual to which a Newton step is solved, as a share of the gradient
SUFFICIENT = 0.1  # share of the decrease promised by the slope that a step must reach
SMALLEST_STEP = 1e-6  # smallest step of the line search, as a share of the Newton step


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticFALKON(CenterRegressor):
    """Minimizes mean log(1 + exp(-y f(x))) + (lambda / 2) |f|^2 over the span of m centres, for targets -1 and +1.

    Newton's method, in the coordinates of the centres' orthonormal basis: each step is a weighted least squares problem
    for conjugate gradients with FALKON's preconditioner, S the average of w a a^T over ten samples for each centre.
    lambda falls from 0.1 to its own value by a factor of ten in each step (Marteau-Ferey, Bach and Rudi, "Globally
    convergent Newton methods for ill-conditioned generalized self-concordant losses", 2019). The kernel matrix of
    samples and centres stays in memory. 1 / (1 + exp(-score)), for the score from `predict`, is the probability of +1.

    There are at most `max_iter` Newton steps, those on the way to lambda included; they end once the gradient is at
    most tol times that of f = 0 in each target. `n_iter_`, `n_products_` are the most Newton steps, and products with
    the kernel matrix and its transpose, of any target. See `CenterRegressor`.
    """

    max_iter: int = 50
    tol: float = 1e-6

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        check_iterations(self.max_iter, self.tol)
        check_signs(targets, "logistic")
        self.centers_, _ = self._sample_centers(ArrayRows(samples, targets), kernel)
        basis = CenterBasis(kernel, self.centers_)
        self.n_kept_ = len(basis.kept)
        features = rows_of(BasisFeatures(basis), samples)
        count = min(SAMPLES_PER_CENTER * self.n_kept_, len(samples))
        some = sample_rows(self.random_state, len(samples), count)
        self.n_iter_ = self.n_products_ = 0
        solutions = [self._newton(features, column, some, level) for column in targets.T]
        self._coefficients = basis.to_coefficients(np.column_stack(solutions))
        self._path, self.path_levels_ = self._coefficients[None], np.array([level])

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of the targets whose sign is predicted. Raises NotFittedError, DataError."""
        return share_of_signs(self.predict(X), y, sample_weight)

    def _newton(self, features: Array, y: Array, some: NDArray[np.int64], level: float) -> Array:
        """Return the coordinates (k,) of the solution for one target y (n,)."""
        n, k = features.shape
        beta, scores = np.zeros(k), np.zeros(n)
        now = max(level, FIRST_LEVEL)
        first = float(np.linalg.norm(features.T @ y)) / (2 * n)
        steps = products = 0
        while steps < self.max_iter:
            steps += 1
            chance = expit(-y * scores)  # probability of the wrong class
            gradient = now * beta - features.T @ (y * chance) / n
            if now == level and np.linalg.norm(gradient) <= self.tol * first:
                break
            weights = chance * (1 - chance)
            part = features[some] * np.sqrt(weights[some])[:, None]
            scatter = part.T @ part / len(some)
            scatter.flat[:: k + 1] += now
            precondition = partial(cho_solve, cho_factor(scatter, overwrite_a=True), check_finite=False)

            def apply(v: Array, weights: Array = weights, now: float = now) -> Array:
                return np.asarray(features.T @ (weights[:, None] * (features @ v)) / n + now * v)

            right = -gradient[:, None]
            enough = ACCURACY * np.linalg.norm(right, axis=0)
            iterates = conjugate_gradients(apply, np.zeros((k, 1)), right, enough, precondition)
            directions = [direction for direction, _ in islice(iterates, PRODUCTS)]
            products += len(directions)
            if not directions:
                break
            change = directions[-1][:, 0]
            move = features @ change
            size = _step_size(y, scores, move, beta, change, now, float(gradient @ change))
            beta, scores = beta + size * change, scores + size * move
            now = max(level, now / 10)
        else:
            text = f"LogisticFALKON stopped after {self.max_iter} Newton steps: more steps or a larger regularization"
            warnings.warn(text, ConvergenceWarning, stacklevel=6)
        self.n_iter_, self.n_products_ = max(self.n_iter_, steps), max(self.n_products_, products)
        return beta


def _step_size(y: Array, scores: Array, move: Array, beta: Array, change: Array, level: float, slope: float) -> float:
    """Return the step size, halved until the objective falls by the share SUFFICIENT of what its slope promises."""

    def objective(t: float) -> float:
        where = beta + t * change
        return float(np.logaddexp(0, -y * (scores + t * move)).mean() + level / 2 * (where @ where))

    before, t = objective(0.0), 1.0
    while t > SMALLEST_STEP and objective(t) > before + SUFFICIENT * t * slope + 1e-15 * abs(before):
        t /= 2
    return t
