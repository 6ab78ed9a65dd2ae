"""Dual solvers of l_p-regularized regression, p = q / (q - 1), stopped by the duality gap."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from icub_learning.arrays import Array
from icub_learning.kernel_methods.kernels import Operator
from icub_learning.kernel_methods.tensor.dual_losses import DualLoss, Square
from icub_learning.kernel_methods.tensor.symmetric_tensor import SymmetricTensor

DIRECT = 1000  # largest system that is factored; larger ones are solved by conjugate gradients
SHRINK = 0.5  # factor by which a step that is too long is shortened
SUFFICIENT = 1e-4  # share of the decrease promised by the slope that a step must reach
SMALLEST_STEP = 1e-12  # smallest step of the line search, as a share of the first one tried


class LinearPenalty:
    """R(a) = |Phi* a|_q^q / q, with the gradient f (n,), for the linear kernel, w = J_q(X^T a): O(n d)."""

    def __init__(self, samples: Array, order: int) -> None:
        self.samples, self.order = samples, order

    def weights(self, a: Array) -> Array:
        """Return w = J_q(X^T a), (d,), with J_q(u) = sign(u) |u|^(q - 1)."""
        return np.asarray((self.samples.T @ a) ** (self.order - 1))  # the order is even, so this keeps the sign

    def value_and_gradient(self, a: Array) -> tuple[float, Array]:
        """Return R(a) and f (n,)."""
        u = self.samples.T @ a
        w = u ** (self.order - 1)
        return float(u @ w) / self.order, self.samples @ w

    def newton(self, a: Array, weight: float) -> tuple[float, Array, Operator]:
        """Return R(a), f (n,), and a function that solves (R''(a) + weight I) x = b."""
        x, q = self.samples, self.order
        u = x.T @ a
        curvature, w = (q - 1) * u ** (q - 2), u ** (q - 1)
        n, d = x.shape
        value, f = float(u @ w) / q, x @ w
        if min(n, d) > DIRECT:
            operator = LinearOperator((n, n), matvec=lambda v: x @ (curvature * (x.T @ v)) + weight * v)
            return value, f, lambda b: cg(operator, b, rtol=1e-4, maxiter=500)[0]
        if n <= d:
            return value, f, _cholesky_solver((x * curvature) @ x.T, weight)
        scaled = x * np.sqrt(curvature)  # (X D X^T + weight I)^-1 by a system of the d features
        inner = _cholesky_solver(scaled.T @ scaled, weight)
        return value, f, lambda b: (b - scaled @ inner(scaled.T @ b)) / weight


class TensorPenalty:
    """R for any tensor kernel, by the packed tensor of its values on the training samples; see `LinearPenalty`."""

    def __init__(self, tensor: SymmetricTensor) -> None:
        self.tensor, self.order = tensor, tensor.order

    def value_and_gradient(self, a: Array) -> tuple[float, Array]:
        """Return R(a) and f (n,)."""
        gradient = self.tensor.gradient(a)
        return float(a @ gradient) / self.order, gradient

    def newton(self, a: Array, weight: float) -> tuple[float, Array, Operator]:
        """Return R(a), f (n,), and a function that solves (R''(a) + weight I) x = b."""
        value, gradient, system = self.tensor.derivatives(a)
        try:
            return value / self.order, gradient, _cholesky_solver(system, weight)
        except np.linalg.LinAlgError:  # R is convex, but its rounded second derivatives may be indefinite
            return value / self.order, gradient, lambda b: b / weight


Penalty = LinearPenalty | TensorPenalty


def _cholesky_solver(system: Array, weight: float) -> Operator:
    """Return b -> (system + weight I)^-1 b; `system` is overwritten. Raises LinAlgError."""
    system[np.diag_indices(len(system))] += weight
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    return lambda b: cho_solve(factor, b, check_finite=False)


@dataclass(frozen=True)
class Solution:
    """Result of a solver: a (n,), f at the training samples (n,), the duality gap, the number of iterations."""

    a: Array
    f: Array
    gap: float
    n_iter: int


def gap(loss: DualLoss, y: Array, a: Array, f: Array, gamma: float) -> float:
    """Return the duality gap F(w) + Lambda(a), w = J_q(Phi* a): a sum of terms >= 0 (Fenchel and Young)."""
    if isinstance(loss, Square):  # the same sum without cancellation
        return float(0.5 * gamma * np.sum((f - y + a / gamma) ** 2))
    return float(np.maximum(a * f + gamma * loss.value(y, f) + loss.dual(y, a, gamma), 0.0).sum())


def solve(penalty: Penalty, loss: DualLoss, y: Array, gamma: float, tol: float, max_iter: int) -> Solution:
    """Minimize Lambda(a) = R(a) + gamma sum_i L*(y_i, -a_i / gamma) until the gap is at most `tol`."""
    if isinstance(loss, Square):
        return _newton(penalty, y, gamma, tol, max_iter)
    return _proximal(penalty, loss, y, gamma, tol, max_iter)


def _newton(penalty: Penalty, y: Array, gamma: float, tol: float, max_iter: int) -> Solution:
    """Minimize Lambda by Newton's method with step halving; for the square loss it is strongly convex and smooth."""
    loss = Square()
    a = _along(penalty, y, gamma)
    value, f = penalty.value_and_gradient(a)
    found = gap(loss, y, a, f, gamma)
    n_iter = 0
    while found > tol and n_iter < max_iter:
        n_iter += 1
        value, f, solve_system = penalty.newton(a, 1.0 / gamma)
        slope = f + a / gamma - y
        step = -solve_system(slope)
        promised = float(slope @ step)
        objective = value + float(loss.dual(y, a, gamma).sum())
        t = 1.0
        while t > SMALLEST_STEP:
            new = a + t * step
            new_value, new_f = penalty.value_and_gradient(new)
            new_objective = new_value + float(loss.dual(y, new, gamma).sum())
            new_gap = gap(loss, y, new, new_f, gamma)
            # Near the optimum differences of the objective are lost in rounding, the gap is not.
            if new_objective <= objective + SUFFICIENT * t * promised or new_gap < 0.5 * found:
                break
            t *= SHRINK
        else:
            break  # no step improves the objective beyond rounding
        a, f, found = new, new_f, new_gap
    return Solution(a, f, found, n_iter)


