"""The import vector machine (IVM): kernel logistic regression on points that are chosen one at a time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.linear_model import LogisticRegression

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods import Kernel

MOST, CANDIDATES, TOLERANCE = 100, 200, 1e-3
DEPENDENT = 1e-8  # relative squared distance to the span of the chosen points below which a point adds nothing


@dataclass(frozen=True)
class ImportVectors:
    """A function f(x) = sum_j weights_j k(points_j, x) of all classes."""

    chosen: NDArray[np.intp]  # (q,) indices of the points among the samples, in the order of choice
    points: Array  # (q, d)
    weights: Array  # (q, C)
    objectives: Array  # (q + 1,) least objective on the samples with the first 0 to q points


def import_vectors(
    kernel: Kernel, x: Array, y: NDArray[np.intp], regularization: float, most: int = MOST,
    candidates: int = CANDIDATES, seed: int = 0,
) -> ImportVectors:  # fmt: skip
    """Return the import vector machine of Zhu and Hastie (2005), of the softmax loss, for labels y (n,).

    The objective is the mean loss on all samples + regularization / 2 |f|^2. Each step adds the point, of `candidates`
    random ones (Smola and Schoelkopf 2000; the authors try all), with which one step of Newton's method on all weights
    promises the largest decrease, and then fits. It ends when a point decreases the objective by less than TOLERANCE
    of it, as published, or at `most` points. Raises ParameterError: there are fewer than three classes.
    """
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 3:
        raise ParameterError("classes", len(classes), "at least 3")
    random = np.random.default_rng(seed)
    n, n_classes = len(x), len(classes)
    own = kernel.diagonal(x)
    basis = np.zeros((n, 0))  # orthonormal functions of the span of the chosen points, at the samples
    probabilities = np.full((n, n_classes), 1.0 / n_classes)
    hits = codes[:, None] == np.arange(n_classes)
    model = LogisticRegression(
        C=1.0 / (n * regularization), fit_intercept=False, solver="newton-cholesky", tol=1e-7, warm_start=True
    )
    model.coef_, model.intercept_ = np.zeros((n_classes, 0)), np.zeros(n_classes)
    chosen: list[int] = []
    objectives = [float(np.log(n_classes))]
    while len(chosen) < most:
        residual = own - np.einsum("ij,ij->i", basis, basis)
        free = np.flatnonzero(residual > DEPENDENT * own)
        if not len(free):
            break
        tried = free if candidates >= n else random.permutation(free)[:candidates]
        columns = (kernel(x, x[tried]) - basis @ basis[tried].T) / np.sqrt(residual[tried])
        best = int(np.argmax(promised_decreases(basis, columns, probabilities, hits, regularization)))
        basis = np.concatenate([basis, columns[:, [best]]], axis=1)
        model.coef_ = np.concatenate([model.coef_, np.zeros((n_classes, 1))], axis=1)  # warm start: 0 for the new point
        model.fit(basis, codes)
        chosen.append(int(tried[best]))
        probabilities = model.predict_proba(basis)
        loss = -np.log(np.maximum(probabilities[hits], np.finfo(float).tiny)).mean()
        objectives.append(float(loss + regularization / 2 * np.sum(model.coef_**2)))
        if objectives[-2] - objectives[-1] < TOLERANCE * objectives[-1]:
            break
    indices = np.array(chosen, dtype=np.intp)
    # At the chosen points the basis is the triangular factor of their kernel matrix.
    return ImportVectors(indices, x[indices], np.linalg.solve(basis[indices].T, model.coef_.T), np.array(objectives))


def promised_decreases(
    basis: Array, columns: Array, probabilities: Array, hits: NDArray[np.bool_], regularization: float
) -> Array:
    """Return by how much one step of Newton's method on all weights decreases the objective's quadratic model, (L,).

    The functions in use, `basis` (n, q), have optimal weights and give the classes `probabilities` (n, C); `hits` (n,
    C) marks the right class. Each of the `columns` (n, L), of norm 1 and orthogonal to the basis, is added alone.
    """
    (n, order), tried, n_classes = basis.shape, columns.shape[1], probabilities.shape[1]
    gradient = columns.T @ (probabilities - hits) / n
    new = np.zeros((tried, n_classes, n_classes))
    across = np.zeros((order, n_classes, tried, n_classes))
    within = np.zeros((order, n_classes, order, n_classes))
    for c in range(n_classes):
        for e in range(c, n_classes):
            curvature = probabilities[:, c] * ((c == e) - probabilities[:, e]) / n
            new[:, c, e] = new[:, e, c] = curvature @ columns**2
            across[:, c, :, e] = across[:, e, :, c] = basis.T @ (curvature[:, None] * columns)
            within[:, c, :, e] = within[:, e, :, c] = basis.T @ (curvature[:, None] * basis)
    new += regularization * np.eye(n_classes)
    if order:
        flat = across.reshape(order * n_classes, tried * n_classes)
        size = order * n_classes
        factor = cho_factor(within.reshape(size, size) + regularization * np.eye(size))
        solved = cho_solve(factor, flat).reshape(size, tried, n_classes)
        new -= np.einsum("slc,sle->lce", flat.reshape(size, tried, n_classes), solved)
    steps = np.linalg.solve(new, gradient[:, :, None])[:, :, 0]
    return np.asarray(np.einsum("lc,lc->l", gradient, steps) / 2)
