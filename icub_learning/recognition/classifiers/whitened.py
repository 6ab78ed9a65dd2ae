"""Scores by kept views and by class means, from directions whitened by the variation within classes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, qr, solve_triangular
from scipy.linalg.blas import dsymm, dsyrk, ssymm, ssymv
from scipy.linalg.lapack import spotri

from icub_learning.arrays import Array
from icub_learning.recognition.classifiers.kept_views import unit

LENGTH_SCALE = 0.5  # length scale of the Gaussian kernel between directions, which are unit vectors
REGULARIZATION = 0.1  # regularization lambda of kernel ridge regression, with k(x, x) = 1
MIXED_MEANS = 0.3  # weight of class means beside kept views, for typicality
FEWEST = 3  # largest number of vectors with which a matrix is multiplied one by one
FEW = 30  # number of vectors from which on an inverse is applied by its Cholesky factor
SMALLEST = 1e-30  # smallest length to divide by
NEGLIGIBLE = 1e-12  # variance within classes that counts as none, relative to the squared length 1 of the views


@dataclass(frozen=True)
class Scores:
    """Scores of m views, (m, T) each."""

    views: Array  # kernel ridge regression on the kept views
    means: Array  # kernel with the means of the classes
    mixed: Array  # weighted sum of kernel ridge regression under the mixed kernel and of `means`, for typicality


class Statistics:
    """Statistics of unit vectors in coordinates of the space that they span, so that few views cost little.

    The kept views are `rows` (n, d) of the classes `targets` (n,); `sums` (T, d) and `counts` (T,) are those of all
    views by class, and `second` (d, d) is the upper triangle of their sum of x x^T, None if all are kept.
    """

    def __init__(
        self, rows: Array, targets: NDArray[np.intp], sums: Array, counts: NDArray[Any], second: Array | None
    ) -> None:
        self.targets, self.counts, self.n_features = targets, counts.astype(float), rows.shape[1]
        self.directions, self.lengths = rows, (rows**2).sum(axis=1)
        known = rows if second is None else np.concatenate([rows, sums])
        self._basis = qr(known.T, mode="economic", check_finite=False)[0] if len(known) < rows.shape[1] else None
        self.rows, self.sums, self.outside = self.coordinates(rows), self.coordinates(sums), 0.0
        if second is None:
            self.second = self.rows.T @ self.rows
        elif self._basis is None:
            self.second = second
        else:
            self.second = self._basis.T @ dsymm(1.0, second, self._basis)
            self.outside = max(0.0, float(np.trace(second) - np.trace(self.second)))  # trace outside the span

    def coordinates(self, x: Array) -> Array:
        """Return coordinates (m, r) of x (m, d)."""
        return x if self._basis is None else np.asarray(x @ self._basis)


class Portion:
    """Statistics with only those kept views that are `learned` (n,), as if the others had never been learned.

    Attributes:
        rows: (m, r) the learned kept views, class after class.
        starts, kinds: where each class begins in `rows`, and its index; classes without kept views are left out.
        present: (T,) whether views of a class are left; `counts` (P,) of views and `means` (P, r) are of such classes.
        places: (m,) indices in `means` of the classes of `rows`.
        scatter: (r, r) upper triangle of the sum of outer products of views minus the means of their classes.
    """

    def __init__(self, known: Statistics, learned: NDArray[np.bool_]) -> None:
        self.known = known
        order = np.flatnonzero(learned)[np.argsort(known.targets[learned], kind="stable")]
        self.rows, targets, held = known.rows[order], known.targets[order], known.rows[~learned]
        self.kinds, self.starts = np.unique(targets, return_index=True)
        gone = np.eye(len(known.counts))[known.targets[~learned]]
        counts = known.counts - gone.sum(axis=0)
        self.present = counts > 0.5
        self.counts, self.places = counts[self.present], np.cumsum(self.present)[targets] - 1
        self.means = (known.sums - gone.T @ held)[self.present] / self.counts[:, None]
        self.scatter = np.array(known.second, order="F")
        for removed in (held, self.means * np.sqrt(self.counts)[:, None]):
            if len(removed):
                self.scatter = dsyrk(-1.0, removed.T, 1.0, self.scatter, overwrite_c=1)


class Machine:
    """Scores by a Gaussian kernel between whitened directions, with kept views and with class means.

    The covariance S of all views within classes is shrunk to C = (1 - s) S + s tau I, which keeps its trace, and
    k(x, x') = exp(-||w - w'||^2 / 2 sigma^2) for the unit vectors w along C^(-1/2) (x - m), m the mean of the class
    means. Directions in which one object varies between its views count little. The score of class t is
    (f_t(x) + a k(x, m_t)) / (1 + a): kernel ridge regression f of the class indicators on the kept views, which knows
    the shape of each class, and the kernel with the mean m_t of all its views, which is less certain if they are few
    (`_allowances`). For typicality the kernel between views is that of the mean of whitened and plain squared
    distances: an unknown object may differ from all known ones in a direction in which these vary, too.

    The covariance is computed in double precision, the rest in single precision, which is twice as fast; shrinkage
    keeps the condition number of C at some thousands. Scoring a view multiplies it with the points (views and means)
    and with symmetric inverses, of which half is read: it takes as long as reading these from memory.
    """

    def __init__(self, portion: Portion, shrinkage: float) -> None:
        self.portion, known, means = portion, portion.known, portion.means
        scatter = portion.scatter
        variance = (float(np.trace(scatter)) + known.outside) / known.n_features
        if variance * known.n_features <= NEGLIGIBLE * portion.counts.sum():
            scatter, variance, shrinkage = np.zeros_like(scatter), 1.0, 1.0
        weight = (1.0 - shrinkage) / (shrinkage * variance)  # weight of the scatter in C, relative to the identity
        self._outside = 1.0 + weight * known.outside / max(1, known.n_features - len(scatter))
        shrunk = scatter.astype(np.float32, order="F")
        shrunk *= np.float32(weight)
        shrunk.flat[:: len(shrunk) + 1] += np.float32(1.0)
        factor = cholesky(shrunk, overwrite_a=True, check_finite=False)
        # One object has no others to differ from: its directions are those from 0.
        center = means.mean(axis=0) * (len(means) > 1)
        self._plain_offsets = _single(portion.rows @ center)
        self._center, self._points = _single(center), _single(np.concatenate([portion.rows, means]) - center)
        white = solve_triangular(factor, self._points.T, trans=1, check_finite=False).T
        self._precision = Inverse(factor)
        n = self._n = len(portion.rows)
        self._scales = 1.0 / np.maximum(np.linalg.norm(white, axis=1), np.float32(SMALLEST))
        residuals = white[:n] - white[n:][portion.places]
        allowances = _allowances(residuals, white[n:], portion.counts, portion.places, weight)
        directions = white[:n] * self._scales[:n, None]
        self._scales[n:] *= allowances
        self._gram = _kernel(directions @ directions.T)

    @cached_property
    def _inverse(self) -> "Inverse":
        return _regularized(self._gram.copy())

    @cached_property
    def _mixed_inverse(self) -> "Inverse":
        rows = _single(self.portion.rows)
        return _regularized(_mixed(self._gram, rows @ rows.T))

    def scores(self, z: Array) -> Scores:
        """Return the scores of any views (m, d)."""
        directions = unit(z)
        return self.scores_at(self.portion.known.coordinates(directions), (directions**2).sum(axis=1))

    def scores_at(self, x: Array, squares: Array, names: bool = True, mixed: bool = True) -> Scores:
        """Return scores of views (m, r) with squared lengths (m,): by views if `names`, for typicality if `mixed`."""
        outside = np.maximum(squares - (x**2).sum(axis=1), 0.0) / self._outside
        single, n = _single(x) - self._center, self._n
        towards = (self._precision @ single.T).T
        lengths = np.sqrt(np.maximum((single * towards).sum(axis=1), 0.0) + outside).astype(np.float32)
        kernel = _products(self._points, towards)
        kernel *= self._scales[:, None]
        kernel /= np.maximum(lengths, np.float32(SMALLEST))
        kernel = _kernel(kernel)
        by_views, by_means, under_mixed = np.zeros((3, len(self.portion.present), len(x)))
        by_means[self.portion.present] = kernel[n:]
        if names:
            self._add_by_class(self._inverse, kernel[:n], by_views)
        if mixed:
            under_mixed += MIXED_MEANS * by_means
            plain = _products(self._points[:n], single) + self._plain_offsets[:, None] + single @ self._center
            self._add_by_class(self._mixed_inverse, _mixed(kernel[:n], plain), under_mixed)
        return Scores(by_views.T, by_means.T, under_mixed.T)

    def _add_by_class(self, inverse: "Inverse", kernel: Any, scores: Array) -> None:
        """Add the ridge regression of the class indicators, which are 1 for the rows of a class, to scores (T, m)."""
        if self._n:
            scores[self.portion.kinds] += np.add.reduceat(inverse @ kernel, self.portion.starts)


class Inverse:
    """Inverse of a symmetric matrix from its Cholesky factor (n, n); formed once, for products with few vectors."""

    def __init__(self, factor: Any) -> None:
        self._factor = factor

    @cached_property
    def _triangle(self) -> Any:
        return spotri(self._factor)[0]

    def __matmul__(self, columns: Any) -> Any:
        """Return the product with columns (n, m)."""
        if columns.shape[1] == 1:
            return ssymv(1.0, self._triangle, columns[:, 0])[:, None]
        if columns.shape[1] < FEW:
            return ssymm(1.0, self._triangle, columns)
        return cho_solve((self._factor, False), columns, check_finite=False)


def _allowances(residuals: Any, means: Any, counts: Array, places: NDArray[np.intp], removed: float) -> Array:
    """Return factors (T,), at least 1, on the cosines with whitened means (T, r) of few views, `counts` (T,).

    A mean of k views is longer than what it estimates, by the variance v / k of a mean of k views, and the cosines with
    it are as much smaller. v is the variance of a view that was not learned, from whitened residuals (n, r) of kept
    views to the means of their classes, at `places` (n,): the part of each in C, of weight `removed`, is taken out.
    """
    several = counts[places] > 1.5
    if not several.any() or len(counts) < 2:
        return np.ones(len(counts))
    share = (counts / np.maximum(counts - 1.0, 1.0))[places[several]]
    squares = (residuals[several].astype(float) ** 2).sum(axis=1)
    variance = float(np.mean(squares / np.maximum(1.0 - removed * share * squares, 1e-3) * share))
    lengths = (means.astype(float) ** 2).sum(axis=1)
    length = max(float(np.mean(lengths - variance / counts)), 0.05 * float(np.mean(lengths)), SMALLEST)
    return np.asarray(np.sqrt((length + variance / counts) / (length + variance / counts.max())))


def _products(points: Any, x: Any) -> Any:
    """Return points (n, r) times x (m, r), (n, m); few x are taken one by one: for more, BLAS copies the points."""
    return np.stack([points @ row for row in x], axis=1) if 0 < len(x) <= FEWEST else points @ x.T


def _single(x: Array) -> Any:
    return x.astype(np.float32)


def _kernel(cosines: Any) -> Any:
    cosines -= np.float32(1.0)
    cosines /= np.float32(LENGTH_SCALE**2)
    return np.exp(np.minimum(cosines, np.float32(0.0), out=cosines), out=cosines)


def _mixed(kernel: Any, products: Any) -> Any:
    """Return the kernel of the mean of whitened and plain squared distances."""
    return np.sqrt(kernel) * np.exp((products - np.float32(1.0)) / np.float32(2.0 * LENGTH_SCALE**2))


def _regularized(kernel: Any) -> Inverse:
    """Return the inverse of a kernel matrix plus REGULARIZATION times the identity; the matrix is overwritten."""
    kernel.flat[:: len(kernel) + 1] += np.float32(REGULARIZATION)
    return Inverse(cholesky(kernel.T, overwrite_a=True, check_finite=False))
