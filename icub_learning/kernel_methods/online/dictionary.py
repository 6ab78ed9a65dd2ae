"""Functions on a dictionary of kernel functions, cut back to few points by destructive matching pursuit."""

from copy import deepcopy

import numpy as np
from scipy.linalg.lapack import dpstrf

from icub_learning.arrays import Array
from icub_learning.kernel_methods.kernels import Kernel, check_size
from icub_learning.kernel_methods.online import _pursuit

# Squared distance to the span of the others, over k(x, x), up to which a function counts as in it. With 1e-12 rounding
# spoiled the factor in 32 of 125 batches of 32 points on a line, with this in 2; it is then recomputed.
DEPENDENT = 1e-10
DRIFT = 1e-7  # relative error of the factor's solutions above which it is recomputed


class KernelDictionary:
    """f = sum_m k(points[m], .) weights[m] with C outputs, with a factor of the inverse Gram matrix.

    `step` adds new points and then removes points, one at a time, always the one whose removal (with the others'
    weights refitted) changes f least, as long as the whole change stays within a bound in the norm of the kernel's
    space. A removal costs O(M^2 + M C), however many points have been seen.

    If `averaged`, an average of f over the steps is kept on the same points, with its own weights. Like f, it keeps the
    projection of a removed point onto the others; it does not influence which points are removed.
    """

    def __init__(
        self, kernel: Kernel, n_inputs: int, n_outputs: int, capacity: int = 16, *, averaged: bool = False
    ) -> None:
        self.kernel = kernel
        self.n, self.n_outputs = 0, n_outputs
        self._averaged = averaged
        self._allocate(capacity, n_inputs)

    def _allocate(self, capacity: int, n_inputs: int, factorized: bool = True) -> None:
        side = capacity if factorized else 0
        self._points = np.zeros((capacity, n_inputs))
        self._weights = np.zeros((capacity, self._n_columns))  # columns: weights of f, then those of its average
        self._gram, self._factor = np.zeros((side, side)), np.zeros((side, side))
        self._work = np.zeros(5 * side)
        self._factorized = factorized  # whether `_gram` and `_factor` are up to date

    @property
    def points(self) -> Array:
        """(M, n_inputs) points, a view."""
        return self._points[: self.n]

    @property
    def weights(self) -> Array:
        """(M, C) weights of f, a view."""
        return self._weights[: self.n, : self.n_outputs]

    @property
    def averages(self) -> Array:
        """(M, C) weights of the average of f over the steps, or of f itself if no average is kept; a view."""
        return self._weights[: self.n, self._n_columns - self.n_outputs :]

    @property
    def _n_columns(self) -> int:
        return 2 * self.n_outputs if self._averaged else self.n_outputs

    @property
    def norm(self) -> float:
        """Norm of f in the kernel's space."""
        gram = self._gram[: self.n, : self.n] if self._factorized else self.kernel.gram(self.points)
        return float(np.sqrt(max(0.0, np.einsum("ij,ij->", self.weights, gram @ self.weights))))

    def values(self, x: Array) -> tuple[Array, Array]:
        """Return f (B, C) at points x (B, n_inputs), and their kernel (B, M + B) with the points and each other."""
        cross = self.kernel(x, np.concatenate([self.points, x]))
        return cross[:, : self.n] @ self.weights, cross

    def step(
        self, x: Array, added: Array, cross: Array, *, shrink: float = 1.0, budget: float = 0.0,
        limit: int | None = None, rate: float = 1.0,
    ) -> float:  # fmt: skip
        """Set f to shrink f + sum_b k(x_b, .) added_b with points x (B, n_inputs), added (B, C), cross (B, M + B) from
        `values`; remove points, changing f by a norm of at most `budget`, or until `limit` are left, which takes
        precedence; average <- (1 - rate) average + rate f. Return the norm of the change by removing points.

        Raises ParameterError, and nothing changes: weights are not finite or beyond 1e100.
        """
        check_size(added, "weights", "")
        used = np.flatnonzero(added.any(axis=1))
        before, count = self.n, len(used)
        keeps_all = not budget and limit is None  # which needs no Gram matrix
        if keeps_all and self._factorized:
            self._gram, self._factor, self._factorized = np.zeros((0, 0)), np.zeros((0, 0)), False
        self._reserve(before + count)
        self._weights[:before, : self.n_outputs] *= shrink
        if keeps_all:
            self.n = before + count
            self._points[before : self.n], self._weights[before : self.n] = x[used], self._columns(added[used])
            self._average(rate)
            return 0.0
        if count != len(x):
            x, added, cross = x[used], added[used], cross[:, np.concatenate([np.arange(before), before + used])][used]
        lost = self._extend(x, self._columns(added), cross, before) if count or not self._factorized else 0.0
        limit = self.n if limit is None else limit
        # Losses of nested projections add up by Pythagoras, but not with the loss from points already in the span.
        lost += self._prune(max(0.0, budget - lost), limit)
        self._average(rate)
        return lost

    def add_outputs(self, n_outputs: int) -> None:
        """Extend f to `n_outputs` outputs; the new ones are zero."""
        before, had, averaged = self._weights, self.n_outputs, self._averaged
        self.n_outputs = n_outputs
        self._weights = np.zeros((len(before), self._n_columns))
        self._weights[:, :had] = before[:, :had]
        if averaged:
            self._weights[:, n_outputs : n_outputs + had] = before[:, had:]

    def copy(self) -> "KernelDictionary":
        """Return an independent copy."""
        return deepcopy(self, {id(self.kernel): self.kernel})

    def _reserve(self, n: int) -> None:
        capacity = len(self._points)
        if n <= capacity:
            return
        before = self._points, self._weights, self._gram, self._factor
        self._allocate(max(n, 2 * capacity), self._points.shape[1], self._factorized)
        after = self._points, self._weights, self._gram, self._factor
        for old, new in zip(before, after, strict=True):
            new[tuple(map(slice, old.shape))] = old

    def _columns(self, added: Array) -> Array:
        """Return the weights of new points: `added` in f, zero in the average."""
        columns = np.zeros((len(added), self._n_columns))
        columns[:, : self.n_outputs] = added
        return columns

    def _average(self, rate: float) -> None:
        if self._averaged:
            weights = self._weights[: self.n]
            f, averages = weights[:, : self.n_outputs], weights[:, self.n_outputs :]
            averages[:] = f if rate == 1.0 else averages + rate * (f - averages)  # 1.0: without rounding

    def _extend(self, x: Array, added: Array, cross: Array, before: int) -> float:
        """Append new points to the first `before`, or move weights of dependent ones to others; return the loss."""
        if self._factorized:
            accepted, weights = np.empty(len(x)), self._weights[:before].copy()
            self.n, lost, drift = _pursuit.extend(
                self._gram, self._factor, self._weights, np.ascontiguousarray(cross), added, accepted, self._work,
                len(self._points), before, self._n_columns, self.n_outputs, len(x), DEPENDENT,
            )  # fmt: skip
            if drift <= DRIFT:
                self._points[before : self.n] = x[accepted > 0]
                return float(lost)
            self._weights[:before] = weights
        points = np.concatenate([self._points[:before], x])
        return self._factorize(points, np.concatenate([self._weights[:before], added]))

    def _factorize(self, points: Array, weights: Array) -> float:
        """Start anew from these points, without those that depend on others; return the norm by which f changes."""
        self._allocate(len(self._points), points.shape[1])
        if not len(points):
            return 0.0
        gram = self.kernel.gram(points)
        size = np.sqrt(np.where(gram.diagonal() > 0.0, gram.diagonal(), 1.0))
        triangle, order, n, _ = dpstrf(gram / np.outer(size, size), tol=DEPENDENT)  # of the most independent first
        kept, others = np.split(places := order - 1, [n])
        factor = np.linalg.inv(np.triu(triangle[:n, :n])) / size[kept, None]  # T, where T T' is the inverse of K
        moved = factor @ (factor.T @ (gram[np.ix_(kept, others)] @ weights[others]))
        self._gram[:n, :n], self._factor[:n, :n], self.n = gram[np.ix_(kept, kept)], factor, n
        self._points[:n], self._weights[:n] = points[kept], weights[kept] + moved
        lost = np.concatenate([-moved, weights[others]])[:, : self.n_outputs]
        return float(np.sqrt(max(0.0, np.einsum("ij,ij->", lost, gram[np.ix_(places, places)] @ lost))))

    def _prune(self, budget: float, limit: int) -> float:
        before = self.n
        order, weights = np.arange(float(before)), self._weights[:before].copy()
        self.n, lost = _pursuit.prune(
            self._gram, self._factor, self._weights, order, self._work,
            len(self._points), before, self._n_columns, self.n_outputs, budget**2, limit,
        )  # fmt: skip
        n = self.n
        if n == before:
            return 0.0
        places = order.astype(np.intp)
        self._points[:before] = self._points[places]
        # The best weights solve K_II w = K_I w_before; one step of refinement removes the rounding of the updates.
        kept, factor, lacking = self._weights[:n], self._factor[:n, :n], weights[places]
        lacking[:n] -= kept
        kept += factor @ (factor.T @ (self._gram[:n, :before] @ lacking))
        return float(np.sqrt(lost))


def compression_budget(parsimony: float, step_size: float) -> float:
    """Return epsilon = K eta^(3/2), which bounds the number of points (Koppel et al., POLK, Theorem 3)."""
    return float(parsimony * step_size**1.5)
