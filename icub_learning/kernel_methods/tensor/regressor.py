"""Sparse regression by tensor kernels: l_p regularization close to the lasso's, p = q / (q - 1) with q even."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from icub_learning.arrays import Array, integer, real
from icub_learning.errors import DataError, ParameterError
from icub_learning.kernel_methods.estimator import (
    check_choice,
    read_samples,
    read_training_data,
    share_of_signs,
    unchanged_after_errors,
)
from icub_learning.kernel_methods.kernels import Seed, sample_rows
from icub_learning.kernel_methods.tensor.dual_losses import MARGINS, DualLoss, find_loss
from icub_learning.kernel_methods.tensor.sparse_dual import LinearPenalty, TensorPenalty, solve
from icub_learning.kernel_methods.tensor.symmetric_tensor import SymmetricTensor

MOST_GRADIENTS = 50  # training samples, at most, over which the gradients of a nonlinear model are averaged
ROUNDING = 1e-15  # share of the objective at w = 0 to which sums over samples are rounded
READ_OUT = 2.0  # standard deviations of the weights beyond which a feature is selected


@dataclass(kw_only=True, eq=False, repr=False)
class TensorKernelRegressor(RegressorMixin, BaseEstimator):
    """Minimizes gamma sum_i L(y_i, f(x_i)) + |w|_p^p / p over f(x) = <w, Phi(x)>, with p = q / (q - 1).

    The order q of the kernel is even: 2 is ridge regression, 4 (p = 4/3) and 6 (p = 6/5) come close to the lasso, and
    few weights are large. With S = sum_j x_1j ... x_qj the kernels of q samples are S, S^degree and exp(S). The dual
    has one variable for each sample; w = J_q(Phi* a), J_q(u) = sign(u) |u|^(q - 1). The linear kernel only needs
    products with X, O(n d); the others store C(n + q - 1, q) numbers, which `fit` refuses if memory is too small. There
    is no intercept: center features and target, and scale features alike.

    Args:
        order: q, even, 2 to 16.
        kernel: "linear", "polynomial" or "exponential".
        degree: >= 1, for "polynomial".
        gamma: > 0, weight of the loss; larger values regularize less.
        loss: "square", "absolute", "epsilon_insensitive", "huber", and for targets -1 and 1 "hinge", "smooth_hinge" or
            "logistic"; or a `DualLoss`.
        n_subsample: number of samples, drawn at random (seed `random_state`), to train on; None for all.
        tol: largest duality gap, relative to the objective F0 at w = 0 if that is below 1; or 1e-15 F0 if that is more.
        max_iter: largest number of iterations of the solver.

    `dual_coef_` is a (n,) for the training samples, `subsample_` their indices, `coef_` is w (d,) of the linear kernel;
    `duality_gap_` bounds the distance of the objective from its minimum, after `n_iter_` iterations.
    """

    order: int = 4
    kernel: str = "linear"
    degree: int = 1
    gamma: float = 1.0
    loss: str | DualLoss = "square"
    n_subsample: int | None = None
    tol: float = 1e-8
    max_iter: int = 1000
    random_state: Seed = None

    @unchanged_after_errors
    def fit(self, X: ArrayLike, y: ArrayLike) -> "TensorKernelRegressor":
        """Learn from samples X (n, d) and targets y (n,).

        Warns ConvergenceWarning if `max_iter` or rounding ends the solver before `tol` is reached. Raises DataError,
        also if w = 0 may be better then; ParameterError, also if the tensor does not fit into memory.
        """
        self._check_settings()
        samples, columns, _ = read_training_data(self, X, y, order="C", multi_output=False, ensure_min_samples=2)
        targets = np.ascontiguousarray(columns[:, 0], dtype=np.float64)
        loss = find_loss(self.loss, targets)
        rows = np.arange(len(samples))
        if self.n_subsample is not None:
            m = integer("n_subsample", self.n_subsample, 1, len(samples), "the number of samples, ")
            rows = np.sort(sample_rows(self.random_state, len(samples), m))
        samples, targets = samples[rows], targets[rows]
        if (linear := LinearPenalty(samples, self.order) if self.kernel == "linear" else None) is None:
            tensor = SymmetricTensor(len(samples), self.order)
            tensor.fill(samples, np.ones(samples.shape[1]), self._function)
        penalty = TensorPenalty(tensor) if linear is None else linear
        at_zero = self.gamma * float(loss.value(targets, np.zeros_like(targets)).sum())
        goal = max(self.tol * min(1.0, at_zero), ROUNDING * at_zero)
        with np.errstate(over="ignore", invalid="ignore"):
            found = solve(penalty, loss, targets, float(self.gamma), goal, self.max_iter)
        if not found.gap <= goal:
            if not found.gap < at_zero:
                text = "kernel values overflow or lose all digits: scale X and y to near 1, or raise max_iter"
                raise DataError(text, name="X, y", bound="near 1")
            text = f"{found.n_iter} iterations ended at a duality gap of {found.gap:.1e}, tol asks for {goal:.1e}"
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        self.dual_coef_, self.subsample_, self._samples, self._fitted = found.a, rows, samples, clone(self)
        self.duality_gap_, self.n_iter_ = found.gap, max(1, found.n_iter)
        if linear is not None:
            self.coef_ = linear.weights(found.a)
        elif hasattr(self, "coef_"):
            del self.coef_
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict the targets (n,). Raises NotFittedError, DataError."""
        check_is_fitted(self, "dual_coef_")
        samples = read_samples(self, X)
        if hasattr(self, "coef_"):  # the kernel was linear
            return np.asarray(samples @ self.coef_)
        fitted = self._fitted
        tensor = SymmetricTensor(len(self._samples), fitted.order - 1)
        out = np.empty(len(samples))
        for i, sample in enumerate(samples):
            tensor.fill(self._samples, sample, fitted._function)
            out[i] = tensor.form(self.dual_coef_)
        return out

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return R^2, or the share of the signs predicted for a loss on signs. Raises NotFittedError, DataError."""
        check_is_fitted(self, "dual_coef_")
        if isinstance(find_loss(self._fitted.loss, np.ones(1)), MARGINS):
            return share_of_signs(self.predict(X), y, sample_weight)
        return float(super().score(X, y, sample_weight))

    @property
    def feature_importances_(self) -> Array:
        """(d,): |w_j| with the linear kernel, else the root mean square of df/dx_j over at most 50 training samples."""
        check_is_fitted(self, "dual_coef_")
        if hasattr(self, "coef_"):
            return np.abs(self.coef_)
        fitted, (n, d) = self._fitted, self._samples.shape
        tensor = SymmetricTensor(n, fitted.order - 1)
        chosen = np.unique(np.linspace(0, n - 1, min(n, MOST_GRADIENTS)).astype(np.intp))
        squares = np.zeros(d)
        for sample in self._samples[chosen]:
            tensor.fill(self._samples, sample, fitted._slope)
            # dS/dx_j is the product of the j-th coordinates of the other samples: a form in a_i x_ij.
            squares += [tensor.form(self.dual_coef_ * self._samples[:, j]) ** 2 for j in range(d)]
        return np.sqrt(squares / len(chosen))

    def selected_features(self, n_std: float = READ_OUT) -> NDArray[np.intp]:
        """Return the indices of features with |w_j| > n_std std(w); nonlinear kernels use importances."""
        threshold = real("n_std", n_std, 0.0)
        importances = self.feature_importances_
        return np.flatnonzero(importances > threshold * np.std(getattr(self, "coef_", importances)))

    def _check_settings(self) -> None:
        order = integer("order", self.order, 2)
        if order % 2 or order > 16:
            raise ParameterError("order", self.order, "an even number from 2 to 16")
        check_choice("kernel", self.kernel, ("linear", "polynomial", "exponential"))
        integer("degree", self.degree, 1)
        real("gamma", self.gamma, 0.0, low_open=True)
        real("tol", self.tol, 0.0)
        integer("max_iter", self.max_iter, 1)

    def _function(self, values: Array) -> None:
        with np.errstate(over="ignore"):
            if self.kernel == "exponential":
                np.exp(values, out=values)
            elif self.degree > 1:
                np.power(values, self.degree, out=values)

    def _slope(self, values: Array) -> None:
        if self.kernel == "exponential":
            np.exp(values, out=values)
        else:
            np.power(values, self.degree - 1, out=values)
            values *= self.degree
