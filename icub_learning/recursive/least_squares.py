"""Recursive regularized least squares: a Cholesky factor and weights, updated at a fixed cost per sample."""

from collections.abc import Mapping, Sequence
from math import ceil, inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_solve

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.errors import ParameterError, ShapeError, StateError
from icub_learning.models import check_version, reading_state
from icub_learning.recursive import _cholesky, pooling
from icub_learning.recursive.checks import LARGEST_VALUE, LEAST_FORGETTING, check_regularization, finite_rows
from icub_learning.recursive.covariance import Certainty
from icub_learning.recursive.storage import (
    aligned_zeros,
    pack_factor,
    padded_size,
    pivot_positions,
    read_factor,
    unpack_factor,
)

STATE_VERSION = 1  # version of the saved state


class RecursiveLeastSquares:
    """Least squares for T targets that share one regularized covariance, learned sample by sample.

    The weights W (d, T) minimize, over all samples seen so far,

        sum_i forgetting^(n - i) ||z_i W - y_i||^2  +  ||sqrt(Lambda) (W - W_0)||^2,    Lambda = diag(regularization)

    without the factor 1/n (thesis 8.2.3, eq. 8.12). A = Z^T Z + Lambda = R^T R is kept as R = D^(1/2) U with U unit
    upper triangular. Square-root-free Givens rotations add each sample (8.2.4, eq. 8.14-8.15), and the weights follow
    in the gain form W += A_new^-1 z^T (y - z W): O(d^2 + d T).

    With forgetting < 1 the data fade but not the regularization: what is left of it, the `prior`, is refilled to Lambda
    for one coordinate after the other, and is nowhere below half of Lambda after a sample, unless `fade` takes from it
    too. A sample then costs as much as d ln(forgetting) / ln(1/2) further rows, on average: see
    docs/theory/recursive_least_squares.md.

    Args:
        n_features: d, length of a row z.
        n_outputs: T, number of targets.
        regularization: lambda > 0 in [1e-50, 1e50], one for all coordinates or (d,). Unit: that of z squared.
        forgetting: in [1e-30, 1]; factor on the weight of all past samples at each new one.
        initial_weights: W_0, (d, T), the weights before any sample, towards which they are regularized; None for zero.

    Raises:
        ParameterError, ShapeError, NotFiniteError: an argument is outside its range.
    """

    def __init__(
        self, n_features: int, n_outputs: int, regularization: float | ArrayLike = 1.0, forgetting: float = 1.0,
        initial_weights: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self.n_features = integer("n_features", n_features, 1)
        self.n_outputs = integer("n_outputs", n_outputs, 1)
        self.regularization = check_regularization(regularization, self.n_features)
        self.n_samples = 0
        size, d = padded_size(self.n_features), self.n_features
        self._size = size
        self._sizes = size, d, self.n_outputs  # in the order in which the compiled functions take them
        # (T, d padded to whole tiles), the current solution followed by zeros; it changes with the next update.
        self.padded_weights = aligned_zeros(self.n_outputs, size)
        self._work = aligned_zeros(_cholesky.MAX_RANK * (2 * size + self.n_outputs))  # work space of `update`
        self._triangle = pack_factor(np.eye(d), self.regularization)
        self._initial_weights: Array = np.zeros((d, self.n_outputs))
        if initial_weights is not None:
            self._initial_weights[:] = _check_weights("initial_weights", initial_weights, d, self.n_outputs)
            self.padded_weights[:, :d] = self._initial_weights.T
        self._prior = self.regularization.copy()
        self._turn = 0.0  # position in the cycle of refills: the coordinates before it have been refilled
        self._forgetting, self._fading = 1.0, 0.0
        self.forgetting = forgetting

    @property
    def forgetting(self) -> float:
        """Factor on the weight of all past samples at each new one; can be set at any time. Raises ParameterError."""
        return self._forgetting

    @forgetting.setter
    def forgetting(self, value: float) -> None:
        if value == self._forgetting:
            return
        self._forgetting = real("forgetting", value, LEAST_FORGETTING, 1.0)
        # Coordinates to refill with each sample, on average.
        self._fading = self.n_features * log(self._forgetting) / log(0.5) if self._forgetting < 1.0 else 0.0

    @property
    def weights(self) -> Array:
        """The current solution W, (d, T), as a copy."""
        return np.array(self.padded_weights[:, : self.n_features].T, order="C")

    @property
    def live_weights(self) -> Array:
        """The current solution, (T, d): a read-only view, which changes with the next update."""
        view: Array = self.padded_weights[:, : self.n_features]
        view.flags.writeable = False
        return view

    @property
    def memory(self) -> tuple[Array, ...]:
        """The arrays that an update changes or reads, for compiled functions that take further steps with it."""
        own = self._triangle, self.padded_weights, self._work, self._prior
        return *own, self.regularization, self._initial_weights

    def ahead(self, n_samples: int = 1) -> tuple[tuple[Array, ...], int, int, float]:
        """Count samples that compiled code learns; return memory, first coordinate to refill, how many, forgetting."""
        self.n_samples += n_samples
        return self.memory, *self._next_refill(), self._forgetting

    def _next_refill(self) -> tuple[int, int]:
        if not self._fading:
            return 0, 0
        first, last = ceil(self._turn), ceil(self._turn + min(self._fading, self.n_features))
        self._turn = (self._turn + self._fading) % self.n_features
        return first, last - first

    @property
    def factor(self) -> Array:
        """Upper triangular R (d, d) with A = R^T R, as a copy; without forgetting A = Z^T Z + diag(regularization)."""
        unit, pivots = unpack_factor(self._triangle, self.n_features)
        return np.sqrt(pivots)[:, None] * unit

    @property
    def initial_weights(self) -> Array:
        """The weights (d, T) towards which those learned are regularized, as a copy."""
        return np.array(self._initial_weights)

    @property
    def prior(self) -> Array:
        """The present regularization, (d,): equal to `regularization` unless samples are forgotten."""
        return np.array(self._prior)

    def update(self, z: ArrayLike, y: ArrayLike, *, same_instant: bool = False) -> None:
        """Learn one sample or several: equal, up to rounding, to learning their rows one after the other.

        Args:
            z, y: (d,) and (T,), or (k, d) and (k, T).
            same_instant: the k rows belong to one sample (e.g. the axes of one sensor), so the past fades once.

        Raises:
            ShapeError, NotFiniteError, ParameterError (a magnitude above 1e100); nothing is learned then.
        """
        if self.forgetting == 1.0:
            # The usual case: checked and learned by one call, since further calls would cost more than the arithmetic.
            learned = _cholesky.update(
                self._triangle, self.padded_weights, self._work, None, z, y,
                self._size, self.n_features, self.n_outputs, 1.0, LARGEST_VALUE,
            )  # fmt: skip
            if learned is not None:
                self.n_samples += learned
                return
        z_rows, y_rows = self._rows(z, y)
        if self.forgetting == 1.0:
            self.update(z_rows, y_rows)  # converted, so that the compiled update takes them
            return
        step = max(len(z_rows), 1) if same_instant else 1
        for i in range(0, len(z_rows), step):
            self._take(*self._with_refill(z_rows[i : i + step], y_rows[i : i + step]), self.forgetting)
        self.n_samples += len(z_rows)

    def _rows(self, z: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Return one sample or several, checked, as rows (k, d) and (k, T)."""
        z_rows = finite_rows("z", z, self.n_features, LARGEST_VALUE).reshape(-1, self.n_features)
        y_rows = finite_rows("y", y, self.n_outputs, LARGEST_VALUE).reshape(-1, self.n_outputs)
        if len(z_rows) != len(y_rows):
            raise ShapeError("y", np.shape(y), f"as many rows as z, {len(z_rows)}")
        return z_rows, y_rows

    def absorb(self, z: Array, y: Array) -> Array:
        """Learn one sample z (d,), y (T,) as `update` does; return its recursive residuals.

        A recursive residual (Brown, Durbin and Evans, "Techniques for testing the constancy of regression relationships
        over time", 1975) is the error of the prediction made before learning, over sqrt(1 + leverage). With forgetting,
        each refill of the prior counts as a further sample: a weight observed at its initial value. Returns (k, T), the
        sample's own residuals first. Raises what `update` does.
        """
        z_rows, y_rows = self._rows(z, y)
        if len(z_rows) != 1:
            raise ShapeError("z", np.shape(z), "one sample")
        z_rows, y_rows = self._with_refill(z_rows, y_rows)
        left = np.empty_like(y_rows)
        self._take(z_rows, y_rows, self.forgetting, left)
        self.n_samples += 1
        return left

    def observe(
        self, rows: Array, y: Array, weights: Array, order: NDArray[np.intp], count: int = 1
    ) -> tuple[Array, Array, Array]:
        """Learn the rows of one sample of one target; return the errors and leverages that they had before.

        Args:
            rows, y, weights: (k, d), (k,) and (k,), weights of the rows and their targets.
            order: (d,) indices of the columns of `rows`, as they are learned.
            count: how many samples this one stands for.

        Returns:
            Errors (k,), measured minus predicted, and leverages (k,) of the weighted rows before any was learned; and
            squared errors over 1 + leverage (k,), which estimate the noise variance.

        Raises:
            ShapeError, NotFiniteError, ParameterError (a magnitude above 1e100); nothing is learned then.
        """
        rows = finite_rows("rows", rows, self.n_features, LARGEST_VALUE)
        y = finite_rows("y", y, len(rows), LARGEST_VALUE)
        errors, leverages, estimates = np.empty((3, len(rows)))
        learner = self.ahead(len(rows))
        _cholesky.observe(learner, errors, leverages, estimates, rows, y, weights, order, sqrt(count))
        return errors, leverages, estimates

    def fade(self, count: int, factor: float) -> None:
        """Let information on the first `count` weights, given all others, fade by `factor`: those weights may drift.

        Only the rows of R that hold the first coordinates are multiplied: discounting by components (West and
        Harrison, "Bayesian Forecasting and Dynamic Models", 1997, 6.3). The weights, and the information on the others
        whatever the first ones are, stay. The prior of the coordinates fades too, and is refilled when half of it is
        gone. Raises ParameterError (`count` not in 0 to n_features, `factor` not in [1e-30, 1]); nothing changes.
        """
        count = integer("count", count, 0, self.n_features)
        factor = real("factor", factor, LEAST_FORGETTING, 1.0)
        if not (count and factor < 1.0):
            return
        self._triangle[pivot_positions(self.n_features, count)] *= factor
        self._prior[:count] *= factor
        faded = self._prior[:count] < 0.5 * self.regularization[:count]
        if faded.any():
            self._take(*self._refill_rows(np.flatnonzero(faded).tolist()), 1.0)

    def shift(self, change: ArrayLike) -> None:
        """Become the learner that would result if every sample z had a target larger by z @ change, (d, T).

        The weights that the prior pulls to are shifted too. Raises ShapeError, NotFiniteError; nothing changes then.
        """
        step = _check_weights("change", change, self.n_features, self.n_outputs)
        self._initial_weights += step
        self.padded_weights[:, : self.n_features] += step.T

    def predict(self, z: ArrayLike) -> Array:
        """Predict z W: (d,) to (T,), (k, d) to (k, T). Raises ShapeError, NotFiniteError."""
        out = _cholesky.predict(self.padded_weights, z, self._size, self.n_features, self.n_outputs)
        if out is not None:
            return out
        z_rows = finite_rows("z", z, self.n_features)
        if z_rows.ndim == 2 and len(z_rows) > _cholesky.MAX_RANK:
            predicted: Array = z_rows @ self.padded_weights[:, : self.n_features].T
            return predicted
        return self.predict(z_rows)

    def leverage(self, z: ArrayLike) -> float | Array:
        """Return z^T A^-1 z, the predictive variance over the noise variance; see Certainty."""
        return Certainty(self._triangle, self.n_features).leverage(z)

    def certainty(self) -> Certainty:
        """Return the present leverages, which later learning does not change."""
        return Certainty(self._triangle.copy(), self.n_features)

    def merge(self, other: "RecursiveLeastSquares", common: "RecursiveLeastSquares | None" = None) -> pooling.Pooled:
        """Add the samples of another learner, as if this one had seen them all; its own prior stays. O(d^3).

        Where samples were forgotten, each learner's samples keep their present weight. Returns the pooled result, for a
        second learner that learns this one's residuals.

        Args:
            other: the other learner.
            common: a learner of exactly those samples that both have seen, which then count once; None: there are none.

        Raises:
            ParameterError: one of them is no RecursiveLeastSquares or has other sizes, or `other` has forgotten some of
                the common samples; nothing changes then.
        """
        sizes = self.n_features, self.n_outputs
        for name, one in (("other", other), ("common", common or other)):
            if not isinstance(one, RecursiveLeastSquares):
                raise ParameterError(name, type(one).__name__, "a RecursiveLeastSquares")
            if (one.n_features, one.n_outputs) != sizes:
                bound = "{} features and {} outputs, as this learner".format(*sizes)
                raise ParameterError(name, (one.n_features, one.n_outputs), bound)
        if common is None:
            start, known = (np.diag(np.sqrt(other.prior)), other._initial_weights), 0
        else:
            start, known = (common.factor, common.weights), common.n_samples
        pooled = pooling.pool((self.factor, self.weights), (other.factor, other.weights), start)
        self._replace(pooled.factor, pooled.weights)
        self.n_samples += other.n_samples - known
        return pooled

    def withdraw(self, z: Array, y: Array) -> None:
        """Become as if samples z (k, d), y (k, T), or rows equivalent to some, had never been learned. O(k d^2 + d^3).
        `n_samples` stays. Raises what `update` does, and ParameterError: they are more than was learned and the prior;
        nothing changes then."""
        z_rows, y_rows = self._rows(z, y)
        before = self.factor
        factor, weights = pooling.drop_rows(before, z_rows), self.weights
        for _ in range(2):  # the second pass removes the rounding of the first
            gradient = before.T @ (before @ (self.weights - weights)) - z_rows.T @ (y_rows - z_rows @ weights)
            weights = weights + cho_solve((factor, False), gradient)
        self._replace(factor, weights)

    def _replace(self, factor: Array, weights: Array) -> None:
        diagonal = np.diag(factor)
        self._triangle = pack_factor(factor / diagonal[:, None], diagonal**2)
        self.padded_weights[:, : self.n_features] = weights.T

    def state(self) -> dict[str, Array]:
        """Return all that was learned as a dict of arrays, which need no pickle; see `from_state`."""
        unit, pivots = unpack_factor(self._triangle, self.n_features)
        return {
            "version": np.asarray(STATE_VERSION), "regularization": self.regularization.copy(),
            "forgetting": np.asarray(self.forgetting), "unit_factor": unit, "pivots": pivots, "weights": self.weights,
            "initial_weights": self._initial_weights.copy(), "prior": self.prior,
            "next_refill": np.asarray(self._turn), "n_samples": np.asarray(self.n_samples),
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, Array]) -> "RecursiveLeastSquares":
        """Rebuild a learner from `state`. Raises StateError that names the entry which does not fit."""
        with reading_state("a learner"):
            check_version(state, STATE_VERSION)
            d, n_outputs = np.shape(state["weights"])
            learner = cls(d, n_outputs, state["regularization"], float(state["forgetting"]), state["initial_weights"])
            learner._triangle = read_factor(state, d)
            learner.padded_weights[:, :d] = _check_weights("weights", state["weights"], d, n_outputs).T
            learner._prior = check_regularization(state["prior"], d, "prior")
            if (learner._prior > learner.regularization).any():
                raise StateError("prior exceeds the regularization", name="prior")
            learner._turn = real("next_refill", float(state["next_refill"]), 0.0, inf) % d
            learner.n_samples = integer("n_samples", int(state["n_samples"]), 0)
        return learner

    def _with_refill(self, z: Array, y: Array) -> tuple[Array, Array]:
        """Let the prior fade with one sample; return its rows and those that refill the prior."""
        if not self._fading:
            return z, y
        self._prior *= self._forgetting
        first, due = self._next_refill()
        if not due:
            return z, y
        refill = self._refill_rows([place % self.n_features for place in range(first, first + due)])
        return np.concatenate([z, refill[0]]), np.concatenate([y, refill[1]])

    def _take(self, z: Array, y: Array, forgetting: float, left: Array | None = None) -> None:
        _cholesky.update(self._triangle, self.padded_weights, self._work, left, z, y, *self._sizes, forgetting, inf)

    def _refill_rows(self, places: Sequence[int]) -> tuple[Array, Array]:
        """Refill the prior of coordinates to the regularization; return the rows that do so."""
        # A refill is the observation that weight j equals its initial value, with the precision that has faded since.
        z, y = np.zeros((len(places), self.n_features)), np.empty((len(places), self.n_outputs))
        for row, place in enumerate(places):
            root = sqrt(self.regularization[place] - self._prior[place])
            self._prior[place] = self.regularization[place]
            z[row, place] = root
            np.multiply(root, self._initial_weights[place], out=y[row])
        return z, y


def _check_weights(name: str, value: ArrayLike, n_features: int, n_outputs: int) -> Array:
    weights = finite(name, value)
    if weights.shape != (n_features, n_outputs):
        raise ShapeError(name, weights.shape, f"({n_features}, {n_outputs})")
    return weights
