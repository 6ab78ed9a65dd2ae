"""Exact pooling of the samples that two recursive learners have seen (fleet learning)."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError

# Distance below 1 to which rounding may bring a singular value: 8e-5 with the currents of a UR10, whose regressor is
# large beside the prior. Forgetting by 0.9999 over a hundred samples brings it 5e-3 below.
FORGOTTEN = 1e-3
NOTHING_NEW = 1e-12  # length of an equivalent row below which the row is rounding


def gained_lengths(singular: Array) -> Array:
    """Return what data add to a prior of 1 along directions with singular values s of both together: sqrt(s^2 - 1)."""
    return np.sqrt(np.maximum((singular - 1.0) * (singular + 1.0), 0.0))  # exact near s = 1, and never below zero


def append_rows(factor: Array, rows: Array) -> Array:
    """Return the upper triangular factor of factor^T factor + rows^T rows, by a QR decomposition."""
    triangle: Array = qr(np.vstack([factor, rows]), mode="r", overwrite_a=True)[0][: len(factor)]
    return np.triu(triangle) * np.where(np.diag(triangle) < 0, -1.0, 1.0)[:, None]


def drop_rows(factor: Array, rows: Array, least: Array | None = None) -> Array:
    """Return the upper triangular factor of factor^T factor - rows^T rows. Raises ParameterError: that is not positive
    definite, or does not exceed diag(least)."""
    left = factor.T @ factor - rows.T @ rows
    try:
        if least is not None:
            np.linalg.cholesky(left - np.diag(least))
        return np.asarray(np.linalg.cholesky(left).T)
    except np.linalg.LinAlgError:
        raise ParameterError("z", "rows that are more than was learned", "among the samples learned") from None


@dataclass(frozen=True)
class Pooled:
    """A learner that has seen what two have seen.

    The second moment of the pooled weights' residuals, over all samples, is that of the two learners' residuals (of the
    second one's without the common samples), plus gained' gained, minus lost' lost.
    """

    factor: Array  # (d, d)
    weights: Array  # (d, T)
    gained: Array  # (k, T)
    lost: Array  # (k, T)


def pool(first: tuple[Array, Array], second: tuple[Array, Array], common: tuple[Array, Array]) -> Pooled:
    """Return a learner that has seen what two have seen, with their common samples counted once.

    A = A_1 + (A_2 - A_c), and W solves A W = A_1 W_1 + (A_2 W_2 - A_c W_c). No A is formed: d equivalent rows stand for
    what the second learner has seen beyond the common part, and are appended to the first factor. Arguments are (factor
    (d, d), weights (d, T)): of two learners, and of what the second one started from: its prior with the prior mean, or
    a common learner. Raises ParameterError: the second learner has forgotten some of that.
    """
    (factor_1, weights_1), (factor_2, weights_2), (root, mean) = first, second, common
    _, singular, vectors = np.linalg.svd(solve_triangular(root, factor_2.T, trans="T").T)
    if singular[-1] < 1.0 - FORGOTTEN:
        bound = "1: set `forgetting: 1.0`, or start that robot anew"
        raise ParameterError("what is not forgotten of the samples of both", round(float(singular[-1]), 4), bound)
    lengths = gained_lengths(singular)
    equivalent = lengths[:, None] * (vectors @ root)
    # The equivalent rows' targets u satisfy equivalent^T u = A_2 W_2 - A_c W_c.
    beyond = singular[:, None] * (vectors @ (root @ (weights_2 - mean)))
    moment = singular[:, None] * beyond
    safe = np.where(lengths > NOTHING_NEW, lengths, np.inf)
    targets = moment / safe[:, None] + equivalent @ mean
    factor, weights = append_rows(factor_1, equivalent), weights_1
    for _ in range(2):  # the second pass removes the rounding of the first (semi-normal equations, corrected)
        gradient = equivalent.T @ (targets - equivalent @ weights) - factor_1.T @ (factor_1 @ (weights - weights_1))
        weights = weights + solve_triangular(factor, solve_triangular(factor, gradient, trans="T"))
    # Part of what the second learner's weights left is due to its regularization, or to the common part in its place.
    lost = beyond / safe[:, None]
    return Pooled(factor, weights, np.vstack([factor_1 @ (weights - weights_1), targets - equivalent @ weights]), lost)
