"""On-line aggregation of predictors by their recent errors, in two layers: memories weigh the experts, a second layer
weighs the memories."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icub_learning.arrays import Array, integer, real
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.models.declared import ANY, NOT_NEGATIVE, Declared, entries
from icub_learning.recursive import _aggregation

CAP = 30.0  # largest squared error that is counted, in multiples of the usual one
USUAL_HALF_LIFE = 10.0  # [s] half-life of the weight of squared errors in the usual one


class ConvexAggregation(Declared):
    """Weights (N, m) with which N experts are combined, for each of m outputs on its own.

    Bernstein online aggregation (Wintenberger, "Optimal learning with Bernstein online aggregation", 2017), with a
    learning rate for each expert (Gaillard, Stoltz, van Erven, "A second-order bound with excess losses", 2014) and
    with a past that fades. The combination predicts f = sum_i w_i f_i; its loss is its squared error, averaged over the
    times at which the experts are judged. Expert i gets its linearized regret

        r_i = mean of 2 (f - y) (f - f_i),        which is at least (f - y)^2 - (f_i - y)^2 on average,

    and so for every convex combination u of experts: loss(f) - loss(sum_i u_i f_i) <= sum_i u_i r_i. With the factor
    b <= 1 by which the past fades at a step, and s the largest number in (0, 1] such that s |r_i| <= M_i for all i,

        M_i <- max(b^0.9 M_i, |r_i|),   V_i <- b V_i + (s r_i)^2,   eta_i = min(1 / (2 M_i), sqrt(ln N / V_i)),
        x_i <- b (eta_i new / eta_i old) (x_i + eta_i s r_i - (eta_i s r_i)^2),    w_i proportional to eta_i exp(x_i).

    An expert whose faded loss is more than 25 times the best one's sleeps: it has no weight and r_i = 0, so that its
    wild errors do not blur the choice among the others. M_i and V_i stay as they are meanwhile: it wakes up with its
    earlier learning rate. With b <= B < 1, after every step, for every i (over the samples at which it was awake), and
    whatever the sequence (proof: docs/theory/joint_model.md):

        sum_t  b_T ... b_t  s_t r_it  <=  ln(N / (1 - B^0.1)) / eta_i  +  sum_t  b_T ... b_t  eta_it (s_t r_it)^2.

    The step itself is compiled (`_aggregation.c`); this class holds the arrays that it changes.
    """

    STATE = entries(weights=NOT_NEGATIVE, exponents=ANY, scales=NOT_NEGATIVE, squares=NOT_NEGATIVE, losses=NOT_NEGATIVE)

    def __init__(self, n_experts: int, n_outputs: int) -> None:
        shape = integer("n_experts", n_experts, 1), integer("n_outputs", n_outputs, 1)
        self.weights = np.full(shape, 1.0 / n_experts)
        self._exponents, self._scales, self._squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self._losses = np.zeros(shape)  # fading sums of squared errors

    @property
    def tables(self) -> tuple[Array, ...]:
        """The arrays (N, m) that a step changes, for compiled functions."""
        return self.weights, self._exponents, self._scales, self._squares, self._losses


class LayeredAggregation(Declared):
    """Weights (N, m) of N experts for each of m outputs, without a choice of how fast the past should fade.

    The first layer holds one ConvexAggregation for each of several half-lives. The second layer, a ConvexAggregation
    too, weighs their combinations and a few experts that take part as they are, the direct ones. It judges each
    combination by its weights at the age at which its experts are judged: weights just fitted to errors that are
    correlated over some tenths of a second look better than they will be.

    If the squared error of the published combination exceeds CAP times the usual one, as just after a change of task,
    one factor scales all errors of the sample down to CAP times the usual one: otherwise the learning rates, which
    follow the largest recent regret, would freeze both layers for a minute. The usual one is a fading mean of such
    capped squares, with a half-life of USUAL_HALF_LIFE.

    The bound of ConvexAggregation holds for both layers, on the capped errors: for the second one with its few rivals
    in place of N experts, for each memory, with its half-life, against all experts and their convex combinations.

    Args:
        n_experts, n_outputs: N and m.
        half_lives, second_half_life: half-lives of the first layer and of the second one [s], each above 0.
        direct: indices of the experts that take part in the second layer.

    Attributes:
        choices: weights of the published combination, then of each memory, (1 + n_half_lives, N, m); never overwritten.

    Raises:
        ParameterError: an argument is outside its range.
    """

    STATE = entries(usual=NOT_NEGATIVE, samples=NOT_NEGATIVE)
    PARTS = ("memories", "second")

    def __init__(
        self, n_experts: int, n_outputs: int, half_lives: Sequence[float], second_half_life: float,
        direct: Sequence[int] = (),
    ) -> None:  # fmt: skip
        if not half_lives:
            raise ParameterError("half_lives", tuple(half_lives), "at least one")
        self.half_lives = tuple(real("half_lives", value, 0.0, low_open=True) for value in half_lives)
        self.second_half_life = real("second_half_life", second_half_life, 0.0, low_open=True)
        # All memories in one, side by side as if they were further outputs.
        self._memories = ConvexAggregation(n_experts, len(self.half_lives) * n_outputs)
        self.direct = tuple(integer("direct", index, 0) for index in direct)
        if max(self.direct, default=0) >= n_experts:
            raise ParameterError("direct", max(self.direct), f"indices of {n_experts} experts")
        self._second = ConvexAggregation(len(self.half_lives) + len(self.direct), n_outputs)
        self._places = np.array(self.direct, dtype=np.intp)
        self._usual = np.zeros(n_outputs)  # usual squared error
        self._samples = 0.0  # fading number of samples in the mean of the usual squared error
        self._of_layers = np.array([*self.half_lives, self.second_half_life])
        self._longest = 1 + int(np.argmax(self.half_lives))
        self.choices = np.empty((len(self._of_layers), n_experts, n_outputs))
        self._choose()

    @property
    def weights(self) -> Array:
        """Weights of the experts in the published combination, (N, m); each column sums to 1."""
        return np.asarray(self.choices[0])

    @property
    def slowest(self) -> Array:
        """Weights of the experts in the memory with the longest half-life, (N, m)."""
        return np.asarray(self.choices[self._longest])

    def update(self, errors: Array, combined: Array, elapsed: float) -> None:
        """Learn from errors, predicted minus measured, of predictions made at k ages.

        Args:
            errors: (k, N, m), errors of the experts.
            combined: (k, 1 + n_half_lives, m), errors of the published combination and of the memories: `errors`
                weighted by `choices` as it was at each age.
            elapsed: time since the last errors [s].

        Raises:
            ShapeError: the arrays do not fit; nothing changes then.
        """
        n_experts, n_outputs = self.choices.shape[1:]
        if errors.ndim != 3 or errors.shape[1:] != (n_experts, n_outputs):
            raise ShapeError("errors", errors.shape, f"(k, {n_experts}, {n_outputs})")
        expected = (len(errors), len(self.choices), n_outputs)
        if combined.shape != expected:
            raise ShapeError("combined", combined.shape, str(expected))
        self._samples = 1.0 + 0.5 ** (elapsed / USUAL_HALF_LIFE) * self._samples
        self._choose(elapsed, *(np.ascontiguousarray(one, dtype=np.float64) for one in (errors, combined)))

    def _choose(self, elapsed: float = 0.0, *learned: Array) -> None:
        """Learn from errors and combined errors, if there are any, and make new choices."""
        errors, combined = learned or (np.zeros(0), np.zeros(0))
        choices = np.empty_like(self.choices)  # another thread may read the others meanwhile
        layers = self._memories.tables, self._second.tables, errors, combined, self._of_layers, self._places
        _aggregation.learn_layers(choices, self._usual, *layers, elapsed, CAP, self._samples)
        self.choices = choices

    def restored(self, state: Mapping[str, Any]) -> "LayeredAggregation":
        """Return an aggregation of the same sizes and half-lives with what `state` saved. Raises StateError."""
        made = super().restored(state)
        made._choose()
        return made
