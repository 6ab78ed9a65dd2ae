"""POLK as a nonparametric learner of inverse dynamics: a dictionary that grows only where motions are new."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite, integer, real, vector
from icub_learning.dynamics.estimators.warm_up import WarmUp
from icub_learning.errors import ParameterError, StateError
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.online.dictionary import KernelDictionary, compression_budget
from icub_learning.models import nested, part, reading_state, scalar

REGULARIZATION = 1e-6  # of the functional gradient steps; it only keeps the norm finite on an endless stream
PASSES = 3  # over the other learner's dictionary in `merge`


@dataclass(frozen=True)
class KernelRow:
    """Map from an input (n_inputs,) to its kernel values (M,) at the points (M, n_inputs) of one moment."""

    kernel: Kernel
    points: Array
    mean: Array
    scale: Array

    def __call__(self, x: Array) -> Array:
        """Return the row at x (n_inputs,). Raises ParameterError for inputs so large that distances overflow."""
        values: Array = self.kernel(((x - self.mean) / self.scale)[None], self.points)[0]
        return values


@dataclass(frozen=True)
class Novelty:
    """Leverage of a kernel row: the variance of a Gaussian process at the points, over the noise variance."""

    factor: Array  # (M, M), T of K^-1 = T T^T
    regularization: float

    def leverage(self, z: Array) -> float:
        """Return (1 - z^T K^-1 z) / lambda for a row z (M,): 0 at the points, 1 / lambda far from all."""
        return float(max(0.0, 1.0 - np.sum((z @ self.factor) ** 2)) / self.regularization)


class PolkLearner:
    """Learns any smooth function of its inputs, sample by sample, with at most `max_dictionary` points.

    Functional gradient steps of the square loss, each followed by pruning of the dictionary
    (see icub_learning.kernel_methods.online.polk). The limit bounds time and memory of a step. Unlike recursive least
    squares on features it forgets by itself; but a step corrects one sample, where least squares solve for all.

    Args:
        minimum_scale, n_outputs, length_scale, n_warm_up: see RandomFeatureLearner. The warm-up sets the scale of the
            targets, too.
        regularization: lambda > 0, noise variance over the variance of the function; used for leverages only.
        step_size: eta in (0, 1], fraction by which a step reduces the error of its sample.
        parsimony: K >= 0; larger values keep fewer points.
        max_dictionary: largest number of points.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        minimum_scale: Array,
        n_outputs: int,
        *,
        length_scale: float,
        regularization: float,
        n_warm_up: int,
        step_size: float,
        parsimony: float,
        max_dictionary: int,
    ) -> None:
        self.n_inputs, self.n_outputs = len(minimum_scale), n_outputs
        self._warm_up = WarmUp(minimum_scale, n_warm_up)
        self._squares = np.zeros(n_outputs)  # sum over the targets of the warm-up
        self._target_scale = np.ones(n_outputs)
        self._regularization = real("regularization", regularization, 0.0, low_open=True)
        self._step_size = real("step_size", step_size, 0.0, 1.0, low_open=True)
        self._parsimony = real("parsimony", parsimony, 0.0)
        self._limit = integer("max_dictionary", max_dictionary, 1)
        kernel = Kernel("gaussian", length_scale)
        self._dictionary = KernelDictionary(kernel, self.n_inputs, n_outputs, self._limit + 1)

    @property
    def ready(self) -> bool:
        """Whether the scale of inputs and targets is set, so that it learns and predicts."""
        return self._warm_up.done

    @property
    def row(self) -> KernelRow | None:
        """The map from an input to its kernel values at the present points; None while there are none."""
        if not self.ready or not self._dictionary.n:
            return None
        kept = self._dictionary
        return KernelRow(kept.kernel, kept.points.copy(), self._warm_up.mean, self._warm_up.scale)

    @property
    def live_weights(self) -> Array:
        """(n_outputs, M), weights of the present points."""
        return np.ascontiguousarray(self._dictionary.weights.T) * self._target_scale[:, None]

    def leverage(self, z: Array) -> float:
        """Return the leverage of a row (M,), see Novelty."""
        return Novelty(self._dictionary.factor, self._regularization).leverage(z)

    def certainty(self) -> Novelty:
        """Return present leverages, which later updates do not change."""
        return Novelty(self._dictionary.factor.copy(), self._regularization)

    def update(self, x: Array, y: Array) -> None:
        """Learn one sample: x (n_inputs,), y (n_outputs,). Raises ParameterError (too large); unchanged then."""
        if self.ready:
            self._learn(self._warm_up(x), y / self._target_scale)
            return
        with np.errstate(over="ignore"):
            squares = self._squares + y**2
        if not np.isfinite(squares).all():
            raise ParameterError("y", float(np.abs(y).max()), "small enough for a finite square")
        if self._warm_up.add(x):
            self._squares = squares
        if self.ready:
            size = np.sqrt(self._squares / self._warm_up.n_samples)
            self._target_scale = np.where(size > 0, size, 1.0)

    def merge(self, other: "PolkLearner", common: "PolkLearner | None" = None) -> None:
        """Learn the points of another learner as samples, with its predictions as targets.

        Raises:
            ParameterError: scales differ, or both share samples (`common`), which cannot be taken out of a dictionary;
                nothing changes then.
        """
        if common is not None:
            raise ParameterError("other", "a learner with samples in common", "one without, for polk")
        if not isinstance(other, PolkLearner):
            raise ParameterError("other", type(other).__name__, "a PolkLearner")
        self._warm_up.check_same(other._warm_up)
        kept = other._dictionary
        targets = kept.gram @ kept.weights * (other._target_scale / self._target_scale)
        points = kept.points.copy()
        for _ in range(PASSES):
            for point, target in zip(points, targets, strict=True):
                self._learn(point, target)

    def set_scale(self, mean: ArrayLike, scale: ArrayLike) -> None:
        """Set mean and scale of the inputs (n_inputs,), so that no warm-up is needed."""
        self._warm_up.set_scale(mean, scale)

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `from_state`."""
        return {
            "kind": np.asarray("polk"),
            "length_scale": np.asarray(self._dictionary.kernel.length_scale),
            "regularization": np.asarray(self._regularization),
            "step_size": np.asarray(self._step_size),
            "parsimony": np.asarray(self._parsimony),
            "max_dictionary": np.asarray(self._limit),
            "squares": self._squares.copy(),
            "target_scale": self._target_scale.copy(),
            **self._warm_up.state(),
            **nested("dictionary", self._dictionary.state()),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "PolkLearner":
        """Rebuild from `state`. Raises StateError."""
        with reading_state("a POLK learner"):
            warm_up, squares = WarmUp.from_state(state), finite("squares", state["squares"])
            learner = cls(
                warm_up.minimum_scale,
                squares.size,
                length_scale=float(scalar(state, "length_scale")),
                regularization=scalar(state, "regularization"),
                n_warm_up=warm_up.n_samples,
                step_size=scalar(state, "step_size"),
                parsimony=scalar(state, "parsimony"),
                max_dictionary=scalar(state, "max_dictionary"),
            )
            learner._warm_up = warm_up
            learner._squares = vector("squares", squares, learner.n_outputs).copy()
            learner._target_scale = vector("target_scale", state["target_scale"], learner.n_outputs).copy()
            kernel = learner._dictionary.kernel
            dictionary = KernelDictionary.from_state(part(state, "dictionary"), kernel)
            if (dictionary.points.shape[1], dictionary.n_outputs) != (learner.n_inputs, learner.n_outputs):
                raise StateError("the dictionary does not fit inputs and outputs", name="dictionary")
            learner._dictionary = dictionary
        return learner

    def _learn(self, x: Array, y: Array) -> None:
        """One step, on inputs and targets in the scale of the warm-up."""
        predicted, cross = self._dictionary.values(x[None])
        self._dictionary.step(
            x[None],
            self._step_size * (y - predicted),
            cross,
            shrink=1.0 - self._step_size * REGULARIZATION,
            budget=compression_budget(self._parsimony, self._step_size),
            limit=self._limit,
        )