def _along(penalty: Penalty, y: Array, gamma: float) -> Array:
    """Return the best multiple s y of y: s minimizes s^q R(y) + (s^2 / (2 gamma) - s) |y|^2."""
    value, _ = penalty.value_and_gradient(y)
    q, square = penalty.order, float(y @ y)
    low, high = 0.0, gamma
    for _ in range(100):
        s = 0.5 * (low + high)
        if q * s ** (q - 1) * value + (s / gamma - 1.0) * square > 0.0:
            high = s
        else:
            low = s
    return low * y


def _proximal(penalty: Penalty, loss: DualLoss, y: Array, gamma: float, tol: float, max_iter: int) -> Solution:
    """Minimize Lambda by accelerated proximal gradient with backtracking, restarted when momentum leads upwards."""
    a = previous = loss.prox(y, np.zeros_like(y), 1e-6 * gamma, gamma)
    value, f = penalty.value_and_gradient(a)
    tau, momentum = gamma, 1.0
    found, n_iter = gap(loss, y, a, f, gamma), 0
    while found > tol and n_iter < max_iter:
        n_iter += 1
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        z = a + (momentum - 1.0) / following * (a - previous)
        at_z, slope = (value, f) if z is a else penalty.value_and_gradient(z)
        while True:
            new = loss.prox(y, z - tau * slope, tau, gamma)
            change = new - z
            new_value, new_f = penalty.value_and_gradient(new)
            bound = at_z + float(slope @ change) + float(change @ change) / (2.0 * tau)
            if new_value <= bound + 1e-12 * abs(bound) or tau < SMALLEST_STEP * gamma:
                break
            tau *= SHRINK
        restart = float((z - new) @ (new - a)) > 0.0
        momentum = 1.0 if restart else following
        previous, a, value, f = (new if restart else a), new, new_value, new_f
        found = gap(loss, y, a, f, gamma)
        tau *= 1.2
    return Solution(a, f, found, n_iter)
