"""Kernel ridge regression of class indicators on directions whitened by the variation within classes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from icub_learning.arrays import Array
from icub_learning.recognition.classifiers.transfer import ridge_coefficients

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
        gram: (n, n) inner products of the views.
        targets: (n,) indices of their classes.
        n_features: d, length of a view.
    """

    def __init__(self, gram: Array, targets: NDArray[np.intp], n_features: int) -> None:
        n = len(gram)
        self._means = gram.mean(axis=0)  # products of each view with the mean view
        self._square = float(self._means.mean())  # of the mean view
        centred = gram - self._means - self._means[:, None] + self._square
        members = np.eye(int(targets.max()) + 1)[targets]
        members = members[:, members.any(axis=0)]
        self._average = members / members.sum(axis=0), members  # class means are average.T @ views
        self._weight = np.sqrt((1.0 - SHRINKAGE) / n)
        across = self._residual(centred)  # products of residuals with centred views
        scatter = self._residual(across.T)
        variance = float(np.trace(scatter)) / n_features
        self._factor: Array | None = None
        if variance * n_features > NEGLIGIBLE * float(np.trace(gram)) / n:  # else no class varies: nothing to whiten by
            scatter.flat[:: n + 1] += SHRINKAGE / (1.0 - SHRINKAGE) * variance
            self._factor = cholesky(scatter, lower=True, overwrite_a=True, check_finite=False)
        self._centers = self._inside(across.T)
        self._scale = _inverse_lengths(np.diagonal(centred), self._centers)
        self._gram: Array | None = self._kernel(centred, self._centers, self._scale)

    def take_gram(self) -> Array:
        """Return the kernel (n, n) between the views, once: it is not kept, since it takes much memory."""
        if self._gram is None:
            raise RuntimeError("the kernel between the views has been taken before")
        gram, self._gram = self._gram, None
        return gram

    def __call__(self, products: Array, squares: Array) -> Array:
        """Return the kernel (m, n) between directions x and the views.

        Args:
            products: (m, n) inner products of x with the views.
            squares: (m,) squared lengths of x: 1, or 0 for x = 0.
        """
        own = products.mean(axis=1, keepdims=True)  # with the mean view
        centred = products - own - self._means + self._square
        inside = self._inside(self._residual(centred.T).T)
        return self._kernel(centred, inside, _inverse_lengths(squares - 2.0 * own[:, 0] + self._square, inside))

    def _residual(self, products: Array) -> Array:
        """Replace the views along the first axis of products by weighted residuals from the means of their classes."""
        average, members = self._average
        return np.asarray((products - members @ (average.T @ products)) * self._weight)

    def _inside(self, products: Array) -> Array:
        """Return coordinates (m, n) whose inner products C^-1 takes away, from products with the residuals."""
        if self._factor is None:
            return np.zeros((len(products), 1))
        return np.asarray(solve_triangular(self._factor, products.T, lower=True, check_finite=False).T)

    def _kernel(self, products: Array, inside: Array, scale: Array) -> Array:
        cosine = (products - inside @ self._centers.T) * scale[:, None] * self._scale
        return np.asarray(np.exp((np.clip(cosine, -1.0, 1.0) - 1.0) / LENGTH_SCALE**2))


def _inverse_lengths(squares: Array, inside: Array) -> Array:
    return np.asarray(1.0 / np.sqrt(np.maximum(squares - (inside**2).sum(axis=1), 1e-12)))


def mixed(kernel: Array, products: Array) -> Array:
    """Return the kernel of the mean of whitened and plain squared distances.

    Args:
        kernel: values of the WhitenedKernel.
        products: inner products of the same directions.
    """
    return np.asarray(np.sqrt(kernel) * np.exp((products - 1.0) / (2.0 * LENGTH_SCALE**2)))


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
    """

    def __init__(
        self,
        gram: Array,
        targets: NDArray[np.intp],
        n_features: int,
        n_classes: int,
        regularization: float,
        transfer: float = 0.0,
    ) -> None:
        self._kernel = WhitenedKernel(gram, targets, n_features)
        own = self._kernel.take_gram()
        self._coefficients = ridge_coefficients(own, targets, n_classes, regularization, transfer)
        self._mixed_coefficients = ridge_coefficients(mixed(own, gram), targets, n_classes, MIXED_REGULARIZATION)

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
    transfer: float = 0.0,
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
    """
    n = len(gram)
    found = HeldBackScores(
        np.zeros(n, dtype=bool), np.zeros((len(regularizations), n, n_classes)), np.zeros((n, n_classes))
    )
    for held, learned in held_back_parts(targets, parts):
        kernel = WhitenedKernel(gram[np.ix_(learned, learned)], targets[learned], n_features)
        products = gram[np.ix_(held, learned)]
        cross, own = kernel(products, np.diagonal(gram)[held]), kernel.take_gram()
        for place, value in enumerate(regularizations):
            found.scores[place][held] = cross @ ridge_coefficients(own, targets[learned], n_classes, value, transfer)
        own = mixed(own, gram[np.ix_(learned, learned)])
        found.mixed[held] = mixed(cross, products) @ ridge_coefficients(
            own, targets[learned], n_classes, MIXED_REGULARIZATION
        )
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
