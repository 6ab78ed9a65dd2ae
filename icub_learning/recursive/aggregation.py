"""On-line aggregation: a convex combination of predictors whose weights follow their recent errors."""

import numpy as np

from icub_learning.arrays import Array, integer
from icub_learning.errors import ShapeError
from icub_learning.models.declared import ANY, NOT_NEGATIVE, Declared, entries
from icub_learning.recursive import _aggregation


class ConvexAggregation(Declared):
    """Weights (N, m) with which N experts are combined, for each of m outputs on its own.

    Bernstein online aggregation (Wintenberger, "Optimal learning with Bernstein online aggregation", 2017), with
    learning rates of each expert's own (Gaillard, Stoltz, van Erven, "A second-order bound with excess losses", 2014)
    and with a past that fades. The combination predicts f = sum_i w_i f_i; its loss is its squared error, averaged over
    the times at which the experts are judged. Expert i is told its linearized regret

        r_i = mean of 2 (f - y) (f - f_i),        which is at least (f - y)^2 - (f_i - y)^2 on average,

    and so for every convex combination u of experts: loss(f) - loss(sum_i u_i f_i) <= sum_i u_i r_i. With the factor
    b <= 1 by which the past fades at a step, and s the largest number in (0, 1] such that s |r_i| <= M_i for all i,

        M_i <- max(b^0.9 M_i, |r_i|),   V_i <- b V_i + (s r_i)^2,   eta_i = min(1 / (2 M_i), sqrt(ln N / V_i)),
        x_i <- b (eta_i new / eta_i old) (x_i + eta_i s r_i - (eta_i s r_i)^2),    w_i proportional to eta_i exp(x_i).

    An expert whose faded loss is more than 25 times the best one's sleeps: it has no weight and r_i = 0, so that its
    wild errors do not blur the choice among the others. With b <= B < 1, after every step, for every i (over the
    samples at which it was awake), and whatever the sequence (proof: docs/theory/joint_model.md):

        sum_t  b_T ... b_t  s_t r_it  <=  ln(N / (1 - B^0.1)) / eta_i  +  sum_t  b_T ... b_t  eta_it (s_t r_it)^2.

    Args:
        n_experts: N.
        n_outputs: m.

    Raises:
        ParameterError: an argument is no positive integer.
    """

    STATE = entries(weights=NOT_NEGATIVE, exponents=ANY, scales=NOT_NEGATIVE, squares=NOT_NEGATIVE, losses=NOT_NEGATIVE)

    def __init__(self, n_experts: int, n_outputs: int) -> None:
        self.n_experts = integer("n_experts", n_experts, 1)
        self.n_outputs = integer("n_outputs", n_outputs, 1)
        shape = (self.n_experts, self.n_outputs)
        self.weights = np.full(shape, 1.0 / self.n_experts)
        self._exponents, self._scales, self._squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self._losses = np.zeros(shape)  # squared errors, fading

    @property
    def tables(self) -> tuple[Array, ...]:
        """The arrays (N, m) that a step changes, for compiled functions."""
        return self.weights, self._exponents, self._scales, self._squares, self._losses

    @property
    def rates(self) -> Array:
        """Learning rates eta (N, m), inverse units of a squared error; infinite before the first error."""
        with np.errstate(divide="ignore"):
            result: Array = np.minimum(0.5 / self._scales, np.sqrt(np.log(max(self.n_experts, 2)) / self._squares))
            return result

    def update(self, errors: Array, fade: float = 1.0) -> None:
        """Learn from errors (k, N, m), predicted minus measured, of predictions made at k ages.

        Args:
            errors: finite; see above.
            fade: b in (0, 1], by which all earlier samples lose weight.

        Raises:
            ShapeError: the errors do not fit; nothing changes then.
        """
        if errors.ndim != 3 or errors.shape[1:] != self.weights.shape:
            raise ShapeError("errors", errors.shape, f"(k, {self.n_experts}, {self.n_outputs})")
        _aggregation.learn(self.tables, np.ascontiguousarray(errors, dtype=np.float64), fade)
