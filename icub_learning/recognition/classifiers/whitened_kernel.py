"""Kernel ridge regression of class indicators on directions whitened by the variation within classes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from icub_learning.arrays import Array
from icub_learning.recognition.classifiers.transfer import ridge_coefficients
from icub_learning.recognition.classifiers.workspace import Workspace, chunks, gathered

SHRINKAGE = 0.5  # of the covariance within classes towards a multiple of the identity
LENGTH_SCALE = 0.5  # of the Gaussian kernel, between directions: unit vectors
MIXED_REGULARIZATION = 0.1  # lambda of the scores under the mixed kernel
NEGLIGIBLE = 1e-12  # squared length, beside that of the views, that counts as none


class WhitenedKernel:
    """A Gaussian kernel between directions that are whitened by the shrunk covariance within classes.

    Views x of unit length are centred at their mean m. With the residuals R (n, d) of the views from the means of
    their classes, C = (1 - s) R^T R / n + s tau I is their covariance, shrunk so that its trace stays, and
    k(x, x') = exp(-||w - w'||^2 / 2 sigma^2) for the unit vectors w along C^(-1/2) (x - m). Directions in which one
    object varies between its views count little, so that what is left tells objects apart, known and unknown ones.

    Everything is computed from inner products of views: those under C^-1 come from a Cholesky factor of size n
    (Woodbury). So the number of features matters for the inner products only.

    Args:
        n: number of views.
        workspace: memory of 4 n^2 numbers, 2 n^2 of which are kept; `fit` needs the others.
    """

    def __init__(self, n: int, workspace: Workspace) -> None:
        self._workspace = workspace
        self._centers, self._inner = workspace.take(n, n), workspace.take(n, n)
        self._factor: Array | None = None  # in the memory of _inner

    def fit(self, gram: Array, places: NDArray[np.intp], targets: NDArray[np.intp], n_features: int) -> Array:
        """Whiten by views, and return the kernel (n, n) between them, in the memory of the workspace.

        Args:
            gram: inner products of views.
            places: (n,) those of the views to whiten by.
            targets: (n,) indices of their classes.
            n_features: d, length of a view.
        """
        n, workspace = len(places), self._workspace
        kernel = gathered(gram, places, places, workspace.take(n, n))
        squares = float(np.trace(kernel))
        self._means = kernel.mean(axis=0)  # products of each view with the mean view
        self._square = float(self._means.mean())  # of the mean view
        kernel -= self._means
        kernel -= self._means[:, None]
        kernel += self._square
        members = np.eye(int(targets.max()) + 1)[targets]
        members = members[:, members.any(axis=0)]
        self._average = members / members.sum(axis=0), members  # class means are average.T @ views
        self._weight = np.sqrt((1.0 - SHRINKAGE) / n)
        with workspace.scratch():
            work = workspace.take(n, n)
            self._factor = self._whiten(kernel, squares, n_features, work)
            self._scale = _inverse_lengths(np.diagonal(kernel), self._centers)
            self._kernel(kernel, self._centers, self._scale, work)
        return kernel

    def __call__(self, products: Array, squares: Array) -> Array:
        """Return the kernel (m, n) between directions x and the views.

        Args:
            products: (m, n) inner products of x with the views.
            squares: (m,) squared lengths of x: 1, or 0 for x = 0.
        """
        own = products.mean(axis=1, keepdims=True)  # with the mean view
        centred = products - own - self._means + self._square
        average, members = self._average
        across = (centred - (centred @ average) @ members.T) * self._weight  # products with residuals
        inside = self._inside(across)
        scale = _inverse_lengths(squares - 2.0 * own[:, 0] + self._square, inside)
        self._kernel(centred, inside, scale, across)
        return np.asarray(centred)

    def _whiten(self, centred: Array, squares: float, n_features: int, work: Array) -> Array | None:
        """Compute coordinates of the views whose inner products C^-1 takes away, and return what leads to them.

        Args:
            centred: (n, n) products of centred views.
            squares: sum of squared lengths of the views.
            n_features: d, length of a view.
            work: (n, n) to work in.

        Returns:
            The Cholesky factor; None if no class varies, so that there is nothing to whiten by.
        """
        n, (average, members) = len(centred), self._average
        across, scatter = self._centers, self._inner
        np.matmul(centred @ average, members.T, out=work)  # of centred views with the means of the residuals' classes
        np.subtract(centred, work, out=across)
        across *= self._weight
        np.matmul(members, average.T @ across, out=work)
        np.subtract(across, work, out=scatter)
        scatter *= self._weight
        variance = float(np.trace(scatter)) / n_features
        if variance * n_features <= NEGLIGIBLE * squares / n:
            self._centers = np.zeros((n, 1))
            return None
        scatter.flat[:: n + 1] += SHRINKAGE / (1.0 - SHRINKAGE) * variance
        # The transpose of a matrix of rows has its columns one after the other, as LAPACK wants them to work in place.
        factor = cholesky(scatter.T, lower=True, overwrite_a=True, check_finite=False)
        solved = solve_triangular(factor, across.T, lower=True, overwrite_b=True, check_finite=False)
        self._centers = solved.T
        return np.asarray(factor)

    def _inside(self, across: Array) -> Array:
        """Return coordinates (m, n) whose inner products C^-1 takes away, from products with the residuals."""
        if self._factor is None:
            return np.zeros((len(across), 1))
        return np.asarray(solve_triangular(self._factor, across.T, lower=True, check_finite=False).T)

    def _kernel(self, products: Array, inside: Array, scale: Array, work: Array) -> None:
        """Replace products of centred directions (m, n) by the kernel; `work` is an array of that size."""
        products -= np.matmul(inside, self._centers.T, out=work)
        products *= scale[:, None]
        products *= self._scale
        np.clip(products, -1.0, 1.0, out=products)
        products -= 1.0
        products /= LENGTH_SCALE**2
        np.exp(products, out=products)


def _inverse_lengths(squares: Array, inside: Array) -> Array:
    lengths = np.einsum("ij,ij->i", inside, inside)
    return np.asarray(1.0 / np.sqrt(np.maximum(squares - lengths, 1e-12)))


def mixed(kernel: Array, products: Array) -> Array:
    """Return the kernel of the mean of whitened and plain squared distances.

    Args:
        kernel: values of the WhitenedKernel.
        products: inner products of the same directions.
    """
    return np.asarray(np.sqrt(kernel) * np.exp((products - 1.0) / (2.0 * LENGTH_SCALE**2)))


def _mix(kernel: Array, gram: Array, places: NDArray[np.intp]) -> None:
    """Replace the kernel (n, n) of the views at `places` by the mixed one."""
    for rows in chunks(len(kernel)):
        kernel[rows] = mixed(kernel[rows], gram[np.ix_(places[rows], places)])


class WhitenedKernelMachine:
    """Scores of classes by kernel ridge regression of their indicators.

    For names, the kernel is a WhitenedKernel. To tell known from unknown the mixed kernel is better (see `mixed`):
    what is unknown may differ from all known objects in a direction in which these vary too.

    Args:
        gram: (n, n) inner products of the views, n >= 1.
        targets: (n,) indices of their classes.
        n_features: d, length of a view.
        n_classes: T.
        regularization: lambda > 0 for the scores, added to the diagonal of the kernel matrix.
        transfer: between classes, in [0, 1], for the scores; see `ridge_coefficients`.
        workspace: memory of 5 n^2 numbers, 2 n^2 of which are kept.
    """

    def __init__(
        self,
        gram: Array,
        targets: NDArray[np.intp],
        n_features: int,
        n_classes: int,
        regularization: float,
        transfer: float,
        workspace: Workspace,
    ) -> None:
        self._kernel = WhitenedKernel(len(gram), workspace)
        with workspace.scratch():
            places = np.arange(len(gram))
            own = self._kernel.fit(gram, places, targets, n_features)
            solve = partial(ridge_coefficients, targets=targets, n_classes=n_classes, workspace=workspace)
            self._coefficients = solve(own, regularization=regularization, transfer=transfer)
            _mix(own, gram, places)
            self._mixed_coefficients = solve(own, regularization=MIXED_REGULARIZATION, transfer=0.0)

    def scores(self, products: Array, squares: Array) -> Array:
        """Return scores (m, T); see WhitenedKernel for the arguments."""
        return np.asarray(self._kernel(products, squares) @ self._coefficients)

    def mixed_scores(self, products: Array, squares: Array) -> Array:
        """Return scores (m, T) under the mixed kernel; see WhitenedKernel for the arguments."""
        return np.asarray(mixed(self._kernel(products, squares), products) @ self._mixed_coefficients)


@dataclass(frozen=True)
class HeldBackScores:
    """Scores of views that were held back.

    Attributes:
        judged: (n,) whether a view was judged: its class had views in another part.
        scores: (len(regularizations), n, T); 0 where not judged.
        mixed: (n, T) scores under the mixed kernel.
    """

    judged: NDArray[np.bool_]
    scores: Array
    mixed: Array


def hold_back(
    gram: Array,
    targets: NDArray[np.intp],
    parts: NDArray[np.intp],
    n_features: int,
    n_classes: int,
    regularizations: Sequence[float],
    transfer: float,
    workspace: Workspace,
) -> HeldBackScores:
    """Return the scores of the views of each part from a machine that learned the other parts.

    Args:
        gram: (n, n) inner products of the views.
        targets: (n,) indices of their classes.
        parts: (n,) the part in which each view is held back.
        n_features: d, length of a view.
        n_classes: T.
        regularizations: candidates for lambda.
        transfer: between classes, see WhitenedKernelMachine.
        workspace: memory of 5 m^2 numbers for the most views m that are learned at once.
    """
    n = len(gram)
    found = HeldBackScores(
        np.zeros(n, dtype=bool), np.zeros((len(regularizations), n, n_classes)), np.zeros((n, n_classes))
    )
    for held, learned in held_back_parts(targets, parts):
        asked, places = np.flatnonzero(held), np.flatnonzero(learned)
        solve = partial(ridge_coefficients, targets=targets[places], n_classes=n_classes, workspace=workspace)
        with workspace.scratch():
            kernel = WhitenedKernel(len(places), workspace)
            own = kernel.fit(gram, places, targets[places], n_features)
            coefficients = [solve(own, regularization=value, transfer=transfer) for value in regularizations]
            _mix(own, gram, places)
            mixed_coefficients = solve(own, regularization=MIXED_REGULARIZATION, transfer=0.0)
            for rows in chunks(len(asked)):
                products = gram[np.ix_(asked[rows], places)]
                cross = kernel(products, np.diagonal(gram)[asked[rows]])
                for scores, weights in zip(found.scores, coefficients, strict=True):
                    scores[asked[rows]] = cross @ weights
                found.mixed[asked[rows]] = mixed(cross, products) @ mixed_coefficients
        found.judged[held] = True
    return found


def held_back_parts(
    targets: NDArray[np.intp], parts: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield for each part which views (n,) are held back and judged, and which are learned.

    A view whose class has no other part is not judged: nothing could name it.
    """
    for part in np.unique(parts):
        learned = parts != part
        held = ~learned & np.isin(targets, targets[learned])
        if held.any():
            yield held, learned
