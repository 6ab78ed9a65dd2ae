"""One step of POLK: a stochastic gradient in the kernel's space, cut back to fewer points, and the average of steps."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from icub_learning.arrays import Array, integer, real
from icub_learning.errors import DataError, ParameterError
from icub_learning.kernel_methods.kernels import Kernel, blocks, rows_per_block
from icub_learning.kernel_methods.online.dictionary import KernelDictionary

SCHEDULES = ("constant", "diminishing")
DECAY = 0.75  # eta_t = eta t^-DECAY: the sum of the steps is infinite, that of their squares finite
AVERAGING = 32  # steps that the average of a classifier reaches back by
DECAY_OF_AVERAGE = 3  # p: the average over t steps reaches back by (t + p) / (1 + p) of them, where that is less


class Polk(BaseEstimator):
    """Base of both estimators: one step is functional gradient descent and a projection onto fewer points.

    f <- (1 - eta lambda) f - (eta / B) sum_b l'(f(x_b), y_b) k(x_b, .), then destructive matching pursuit removes
    points as long as the norm of the change stays within epsilon (Koppel et al., POLK, Algorithms 1 and 2). With a
    constant step epsilon = K eta^(3/2), and the number of points is bounded for ever; with a diminishing one
    epsilon = eta_t^2, f converges, and the number of points may grow unless `max_dictionary` limits it.

    f learns and is never still: at a constant step its error jumps from step to step. What predicts is its average,
    average <- (1 - rho) average + rho f after each step, on the same points; of a point that is removed it keeps the
    projection onto the others, as f does. rho = 1 / averaging, but 4 / (t + 3) while that is more, which forgets the
    first steps (polynomial decay: Shamir and Zhang 2013); t counts anew when a class comes for the first time. With
    averaging = 1 f itself predicts.

    A subclass keeps the settings and defines `_read` and `_derivatives`.
    """

    kernel: Any
    length_scale: float
    degree: int
    regularization: float
    step_size: float
    parsimony: float
    loss: str
    schedule: str
    batch_size: int
    max_dictionary: int | None
    averaging: int | None
    losses: tuple[str, ...]
    n_samples_seen_: int
    n_steps_: int
    _n_averaged: int
    compression_error_: float
    _dictionary: KernelDictionary
    _learned: tuple[str, ...] = ("_dictionary", "n_samples_seen_", "n_steps_", "_n_averaged", "compression_error_")

    @property
    def dictionary_(self) -> Array:
        """(M, d), the points; M is the model order."""
        check_is_fitted(self, "_dictionary")
        return self._dictionary.points.copy()

    @property
    def coef_(self) -> Array:
        """(M, C), weights of the points in f, which learns; see `averaged_coef_`."""
        check_is_fitted(self, "_dictionary")
        return self._dictionary.weights.copy()

    @property
    def averaged_coef_(self) -> Array:
        """(M, C), weights of the points in the average of f, which predicts."""
        check_is_fitted(self, "_dictionary")
        return self._dictionary.averages.copy()

    @property
    def model_order_(self) -> int:
        """M, the number of points."""
        check_is_fitted(self, "_dictionary")
        return self._dictionary.n

    @property
    def error_bound_(self) -> float:
        """epsilon of the newest step: what cutting back may change f by, in the norm of the kernel's space.

        `compression_error_` is what it did change. It exceeds this bound only where `max_dictionary` left no choice.
        """
        check_is_fitted(self, "_dictionary")
        return self._step_and_budget(max(1, self.n_steps_))[1]

    @property
    def norm_(self) -> float:
        """The norm of f in the kernel's space."""
        check_is_fitted(self, "_dictionary")
        return self._dictionary.norm

    def limit_radius(self, gradient_variance: float) -> float:
        """How close to the best function a constant step comes: (sqrt(eta)/lambda)(K + sqrt(K^2 + lambda sigma^2)).

        Args:
            gradient_variance: sigma^2, bound of the variance of the stochastic gradient.

        Raises:
            ParameterError: it is negative, or a setting outside its range.
        """
        self._check_settings()
        variance = real("gradient_variance", gradient_variance, 0.0)
        weight = real("regularization", self.regularization, 0.0, low_open=True)
        root = np.sqrt(self.parsimony**2 + weight * variance)
        return float(np.sqrt(self.step_size) / weight * (self.parsimony + root))

    def _check_settings(self) -> Kernel:
        """Raise ParameterError for the first setting outside its range."""
        kernel = Kernel(self.kernel, self.length_scale, self.degree)
        weight = real("regularization", self.regularization, 0.0)
        step = real("step_size", self.step_size, 0.0, low_open=True)
        if step * weight >= 1.0:
            raise ParameterError("step_size", self.step_size, f"below 1 / regularization = {1.0 / weight:g}")
        real("parsimony", self.parsimony, 0.0)
        if self.loss not in self.losses:
            raise ParameterError("loss", self.loss, f"one of {', '.join(self.losses)}")
        if self.schedule not in SCHEDULES:
            raise ParameterError("schedule", self.schedule, f"one of {', '.join(SCHEDULES)}")
        integer("batch_size", self.batch_size, 1)
        if self.max_dictionary is not None:
            integer("max_dictionary", self.max_dictionary, 1)
        if self.averaging is not None:
            integer("averaging", self.averaging, 1)
        return kernel

    def _step_and_budget(self, t: int) -> tuple[float, float]:
        """eta and epsilon of step t = 1, 2, ..."""
        if self.schedule == "constant":
            return self.step_size, self.parsimony * self.step_size**1.5
        step = self.step_size * t**-DECAY
        return step, step**2

    def _averaging_rate(self, t: int) -> float:
        """rho of the average's step t = 1, 2, ..."""
        steps = self.averaging
        if steps is None:  # with nothing cut back it is functional gradient descent as it is
            steps = AVERAGING if self._step_and_budget(1)[1] or self.max_dictionary is not None else 1
        return max(1.0 / steps, (1 + DECAY_OF_AVERAGE) / (t + DECAY_OF_AVERAGE))

    def _start(self, n_inputs: int, n_outputs: int, kernel: Kernel) -> None:
        capacity = 16 if self.max_dictionary is None else self.max_dictionary + self.batch_size
        self._dictionary = KernelDictionary(kernel, n_inputs, n_outputs, min(capacity, 4096), averaged=True)
        self.n_samples_seen_ = 0
        self.n_steps_ = self._n_averaged = 0
        self.compression_error_ = 0.0

    def _learn(self, samples: Array, targets: NDArray[Any]) -> None:
        """Learn checked samples in their order, `batch_size` at a time; on an error the model is as it was."""
        before = {name: getattr(self, name) for name in self._learned}
        if len(samples) > self.batch_size:  # one batch changes nothing until it is known to be sound
            self._dictionary = self._dictionary.copy()
        try:
            for batch in blocks(len(samples), self.batch_size):
                self._learn_batch(samples[batch], targets[batch])
        except ParameterError:
            self.__dict__.update(before)
            raise

    def _learn_batch(self, x: Array, targets: NDArray[Any]) -> None:
        step, budget = self._step_and_budget(self.n_steps_ + 1)
        scores, cross = self._dictionary.values(x)
        derivatives = self._derivatives(scores, targets)
        self.compression_error_ = self._dictionary.step(
            x,
            (-step / len(x)) * derivatives,
            cross,
            shrink=1.0 - step * self.regularization,
            budget=budget,
            limit=self.max_dictionary,
            rate=self._averaging_rate(self._n_averaged + 1),
        )
        self.n_steps_ += 1
        self._n_averaged += 1
        self.n_samples_seen_ += len(x)

    def _plain(self, X: Any, y: Any) -> bool:
        """Whether samples and targets need no conversion: in a stream of small batches checks would cost the most."""
        return (
            type(X) is type(y) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and len(X) == len(y) > 0
            and X.shape[1] == self.n_features_in_
            and bool(np.isfinite(X).all())
        )

    def _derivatives(self, scores: Array, targets: NDArray[Any]) -> Array:
        raise NotImplementedError

    def _scores(self, X: ArrayLike) -> Array:
        """The average of f (n, C), by blocks of rows."""
        check_is_fitted(self, "_dictionary")
        try:
            samples = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        except ValueError as error:
            raise DataError(str(error), name="X", bound=f"finite numbers, (n, {self.n_features_in_})") from error
        out = np.zeros((len(samples), self._dictionary.n_outputs))
        if self._dictionary.n:
            against = self._dictionary.kernel.against(self._dictionary.points)
            for rows in blocks(len(samples), rows_per_block(self._dictionary.n)):
                np.matmul(against(samples[rows]), self._dictionary.averages, out=out[rows])
        return out
