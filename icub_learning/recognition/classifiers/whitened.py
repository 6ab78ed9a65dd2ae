"""Scores of classes from directions whitened by the variation within classes: of kept views, and of class means."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, qr, solve_triangular

from icub_learning.arrays import Array
from icub_learning.recognition.classifiers.kept_views import unit

LENGTH_SCALE = 0.5  # of the Gaussian kernel, between directions: unit vectors
REGULARIZATION = 0.3  # lambda of the scores for names, of a kernel with k(x, x) = 1
MIXED_REGULARIZATION = 0.1  # likewise under the mixed kernel
MIXED_MEANS = 0.3  # weight of class means beside kept views, under the mixed kernel
SMALLEST = 1e-30  # length to divide by
NEGLIGIBLE = 1e-12  # variance within classes, beside the squared length 1 of the views, that counts as none


@dataclass(frozen=True)
class Scores:
    """Scores of m views, (m, T) each.

    Attributes:
        views: kernel ridge regression on the kept views.
        means: kernel with the means of the classes.
        mixed: a weighted sum of both under the mixed kernel, for typicality.
    """

    views: Array
    means: Array
    mixed: Array


class Statistics:
    """What is known of unit vectors in coordinates of the space that they span, so that few views cost little.

    Args:
        rows: (n, d) kept views.
        targets: (n,) indices of their classes.
        sums: (T, d) of all views of each class, kept or not.
        counts: (T,) of them.
        second: (d, d) sum of x x^T over all views, of which the upper triangle counts; None: all views are kept.
    """

    def __init__(
        self, rows: Array, targets: NDArray[np.intp], sums: Array, counts: NDArray[Any], second: Array | None
    ) -> None:
        self.targets, self.counts, self.n_features = targets, counts.astype(float), rows.shape[1]
        self.directions, self.lengths = rows, (rows**2).sum(axis=1)
        known = rows if second is None else np.concatenate([rows, sums])
        self._basis = qr(known.T, mode="economic", check_finite=False)[0] if len(known) < rows.shape[1] else None
        self.rows, self.sums = self.coordinates(rows), self.coordinates(sums)
        if second is None:
            self.second, self.outside = self.rows.T @ self.rows, 0.0
        else:
            whole = np.triu(second) + np.triu(second, 1).T
            self.second = whole if self._basis is None else self._basis.T @ whole @ self._basis
            self.outside = max(0.0, float(np.trace(whole) - np.trace(self.second)))  # of the span

    def coordinates(self, x: Array) -> Array:
        """Return coordinates (m, r) of x (m, d)."""
        return x if self._basis is None else np.asarray(x @ self._basis)


class Machine:
    """Scores by a Gaussian kernel between whitened directions, with kept views and with class means.

    With the covariance S within classes of all views, C = (1 - s) S + s tau I is shrunk so that its trace stays, and
    k(x, x') = exp(-||w - w'||^2 / 2 sigma^2) for the unit vectors w along C^(-1/2) (x - m), m the mean of the class
    means. Directions in which one object varies between its views count little. The score of class t is
    (f_t(x) + a k(x, m_t)) / (1 + a): kernel ridge regression f of the class indicators on the kept views, which knows
    the shape of each class, and the kernel with the mean m_t of all its views, of which few views say less than many
    (`_allowances`). For typicality the kernel is that of the mean of whitened and plain squared distances: what is
    unknown may differ from all known objects in a direction in which these vary too.

    The covariance is computed in double precision, what follows in single precision: twice as fast, and as C is shrunk
    its condition number is some thousands.

    Args:
        known: all views.
        learned: (n,) which of the kept views take part; the others are removed from sums and second moments.
        shrinkage: s in (0, 1].
    """

    def __init__(self, known: Statistics, learned: NDArray[np.bool_], shrinkage: float) -> None:
        self._known, targets, held = known, known.targets[learned], known.rows[~learned]
        n_classes = len(known.counts)
        gone = np.eye(n_classes)[known.targets[~learned]]
        counts = known.counts - gone.sum(axis=0)
        self.present = counts > 0.5
        means = (known.sums - gone.T @ held)[self.present] / counts[self.present, None]
        weighted = means * np.sqrt(counts[self.present])[:, None]
        within = known.second - held.T @ held - weighted.T @ weighted
        variance = (float(np.trace(within)) + known.outside) / known.n_features
        if variance * known.n_features <= NEGLIGIBLE * counts.sum():
            within, variance, shrinkage = np.zeros_like(within), 1.0, 1.0
        self._outside = (1.0 - shrinkage) * known.outside / max(1, known.n_features - len(within))
        self._outside = 1.0 + self._outside / (shrinkage * variance)
        within *= (1.0 - shrinkage) / (shrinkage * variance)  # C beside the identity
        within.flat[:: len(within) + 1] += 1.0
        self._factor = cholesky(_single(within.T), lower=True, overwrite_a=True, check_finite=False)
        # Of one object no other is known to differ from, directions are those from 0.
        self._center = _single(means.mean(axis=0) * (len(means) > 1))
        rows = known.rows[learned]
        self._plain = _single(np.concatenate([rows, _directions(means)]))
        white = self._whiten(_single(np.concatenate([rows, means])))
        self._n = len(rows)
        places = np.cumsum(self.present)[targets] - 1
        self._white = _directions(white)
        residuals, removed = white[: self._n] - white[self._n :][places], (1.0 - shrinkage) / (shrinkage * variance)
        allowances = _allowances(residuals, white[self._n :], counts[self.present], places, removed)
        self._white[self._n :] *= allowances[:, None]
        self._indicators = np.eye(n_classes, dtype=np.float32)[targets]
        views = self._white[: self._n]
        self._gram = _kernel(views @ views.T)
        self._coefficients = _ridge(self._gram, self._indicators, REGULARIZATION)

    @cached_property
    def _mixed_coefficients(self) -> Any:
        plain = self._plain[: self._n]
        return _ridge(_mixed(self._gram, plain @ plain.T), self._indicators, MIXED_REGULARIZATION)

    def scores(self, z: Array) -> Scores:
        """Return the scores of any views (m, d)."""
        directions = unit(z)
        return self.scores_at(self._known.coordinates(directions), (directions**2).sum(axis=1))

    def scores_at(self, x: Array, squares: Array, mixed: bool = True) -> Scores:
        """Return the scores of views with coordinates (m, r) and squared lengths (m,); mixed ones only if asked for."""
        outside = np.maximum(squares - (x**2).sum(axis=1), 0.0) / self._outside
        single = _single(x)
        white = self._whiten(single)
        white /= np.maximum(np.sqrt((white**2).sum(axis=1) + outside), SMALLEST)[:, None]
        kernel, n = _kernel(white @ self._white.T), self._n
        means, under_mixed = np.zeros((2, len(x), len(self.present)))
        means[:, self.present] = kernel[:, n:]
        if mixed:
            mixed_kernel = _mixed(kernel, single @ self._plain.T)
            under_mixed += mixed_kernel[:, :n] @ self._mixed_coefficients
            under_mixed[:, self.present] += MIXED_MEANS * mixed_kernel[:, n:]
        return Scores((kernel[:, :n] @ self._coefficients).astype(float), means, under_mixed)

    def _whiten(self, x: Any) -> Any:
        return solve_triangular(self._factor, (x - self._center).T, lower=True, overwrite_b=True, check_finite=False).T


def _allowances(residuals: Any, means: Any, counts: Array, places: NDArray[np.intp], removed: float) -> Array:
    """Return factors (T,) of the cosines with means, at least 1, that allow for how few views a mean is of.

    A mean of k views is longer than what it estimates, by the variance v / k of a mean of k views, and the cosines with
    it are as much smaller. v is that of a view that was not learned: what is within C of one that was is removed.

    Args:
        residuals: (n, r) of the kept views from the means of their classes, whitened.
        means: (T, r), whitened.
        counts: (T,) views of each class.
        places: (n,) classes of the kept views.
        removed: weight in C of the outer product of a residual.
    """
    several = counts[places] > 1.5
    if not several.any() or len(counts) < 2:
        return np.ones(len(counts))
    share = (counts / np.maximum(counts - 1.0, 1.0))[places[several]]
    squares = (residuals[several].astype(float) ** 2).sum(axis=1)
    variance = float(np.mean(squares / np.maximum(1.0 - removed * share * squares, 1e-3) * share))
    lengths = (means.astype(float) ** 2).sum(axis=1)
    length = max(float(np.mean(lengths - variance / counts)), 0.05 * float(np.mean(lengths)))
    return np.asarray(np.sqrt((length + variance / counts) / (length + variance / counts.max())))


def _single(x: Array) -> Any:
    return x.astype(np.float32)


def _directions(rows: Any) -> Any:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), SMALLEST)


def _kernel(cosines: Any) -> Any:
    cosines -= 1.0
    cosines /= LENGTH_SCALE**2
    return np.exp(np.minimum(cosines, 0.0, out=cosines), out=cosines)


def _mixed(kernel: Any, products: Any) -> Any:
    """Return the kernel of the mean of whitened and plain squared distances."""
    return np.sqrt(kernel) * np.exp((products - 1.0) / (2.0 * LENGTH_SCALE**2))


def _ridge(kernel: Any, indicators: Any, regularization: float) -> Any:
    if not len(kernel):
        return np.zeros_like(indicators)
    regularized = np.array(kernel)
    regularized.flat[:: len(kernel) + 1] += regularization
    return cho_solve(cho_factor(regularized.T, overwrite_a=True, check_finite=False), indicators, check_finite=False)
