"""Recursive regularized least squares: a Cholesky factor and its weights, updated at a cost that history does not change."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite, integer, real, rows
from icub_learning.errors import ParameterError, ShapeError, StateError
from icub_learning.recursive import _kernel, pooling
from icub_learning.recursive.storage import aligned_zeros, padded_size

LARGEST_VALUE = 1e100  # beyond it squares and their sums could overflow and take the learned factor with them
REGULARIZATION_RANGE = (1e-50, 1e50)
STATE_VERSION = 1


class RecursiveLeastSquares:
    """Least squares with T targets that share one regularized covariance, learned sample by sample.

    The weights W (d, T) minimize, over all samples seen so far,

        sum_i forgetting^(n - i) ||z_i W - y_i||^2  +  ||sqrt(Lambda) (W - W_0)||^2,    Lambda = diag(regularization)

    with no 1/n (thesis 8.2.3, eq. 8.12). A = Z^T Z + Lambda = R^T R is kept as its upper triangular factor R, to which
    each sample is rotated in by Givens rotations (8.2.4, eq. 8.14-8.15); W follows in the gain form
    W += A_new^-1 z^T (y - z W), which needs one right-hand side for any T: O(d^2 + d T) a sample.

    With forgetting < 1 the data fade but the regularization must not (a silent input would otherwise lose all
    precision): after each sample the prior of a few coordinates in turn is refilled to Lambda, so that no coordinate's
    prior ever falls below min(1/2, forgetting) of its Lambda. `prior` holds what it is at this moment.

    Args:
        n_features: d, length of a row z.
        n_outputs: T, number of targets.
        regularization: lambda > 0 in [1e-50, 1e50], one for all coordinates or (d,). Unit: that of z squared.
        forgetting: in (0, 1]; weight of a sample after each further one.
        initial_weights: W_0, (d, T) or None for zero: what the weights are before any sample and are drawn towards.

    Raises:
        ParameterError, ShapeError, NotFiniteError: an argument is outside its range.
    """

    def __init__(
        self,
        n_features: int,
        n_outputs: int,
        regularization: float | ArrayLike = 1.0,
        forgetting: float = 1.0,
        initial_weights: ArrayLike | None = None,
    ) -> None:
        self.n_features = integer("n_features", n_features, 1)
        self.n_outputs = integer("n_outputs", n_outputs, 1)
        self.forgetting = real("forgetting", forgetting, 0.0, 1.0, low_open=True)
        self.regularization = _check_regularization(regularization, self.n_features)
        self.n_samples = 0
        size, d = padded_size(self.n_features), self.n_features
        self._size = size
        self._factor = aligned_zeros((size, size))
        self._weights = aligned_zeros((self.n_outputs, size))
        self._rows = aligned_zeros((_kernel.MAX_RANK, size))
        self._gain = aligned_zeros((_kernel.MAX_RANK, size))
        self._targets = aligned_zeros((_kernel.MAX_RANK, self.n_outputs))
        self._row, self._single = self._rows[0, :d], np.zeros(self.n_outputs)
        self._padding = np.einsum("ii->i", self._factor)[d:]  # view: the identity rows below the last feature
        np.einsum("ii->i", self._factor)[:d] = np.sqrt(self.regularization)
        self._padding[:] = 1.0
        self._initial_weights = np.zeros((d, self.n_outputs))
        if initial_weights is not None:
            self._initial_weights[:] = _check_weights("initial_weights", initial_weights, d, self.n_outputs)
            self._weights[:, :d] = self._initial_weights.T
        self._prior = self.regularization.copy()
        self._next_refill = 0
        self._n_refill = min(d, int(np.ceil(d * np.log(self.forgetting) / np.log(0.5)))) if self.forgetting < 1 else 0

    @property
    def weights(self) -> Array:
        """The current solution W, (d, T); a copy."""
        return self._weights[:, : self.n_features].T.copy(order="C")

    @property
    def factor(self) -> Array:
        """Upper triangular R (d, d) with A = R^T R; a copy. Without forgetting A = Z^T Z + diag(regularization)."""
        return self._factor[: self.n_features, : self.n_features].copy()

    @property
    def prior(self) -> Array:
        """The regularization in force at this moment, (d,): equal to `regularization` unless samples are forgotten."""
        return self._prior.copy()

    def update(self, z: ArrayLike, y: ArrayLike, *, same_instant: bool = False) -> None:
        """Learn one sample or several: equal, up to rounding, to learning their rows one after the other.

        Args:
            z: (d,) or (k, d).
            y: (T,) or (k, T).
            same_instant: the k rows are parts of one sample (the axes of one sensor, say), so the past is forgotten
                once for all of them instead of once for each.

        Raises:
            ShapeError, NotFiniteError, ParameterError (a magnitude above 1e100); nothing is learned then.
        """
        z_rows, y_rows = self._check_samples(z, y)
        if self.forgetting == 1.0:
            for start in range(0, len(z_rows), _kernel.MAX_RANK):
                self._step(z_rows[start : start + _kernel.MAX_RANK], y_rows[start : start + _kernel.MAX_RANK], 1.0)
        elif same_instant:
            self._forgetful_step(z_rows, y_rows)
        else:
            for i in range(len(z_rows)):
                self._forgetful_step(z_rows[i : i + 1], y_rows[i : i + 1])
        self.n_samples += len(z_rows)

    def predict(self, z: ArrayLike) -> Array:
        """Predict z W: (d,) to (T,), (k, d) to (k, T). Raises ShapeError, NotFiniteError."""
        z_rows, single = rows("z", z, self.n_features)
        if not single:
            return z_rows @ self._weights[:, : self.n_features].T
        self._row[:] = z_rows[0]
        out = np.empty(self.n_outputs)
        _kernel.predict(self._weights, self._rows, out, self._size, self.n_outputs, 1)
        return out

    def leverage(self, z: ArrayLike) -> float | Array:
        """z^T A^-1 z, the predictive variance in units of the noise variance: (d,) to a float, (k, d) to (k,).

        Raises:
            ShapeError, NotFiniteError.
        """
        z_rows, single = rows("z", z, self.n_features)
        solved = aligned_zeros((len(z_rows), self._size))
        solved[:, : self.n_features] = z_rows
        _kernel.solve_forward(self._factor, solved, self._size, len(z_rows))
        leverages = np.einsum("ij,ij->i", solved, solved)
        return float(leverages[0]) if single else leverages

    def merge(self, other: "RecursiveLeastSquares") -> None:
        """Pool the samples of another learner exactly: as if this one had seen all of them, with its own prior.

        Where samples were forgotten, each learner's samples keep the weight they have at this moment. O(d^3), once.

        Raises:
            ParameterError: `other` is no RecursiveLeastSquares or has other sizes; nothing changes then.
        """
        if not isinstance(other, RecursiveLeastSquares):
            raise ParameterError("other", type(other).__name__, "a RecursiveLeastSquares")
        if (other.n_features, other.n_outputs) != (self.n_features, self.n_outputs):
            sizes = f"{self.n_features} features and {self.n_outputs} outputs, as this learner"
            raise ParameterError("other", (other.n_features, other.n_outputs), sizes)
        factor, weights = pooling.pool(
            (self.factor, self.weights), (other.factor, other.weights), other.prior, other._initial_weights
        )
        self._set(factor, weights)
        self.n_samples += other.n_samples

    def state(self) -> dict[str, Array]:
        """Everything that was learned, as a dict of arrays (no pickle needed); see `from_state`."""
        return {
            "version": np.asarray(STATE_VERSION),
            "regularization": self.regularization.copy(),
            "forgetting": np.asarray(self.forgetting),
            "factor": self.factor,
            "weights": self.weights,
            "initial_weights": self._initial_weights.copy(),
            "prior": self.prior,
            "next_refill": np.asarray(self._next_refill),
            "n_samples": np.asarray(self.n_samples),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "RecursiveLeastSquares":
        """Rebuild a learner from `state`. Raises StateError that names the entry which does not fit."""
        try:
            if int(state["version"]) != STATE_VERSION:
                raise StateError(f"state has version {state['version']}, this release reads {STATE_VERSION}")
            d, n_outputs = np.shape(state["weights"])
            learner = cls(d, n_outputs, state["regularization"], float(state["forgetting"]), state["initial_weights"])
            factor = finite("factor", state["factor"])
            if factor.shape != (d, d) or np.tril(factor, -1).any() or not (np.diag(factor) > 0).all():
                raise StateError(f"factor {factor.shape} is not upper triangular {(d, d)} with a positive diagonal")
            learner._set(factor, _check_weights("weights", state["weights"], d, n_outputs))
            learner._prior = _check_regularization(state["prior"], d)
            learner._next_refill = integer("next_refill", int(state["next_refill"]), 0) % d
            learner.n_samples = integer("n_samples", int(state["n_samples"]), 0)
        except StateError:
            raise
        except KeyError as error:
            raise StateError(f"state lacks the entry {error}", name=str(error)) from None
        except (TypeError, ValueError) as error:
            raise StateError(f"state does not describe a learner: {error}") from None
        return learner

    def _check_samples(self, z: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        z_rows, _ = rows("z", z, self.n_features)
        y_rows, _ = rows("y", y, self.n_outputs)
        if len(z_rows) != len(y_rows):
            raise ShapeError("y", np.shape(y), f"as many rows as z, {len(z_rows)}")
        for name, values in (("z", z_rows), ("y", y_rows)):
            flat = values.reshape(-1)
            if not flat.dot(flat) <= LARGEST_VALUE**2 and np.abs(values).max() > LARGEST_VALUE:
                raise ParameterError(name, float(np.abs(values).max()), f"of magnitude at most {LARGEST_VALUE:g}")
        return z_rows, y_rows

    def _step(self, z_rows: Array, y_rows: Array, root_forgetting: float) -> None:
        """Rotate at most MAX_RANK rows in; the buffers are the kernel's to destroy."""
        rank = len(z_rows)
        self._rows[:rank, : self.n_features] = z_rows
        self._targets[:rank] = y_rows
        _kernel.update(
            self._factor,
            self._weights,
            self._rows,
            self._targets,
            self._gain,
            self._size,
            self.n_outputs,
            rank,
            root_forgetting,
        )
        self._rows[:rank, self.n_features :] = 0.0
        if root_forgetting != 1.0:
            self._padding[:] = 1.0

    def _forgetful_step(self, z_rows: Array, y_rows: Array) -> None:
        """Let the past fade once, rotate the new rows in, and refill the prior of the next coordinates."""
        self._prior *= self.forgetting
        chosen = (self._next_refill + np.arange(self._n_refill)) % self.n_features
        self._next_refill = int((self._next_refill + self._n_refill) % self.n_features)
        # A refill is an observation "weight j equals its initial value", with the precision that has faded since.
        root = np.sqrt(self.regularization[chosen] - self._prior[chosen])
        pseudo_z = np.zeros((self._n_refill, self.n_features))
        pseudo_z[np.arange(self._n_refill), chosen] = root
        self._prior[chosen] = self.regularization[chosen]
        z_all = np.concatenate([z_rows, pseudo_z])
        y_all = np.concatenate([y_rows, root[:, None] * self._initial_weights[chosen]])
        root_forgetting = np.sqrt(self.forgetting)
        for start in range(0, len(z_all), _kernel.MAX_RANK):
            self._step(z_all[start : start + _kernel.MAX_RANK], y_all[start : start + _kernel.MAX_RANK], root_forgetting)
            root_forgetting = 1.0

    def _set(self, factor: Array, weights: Array) -> None:
        self._factor[: self.n_features, : self.n_features] = factor
        self._weights[:, : self.n_features] = weights.T


def _check_regularization(value: float | ArrayLike, n_features: int) -> Array:
    low, high = REGULARIZATION_RANGE
    values = finite("regularization", value)
    if np.shape(value) not in ((), (n_features,)):
        raise ShapeError("regularization", np.shape(value), f"a number or ({n_features},)")
    if values.min() < low or values.max() > high:
        worst = float(values.min() if values.min() < low else values.max())
        raise ParameterError("regularization", worst, f"in [{low:g}, {high:g}]")
    return np.broadcast_to(values, (n_features,)).copy()


def _check_weights(name: str, value: ArrayLike, n_features: int, n_outputs: int) -> Array:
    weights = finite(name, value)
    if weights.shape != (n_features, n_outputs):
        raise ShapeError(name, weights.shape, f"({n_features}, {n_outputs})")
    return weights
