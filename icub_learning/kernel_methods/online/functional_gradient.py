"""Stochastic gradient descent in the kernel's space that keeps few points, as POLK does."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from icub_learning.arrays import Array, integer, real
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.estimator import KernelSettings, apply_by_blocks, check_choice, read_samples
from icub_learning.kernel_methods.kernels import Kernel, blocks
from icub_learning.kernel_methods.online.dictionary import KernelDictionary, compression_budget

BOUNDED = ("logistic", "hinge")  # losses whose derivatives have a norm of at most LARGEST_GRADIENT
LARGEST_GRADIENT = 2**0.5  # norm of a derivative that is 1 and -1 in two scores
SMALLEST_WEALTH = 1e-6  # least wealth of the schedule "coin", which starts with 1
DECAY = 0.75  # eta_t = eta t^-DECAY: the sum of the steps is infinite, that of their squares finite
AVERAGING = 32  # steps that the average covers by default
DECAY_OF_AVERAGE = 3  # p: after t steps the average covers at most (t + p) / (1 + p) of them


@dataclass(kw_only=True, eq=False, repr=False)
class FunctionalGradient(KernelSettings, BaseEstimator):
    """Base of POLK: stochastic functional gradient descent, projected onto few points after each step.

    f <- (1 - eta lambda) f - (eta / B) sum_b l'(f(x_b), y_b) k(x_b, .), then destructive matching pursuit removes
    points as long as the norm of the change stays within epsilon (Koppel et al., POLK, Algorithms 1 and 2). With a
    constant step epsilon = K eta^(3/2), and the number of points stays bounded; with a diminishing one
    epsilon = eta_t^2, f converges, and the number of points may grow unless `max_dictionary` limits it.

    At a constant step the error of f jumps from step to step. Predictions come from its average, average <- (1 - rho)
    average + rho f after each step, on the same points. rho = 1 / averaging, but 4 / (t + 3) while that is larger,
    which forgets the first steps (polynomial decay: Shamir and Zhang 2013); t restarts when a new class arrives.

    The schedule "coin" has no step size: f_t = -(W_t / t) sum_(s < t) g_s / L with the wealth W_t = 1 - sum_(s < t)
    <g_s, f_s> / L and L the largest norm of a gradient (Orabona and Pal, "Coin betting and parameter-free online
    learning", 2016). W_t / (L t) takes the place of eta in epsilon = K eta^(3/2); lambda is unused. It is for losses
    with bounded derivatives and kernels with k(x, x) = 1.

    Args:
        kernel, length_scale, degree: see `Kernel`.
        regularization: lambda >= 0, weight of |f|^2 / 2, not multiplied by the number of samples, which has no end.
        step_size: eta > 0, below 1 / lambda.
        parsimony: K >= 0; 0 keeps every point that a constant step adds.
        schedule: "constant", "diminishing": eta t^(-3/4) at step t, or "coin": no step size, see above.
        batch_size: B, samples in one step.
        max_dictionary: largest number of points, or None.
        averaging: number of steps that the average covers; 1 predicts with f itself. None means 32, but 1 if nothing is
            removed (constant step, parsimony 0, no max_dictionary).

    `n_samples_seen_`, `n_steps_` count from the start; `compression_error_` is the norm of the latest step's removals.
    """

    step_size: float = 1.0
    parsimony: float = 0.01
    loss: str = ""
    schedule: str = "constant"
    batch_size: int = 1
    max_dictionary: int | None = None
    averaging: int | None = None
    losses: ClassVar[tuple[str, ...]]  # their names, which a subclass defines, and `_derivatives`

    @property
    def dictionary_(self) -> Array:
        """(M, d), the points; M is the model order."""
        return np.array(self._fitted.points)

    @property
    def coef_(self) -> Array:
        """(M, C), weights of the points in f, which the gradient steps update and to which the bounds apply."""
        return np.array(self._fitted.weights)

    @property
    def averaged_coef_(self) -> Array:
        """(M, C), weights of the points in the average of f, which is used for predictions."""
        return np.array(self._fitted.averages)

    @property
    def model_order_(self) -> int:
        """M, the number of points."""
        return self._fitted.n

    @property
    def error_bound_(self) -> float:
        """epsilon of the latest step, the bound on `compression_error_` unless `max_dictionary` demands more."""
        check_is_fitted(self, "_dictionary")
        return self._step_and_budget(max(1, self.n_steps_) + (self.schedule == "coin"))[1]

    @property
    def norm_(self) -> float:
        """Norm of f in the kernel's space."""
        return self._fitted.norm

    @property
    def _fitted(self) -> KernelDictionary:
        check_is_fitted(self, "_dictionary")
        return self._dictionary

    def limit_radius(self, gradient_variance: float) -> float:
        """Return the bound sqrt(eta) / lambda (K + sqrt(K^2 + lambda sigma^2)) on the limit inferior of the distance to
        the best function at a constant step, for gradients of variance sigma^2 (POLK, Theorem 2).
        """
        self._check_settings()
        variance = real("gradient_variance", gradient_variance, 0.0)
        weight = real("regularization", self.regularization, 0.0, low_open=True)
        root = np.sqrt(self.parsimony**2 + weight * variance)
        return float(np.sqrt(self.step_size) / weight * (self.parsimony + root))

    def _check_settings(self) -> Kernel:
        """Return the kernel. Raises ParameterError for the first setting outside its range."""
        kernel = self._make_kernel()
        weight = real("regularization", self.regularization, 0.0)
        step = real("step_size", self.step_size, 0.0, low_open=True)
        if self.schedule != "coin" and step * weight >= 1.0:  # which uses neither
            raise ParameterError("step_size", self.step_size, f"below 1 / regularization = {1.0 / weight:g}")
        real("parsimony", self.parsimony, 0.0)
        check_choice("loss", self.loss, self.losses)
        check_choice("schedule", self.schedule, ("constant", "diminishing", "coin"))
        if self.schedule == "coin":
            check_choice("loss", self.loss, BOUNDED, ", for the schedule coin")
            check_choice("kernel", self.kernel, ("gaussian", "matern"), ", for the schedule coin")
        integer("batch_size", self.batch_size, 1)
        for name in ("max_dictionary", "averaging"):
            if getattr(self, name) is not None:
                integer(name, getattr(self, name), 1)
        return kernel

    def _step_and_budget(self, t: int) -> tuple[float, float]:
        """Return eta and epsilon of step t = 1, 2, ..."""
        if self.schedule == "coin":
            step = self._wealth / (LARGEST_GRADIENT * max(t, 1))
            return step, compression_budget(self.parsimony, step)
        if self.schedule == "constant":
            return self.step_size, compression_budget(self.parsimony, self.step_size)
        step = self.step_size * t**-DECAY
        return step, step**2

    def _averaging_rate(self, t: int) -> float:
        """Return rho of the average at its step t = 1, 2, ..."""
        steps = self.averaging
        if steps is None:
            steps = AVERAGING if self._step_and_budget(1)[1] or self.max_dictionary is not None else 1
        return max(1.0 / steps, (1 + DECAY_OF_AVERAGE) / (t + DECAY_OF_AVERAGE))

    def _start(self, n_inputs: int, n_outputs: int, kernel: Kernel) -> None:
        capacity = 16 if self.max_dictionary is None else self.max_dictionary + self.batch_size
        self._dictionary = KernelDictionary(kernel, n_inputs, n_outputs, min(capacity, 4096), averaged=True)
        self.n_samples_seen_ = 0
        self.n_steps_ = self._n_averaged = 0
        self.compression_error_, self._wealth = 0.0, 1.0

    def _learn(self, samples: Array, targets: NDArray[Any]) -> None:
        """Learn checked samples in their order, by batches; the caller restores the dictionary after an error."""
        if len(samples) > self.batch_size:  # a single batch is checked before it changes anything
            self._dictionary = self._dictionary.copy()
        for batch in blocks(len(samples), self.batch_size):
            self._learn_batch(samples[batch], targets[batch])

    def _learn_batch(self, x: Array, targets: NDArray[Any]) -> None:
        scores, cross = self._dictionary.values(x)
        derivatives = self._derivatives(scores, targets)
        step, budget = self._step_and_budget(self.n_steps_ + 1)
        shrink = 1.0 - step * self.regularization
        if self.schedule == "coin":  # the last bet is won or lost; then the next bet is a share of the new wealth
            gain = -float((derivatives * scores).sum()) / (len(x) * LARGEST_GRADIENT)
            # Removing points changes a bet a little, which could cost the whole wealth.
            self._wealth = max(self._wealth + gain, SMALLEST_WEALTH)
            before = step
            step, budget = self._step_and_budget(self.n_steps_ + 2)
            shrink = step / before
        self.compression_error_ = self._dictionary.step(
            x, (-step / len(x)) * derivatives, cross, shrink=shrink, budget=budget, limit=self.max_dictionary,
            rate=self._averaging_rate(self._n_averaged + 1),
        )  # fmt: skip
        self.n_steps_ += 1
        self._n_averaged += 1
        self.n_samples_seen_ += len(x)

    def _plain(self, X: Any, y: Any) -> bool:
        """Return whether X and y need no conversion; for small batches full checks would cost the most."""
        plain = type(X) is type(y) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and len(X) == len(y) > 0
        return plain and X.shape[1] == self.n_features_in_ and bool(np.isfinite(X).all())

    def _derivatives(self, scores: Array, targets: NDArray[Any]) -> Array:
        raise NotImplementedError

    def _scores(self, X: ArrayLike) -> Array:
        """Return the average of f (n, C), by blocks of rows. Raises NotFittedError, DataError."""
        kept = self._fitted
        samples = read_samples(self, X)
        if not kept.n:
            return np.zeros((len(samples), kept.n_outputs))
        return apply_by_blocks(kept.kernel.against(kept.points), samples, kept.averages)
