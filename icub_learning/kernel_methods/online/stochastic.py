"""Stochastic and incremental gradient methods with kernels: passes, losses, mini-batches, averaging."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from icub_learning.arrays import Array, integer, real
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.kernel_methods.estimator import KernelRegressor, check_choice, check_signs, share_of_signs
from icub_learning.kernel_methods.kernels import Kernel, KernelAgainst, blocks, check_seed, rows_per_block
from icub_learning.kernel_methods.online.losses import ScalarLoss, scalar_losses
from icub_learning.kernel_methods.spectral.iterative import check_iterations


@dataclass(kw_only=True, eq=False, repr=False)
class StochasticKernelMachine(KernelRegressor):
    """w_{t+1} = w_t - (eta_t / b) sum_{j in batch t} l'(y_j, <w_t, Phi(x_j)>) Phi(x_j), w_1 = 0, eta_t = eta t^-theta.

    One pass over the samples is the stochastic gradient method (SGM), whose step size regularizes; several passes are
    the stochastic incremental one (SIGM), whose number regularizes: `predict_path` predicts after each (thesis 6.2). A
    step costs n b kernel values. Rates of n^(-1/2) follow from (batch_size, step_size, steps) = (1, n^(-1/2), n),
    (n^(1/2), 1, n^(1/2)) and (n, 1, n^(1/2)): "auto" extends these step sizes to any batch size.

    Losses: "square" (half the square, so that l' = a - y), "absolute", "epsilon_insensitive", and for targets -1 and +1
    "hinge", "exponential", "logistic"; `OneVsAllClassifier` makes such targets from labels.

    Args:
        kernel, length_scale, degree: see `Kernel`. `regularization` is unused: step size and passes regularize.
        loss: one of the losses above.
        epsilon: half the width in which "epsilon_insensitive" is zero.
        max_iter: largest number of passes over the samples.
        step_size: eta > 0, one for all targets or one for each: copies of a target, each with its own step size, share
            the rows of the kernel matrix. Or "auto": min(1, b n^(-1/2)) / max k(x, x). With a smooth loss
            eta < 2 / (L max k(x, x)), L the largest second derivative of the loss: 1 for "square", 1/4 for "logistic".
        decay: theta in [0, 1], one or one for each target; with 1, the solution stays oversmoothed (thesis 6.4.1).
        batch_size: b <= n.
        order: "reshuffled" (a new permutation each pass), "cyclic" (as they come) or "iid" (drawn with replacement).
        average: whether the solution is sum_t eta_t w_t / sum_t eta_t instead of the last w.
        tol: passes end once the coefficients change by at most tol of their norm in a pass.

    `centers_` are the training samples, `n_iter_` the passes done, and `step_size_` is eta, (T,) if it was given.
    """

    loss: str = "square"
    epsilon: float = 0.1
    max_iter: int = 20
    step_size: float | Sequence[float] | str = "auto"
    decay: float | Sequence[float] = 0.0
    batch_size: int = 1
    order: str = "reshuffled"
    average: bool = False
    tol: float = 0.0

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        max_iter, tol = check_iterations(self.max_iter, self.tol)
        losses = scalar_losses(real("epsilon", self.epsilon, 0.0))
        check_choice("loss", self.loss, tuple(losses))
        loss = losses[self.loss]
        if loss.margin:
            check_signs(targets, self.loss)
        n = len(samples)
        decay = _one_or_each("decay", self.decay, targets.shape[1], high=1.0)
        batch = integer("batch_size", self.batch_size, 1, n, "the number of samples, ")
        check_choice("order", self.order, ("reshuffled", "cyclic", "iid"))
        self._set_step(loss, float(kernel.diagonal(samples).max()), targets, batch)
        random = check_seed(self.random_state)
        against, last = kernel.against(samples), np.zeros_like(targets)
        # The average sum_t eta_t w_t / S_t, S_t = sum eta, needs no pass over all coefficients in each step: the change
        # of step s counts in all later ones, so the average is w - early / S_t with early = sum_s (change of s) S_s.
        early = np.zeros_like(targets)
        total: Array = np.zeros(1)
        step = 0
        path: list[Array] = []
        for _ in range(max_iter):
            before = last.copy()
            for indices, values in self._batches(n, batch, random, against, samples):
                step += 1
                eta = self.step_size_ * step**-decay
                total = total + eta
                with np.errstate(over="ignore", invalid="ignore"):
                    change = (-eta / len(indices)) * loss.slope(targets[indices], values @ last)
                np.add.at(last, indices, change)
                np.add.at(early, indices, total * change)
            if not np.isfinite(last).all():
                bound = f"smaller: with the {self.loss} loss the iteration diverges"
                raise ParameterError("step_size", self.step_size_, bound)
            path.append(last - early / total if self.average else last.copy())
            if np.linalg.norm(last - before) <= tol * np.linalg.norm(last):
                break
        self.centers_ = samples
        self._set_path(path)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return R^2, or the share of the signs predicted for a loss on signs. Raises NotFittedError, DataError."""
        if scalar_losses(self.epsilon)[self.loss].margin:
            return share_of_signs(self.predict(X), y, sample_weight)
        return float(super().score(X, y, sample_weight))

    def _batches(
        self, n: int, batch: int, random: RandomState, against: KernelAgainst, samples: Array
    ) -> Iterator[tuple[NDArray[np.int64], Array]]:
        """Yield the indices of each batch of a pass with their rows of the kernel matrix, computed many at a time."""
        if self.order == "cyclic":
            indices = np.arange(n)
        else:
            indices = random.randint(n, size=n) if self.order == "iid" else random.permutation(n)
        group = max(1, rows_per_block(n) // batch) * batch
        for some in blocks(n, group):
            rows = against(samples[indices[some]])
            for part in blocks(len(rows), batch):
                yield indices[some][part], rows[part]

    def _set_step(self, loss: ScalarLoss, largest: float, targets: Array, batch: int) -> None:
        n, n_targets = targets.shape
        if isinstance(self.step_size, str):
            if self.step_size != "auto":
                raise ParameterError("step_size", self.step_size, "'auto' or a positive number")
            self.step_size_ = min(1.0, batch / np.sqrt(n)) / (largest or 1.0)  # 0: any step does
            return
        self.step_size_ = _one_or_each("step_size", self.step_size, n_targets, low_open=True)
        if loss.curvature is not None and np.max(self.step_size_) * loss.curvature * largest >= 2.0:
            most = 2.0 / (loss.curvature * largest)
            bound = f"below 2 / (L max k(x, x)) = {most:.6g}, from where the iteration diverges"
            raise ParameterError("step_size", self.step_size_, bound)


def _one_or_each(name: str, value: Any, n_targets: int, **bounds: Any) -> Array:
    """Return a number >= 0 for each target, (T,), from one for all or for each. Raises ParameterError, ShapeError."""
    if np.ndim(value) > 0 and np.shape(value) != (n_targets,):
        raise ShapeError(name, np.shape(value), f"a number or ({n_targets},), one for each target")
    return np.array([real(name, one, 0.0, **bounds) for one in ([value] * n_targets if np.ndim(value) == 0 else value)])
