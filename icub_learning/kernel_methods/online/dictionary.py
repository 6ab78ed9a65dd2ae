"""Functions on a dictionary of kernel functions that is cut back to what matters: destructive matching pursuit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning.arrays import Array, finite, integer, real, rows
from icub_learning.errors import ParameterError, ShapeError, StateError
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.online import _pursuit

DEPENDENT = 1e-12  # squared distance to the span of the others, relative to k(x, x), at which a function is in the span
DRIFT = 1e-7  # relative error of the factor's solutions at which it is built anew
LARGEST = 1e100  # kernel values and weights beyond it could overflow where they are squared


class KernelDictionary:
    """f = sum_m k(points[m], .) weights[m] with C outputs, whose inverse Gram matrix is kept as a factor.

    `step` takes new points in and removes points again, one at a time, always the one whose removal (with the others'
    weights refitted) changes f least, as long as the whole change stays within a bound in the norm of the kernel's
    space. A removal costs O(M^2 + M C); nothing depends on how many points have been seen.

    An average of f over the steps may be kept on the same points, with weights of its own. It has no say in which
    points go. Of one that goes it keeps the projection onto the others, as f does: coefficients of that projection
    depend on the points alone.

    Args:
        kernel: of all functions.
        n_inputs: length of a point.
        n_outputs: C.
        capacity: room that is taken at once; more is taken when needed.
        averaged: whether the average is kept.
    """

    def __init__(
        self, kernel: Kernel, n_inputs: int, n_outputs: int, capacity: int = 16, *, averaged: bool = False
    ) -> None:
        self.kernel = kernel
        self.n, self.n_outputs = 0, n_outputs
        self._averaged = averaged
        self._room(capacity, n_inputs)

    def _room(self, capacity: int, n_inputs: int) -> None:
        self._points = np.zeros((capacity, n_inputs))
        self._weights = np.zeros((capacity, self._n_columns))  # of f, then those of the average
        self._tags = np.zeros(capacity, dtype=np.int64)
        self._gram = np.zeros((capacity, capacity))
        self._factor = np.zeros((capacity, capacity))
        self._work = np.zeros(5 * capacity)
        self._solved = True  # whether `_gram` and `_factor` are those of the points

    @property
    def points(self) -> Array:
        """(M, n_inputs), a view."""
        return self._points[: self.n]

    @property
    def weights(self) -> Array:
        """(M, C), a view."""
        return self._weights[: self.n, : self.n_outputs]

    @property
    def averages(self) -> Array:
        """(M, C) weights of the average of f over the steps, those of f itself where none is kept; a view."""
        return self._weights[: self.n, self._n_columns - self.n_outputs :]

    @property
    def tags(self) -> NDArray[np.int64]:
        """(M,) what `step` was told of the points, a view."""
        return self._tags[: self.n]

    @property
    def gram(self) -> Array:
        """(M, M) kernel of the points with each other, a view; only where cutting back needed it."""
        return self._gram[: self.n, : self.n]

    @property
    def factor(self) -> Array:
        """(M, M) T with T T^T the inverse of `gram`, a view; only where cutting back needed it."""
        return self._factor[: self.n, : self.n]

    @property
    def _n_columns(self) -> int:
        return 2 * self.n_outputs if self._averaged else self.n_outputs

    @property
    def norm(self) -> float:
        """The norm of f in the kernel's space."""
        gram = self._gram[: self.n, : self.n] if self._solved else self.kernel.gram(self.points)
        return float(np.sqrt(max(0.0, np.einsum("ij,ij->", self.weights, gram @ self.weights))))

    def values(self, x: Array) -> tuple[Array, Array]:
        """f at new points x (B, n_inputs), (B, C), and the kernel (B, M + B) with the dictionary and among them.

        Raises:
            ParameterError: a kernel value is not finite or beyond 1e100.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            cross = self.kernel(x, np.concatenate([self.points, x]))
        low, high = cross.min(), cross.max()
        if not (low >= -LARGEST and high <= LARGEST):
            worst = float(high if not high <= LARGEST else low)
            raise ParameterError("k(X, X')", worst, f"of magnitude at most {LARGEST:g}: scale the inputs")
        return cross[:, : self.n] @ self.weights, cross

    def step(
        self,
        x: Array,
        added: Array,
        cross: Array,
        *,
        shrink: float = 1.0,
        budget: float = 0.0,
        limit: int | None = None,
        tags: ArrayLike = 0,
        rate: float = 1.0,
    ) -> float:
        """f becomes shrink f + sum_b k(x_b, .) added_b, cut back within `budget`; its average moves towards it.

        Args:
            x: (B, n_inputs) points; rows whose weights are all zero change nothing.
            added: (B, C) their weights.
            cross: (B, M + B) from `values`.
            shrink: factor of the weights.
            budget: largest norm of the change by cutting back; 0 only drops what is no change at all.
            limit: most points that may stay, whatever that costs; None for no limit.
            tags: (B,) integers that stay with their points.
            rate: in (0, 1], of the average: average <- (1 - rate) average + rate f.

        Returns:
            The norm of what f lost by cutting back: at most `budget`, but for a limit that does not allow it.

        Raises:
            ParameterError: weights are not finite or beyond 1e100; nothing changes then.
        """
        if not np.abs(added).max(initial=0.0) <= LARGEST:
            raise ParameterError("weights", float(np.abs(added).max()), f"of magnitude at most {LARGEST:g}")
        marks = np.broadcast_to(np.asarray(tags, dtype=np.int64), len(x))
        used = np.flatnonzero(added.any(axis=1))
        before, count = self.n, len(used)
        if not budget and limit is None:
            self._keep_all(x[used], added[used], shrink, marks[used])
            self._average(rate)
            return 0.0
        if not self._solved:
            self._solve()
        self._make_room(before + count)
        if shrink != 1.0:
            f = self.weights
            f *= shrink
        if count != len(x):
            x, added, cross = x[used], added[used], cross[:, np.concatenate([np.arange(before), before + used])][used]
            marks = marks[used]
        lost = self._extend(x, self._columns(added), np.ascontiguousarray(cross), marks) if count else 0.0
        limit = self.n if limit is None else limit
        # Nested projections add up by Pythagoras; what the span took in is lost apart from them.
        lost += self._prune(max(0.0, budget - lost), limit)
        self._average(rate)
        return lost

    def add_outputs(self, n_outputs: int) -> None:
        """Give f more outputs, which are zero."""
        before, had, averaged = self._weights, self.n_outputs, self._averaged
        self.n_outputs = n_outputs
        self._weights = np.zeros((len(before), self._n_columns))
        self._weights[:, :had] = before[:, :had]
        if averaged:
            self._weights[:, n_outputs : n_outputs + had] = before[:, had:]

    def keep_outputs(self, kept: list[int]) -> None:
        """Drop the other outputs of f."""
        columns = [*kept, *(self.n_outputs + k for k in kept)] if self._averaged else kept
        self._weights, self.n_outputs = np.ascontiguousarray(self._weights[:, columns]), len(kept)

    def copy(self) -> "KernelDictionary":
        """One of its own."""
        return KernelDictionary.from_state(self.state(), self.kernel)

    def state(self) -> dict[str, Array]:
        """All of it but the kernel, as a dict of arrays; "averages" only where they are kept. See `from_state`."""
        state = {
            "n": np.asarray(self.n),
            "solved": np.asarray(self._solved),
            "points": self._points.copy(),
            "weights": self._weights[:, : self.n_outputs].copy(),
            "tags": self._tags.copy(),
            "gram": self._gram.copy(),
            "factor": self._factor.copy(),
        }
        if self._averaged:
            state["averages"] = self._weights[:, self.n_outputs :].copy()
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any], kernel: Kernel) -> "KernelDictionary":
        """Rebuild from `state`. Raises StateError, KeyError, ShapeError, NotFiniteError."""
        points, weights = finite("points", state["points"]), finite("weights", state["weights"])
        averaged = "averages" in state
        gram, factor = finite("gram", state["gram"]), finite("factor", state["factor"])
        n, capacity = integer("n", int(np.asarray(state["n"]).item()), 0), len(points)
        solved = bool(np.asarray(state["solved"]).item())
        square = (capacity, capacity) if solved else (0, 0)
        tags = finite("tags", state["tags"])
        shapes = (points.ndim, weights.ndim, len(weights), tags.shape, gram.shape, factor.shape)
        if shapes != (2, 2, capacity, (capacity,), square, square) or not n <= capacity:
            raise StateError(f"points {points.shape}, weights {weights.shape}, gram {gram.shape} do not fit together")
        dictionary = cls(kernel, points.shape[1], weights.shape[1], capacity if solved else 0, averaged=averaged)
        dictionary.n, dictionary._solved = n, solved
        dictionary._points, dictionary._weights = points.copy(), weights.copy()
        if averaged:
            averages = finite("averages", state["averages"])
            if averages.shape != weights.shape:
                raise StateError(f"averages {averages.shape} and weights {weights.shape} do not fit together")
            dictionary._weights = np.concatenate([weights, averages], axis=1)
        dictionary._gram, dictionary._factor = gram.copy(), factor.copy()
        dictionary._tags = tags.astype(np.int64)
        return dictionary

    def _make_room(self, n: int) -> None:
        capacity = len(self._points)
        if n <= capacity:
            return
        points, weights, tags = self._points, self._weights, self._tags
        gram, factor = self._gram, self._factor
        self._room(max(n, 2 * capacity), points.shape[1])
        self._points[:capacity], self._weights[:capacity], self._tags[:capacity] = points, weights, tags
        self._gram[:capacity, :capacity], self._factor[:capacity, :capacity] = gram, factor

    def _keep_all(self, x: Array, added: Array, shrink: float, marks: NDArray[np.int64]) -> None:
        """Without a bound there is nothing to compare: points and weights are all that is kept."""
        before, self.n = self.n, self.n + len(x)
        if self._solved:
            self._gram = self._factor = np.zeros((0, 0))
            self._solved = False
        if self.n > len(self._points):
            for name in ("_points", "_weights", "_tags"):
                array = getattr(self, name)
                room = np.zeros((2 * self.n, *array.shape[1:]), dtype=array.dtype)
                room[:before] = array[:before]
                setattr(self, name, room)
        f = self._weights[:before, : self.n_outputs]
        f *= shrink
        self._points[before : self.n], self._weights[before : self.n] = x, self._columns(added)
        self._tags[before : self.n] = marks

    def _solve(self) -> None:
        """Gram matrix and factor of points that were kept without."""
        points, weights, tags = self.points.copy(), self._weights[: self.n].copy(), self.tags.copy()
        self._room(len(self._points), points.shape[1])
        self.n = 0
        self._extend(points, weights, self.kernel.gram(points), tags)

    def _columns(self, added: Array) -> Array:
        """Weights of new points, of f and of the average, in which they are new."""
        if not self._averaged:
            return np.ascontiguousarray(added)
        columns = np.zeros((len(added), 2 * self.n_outputs))
        columns[:, : self.n_outputs] = added
        return columns

    def _average(self, rate: float) -> None:
        if self._averaged:
            weights = self._weights[: self.n]
            f, averages = weights[:, : self.n_outputs], weights[:, self.n_outputs :]
            if rate == 1.0:
                averages[:] = f  # without rounding
            else:
                change = f - averages
                change *= rate
                averages += change

    def _extend(self, x: Array, added: Array, cross: Array, marks: NDArray[np.int64]) -> float:
        """Take points in, those that depend on others by weights of the others; the norm of what that loses."""
        accepted = np.empty(len(x))
        before = self.n
        self.n, lost, drift = _pursuit.extend(
            self._gram, self._factor, self._weights, cross, added, accepted, self._work,
            len(self._points), before, self._n_columns, self.n_outputs, len(x), DEPENDENT,
        )  # fmt: skip
        self._points[before : self.n] = x[accepted > 0]
        self._tags[before : self.n] = marks[accepted > 0]
        return lost if drift <= DRIFT else lost + self._rebuild()

    def _rebuild(self) -> float:
        """Compute the factor anew, point by point; the norm of what is lost by those that depend on earlier ones."""
        n, points, weights, tags = self.n, self.points.copy(), self._weights[: self.n].copy(), self.tags.copy()
        gram = self._gram[:n, :n].copy()
        accepted = np.empty(n)
        self.n, lost, _ = _pursuit.extend(
            self._gram, self._factor, self._weights, gram, weights, accepted, self._work,
            len(self._points), 0, self._n_columns, self.n_outputs, n, DEPENDENT,
        )  # fmt: skip
        self._points[: self.n], self._tags[: self.n] = points[accepted > 0], tags[accepted > 0]
        return lost

    def _prune(self, budget: float, limit: int) -> float:
        before = self.n
        order, weights = np.arange(float(before)), self._weights[:before].copy()
        self.n, lost = _pursuit.prune(
            self._gram,
            self._factor,
            self._weights,
            order,
            self._work,
            len(self._points),
            before,
            self._n_columns,
            self.n_outputs,
            budget**2,
            limit,
        )
        n = self.n
        if n == before:
            return 0.0
        places = order.astype(np.intp)
        self._points[:before], self._tags[:before] = self._points[places], self._tags[places]
        # The best weights solve K_II w = K_I w_before; the updates have them up to rounding, and one refinement more.
        kept, factor, lacking = self._weights[:n], self._factor[:n, :n], weights[places]
        lacking[:n] -= kept
        kept += factor @ (factor.T @ (self._gram[:n, :before] @ lacking))
        return float(np.sqrt(lost))


def matching_pursuit(
    kernel: Kernel, points: ArrayLike, weights: ArrayLike, budget: float, limit: int | None = None
) -> tuple[NDArray[np.intp], Array, float]:
    """Cut f = sum_m k(points[m], .) weights[m] back to fewer points (destructive, with pre-fitting).

    Args:
        kernel: of all functions.
        points: (M, d).
        weights: (M,) or (M, C).
        budget: largest norm of the change, >= 0.
        limit: most points that may stay, whatever that costs.

    Returns:
        Indices (m,) of the points that stay, in order; their refitted weights, (m,) or (m, C); the norm of the change.

    Raises:
        ShapeError, NotFiniteError, ParameterError.
    """
    given = finite("points", points)
    if given.ndim != 2 or not given.size:
        raise ShapeError("points", given.shape, "(M, d) with M >= 1")
    budget = real("budget", budget, 0.0)
    limit = None if limit is None else integer("limit", limit, 0)
    values = finite("weights", weights)
    if values.ndim not in (1, 2) or len(values) != len(given):
        raise ShapeError("weights", values.shape, f"({len(given)},) or ({len(given)}, C)")
    columns, _ = rows("weights", values.reshape(len(given), -1), values.size // len(given))
    dictionary = KernelDictionary(kernel, given.shape[1] + 1, columns.shape[1], len(given))
    # A further coordinate carries the index; the kernel does not see it.
    _, cross = KernelDictionary(kernel, given.shape[1], columns.shape[1]).values(given)
    numbered = np.column_stack([given, np.arange(len(given))])
    lost = dictionary.step(numbered, columns, cross, budget=budget, limit=limit)
    kept = dictionary.points[:, -1].astype(np.intp)
    order = np.argsort(kept)
    fitted = dictionary.weights[order]
    return kept[order], fitted[:, 0] if values.ndim == 1 else fitted, lost
