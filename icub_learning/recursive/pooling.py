"""Exact pooling of what two recursive learners have seen (fleet learning)."""

import numpy as np
from scipy.linalg import qr, solve_triangular

from icub_learning.arrays import Array


def pool(first: tuple[Array, Array], second: tuple[Array, Array], prior: Array, mean: Array) -> tuple[Array, Array]:
    """Factor and weights of a learner that has the first one's prior and the samples of both.

    A = A_1 + (A_2 - diag(prior)), and W solves A W = A_1 W_1 + (A_2 W_2 - diag(prior) mean). Neither A_i is ever
    formed: the second learner's samples are brought back as d equivalent rows from the singular values of its factor,
    scaled so that its prior is the identity, and rotated into the first factor by an orthogonal triangularization.

    Args:
        first, second: (factor (d, d), weights (d, T)) of the two learners.
        prior: (d,), the second learner's regularization at this moment.
        mean: (d, T), the weights that the second learner's prior pulls towards.
    """
    (factor_1, weights_1), (factor_2, weights_2) = first, second
    root = np.sqrt(prior)
    _, singular, vectors = np.linalg.svd(factor_2 / root)
    # s^2 - 1 as (s - 1)(s + 1): what the data add to the prior, never below zero.
    data = np.sqrt(np.maximum((singular - 1.0) * (singular + 1.0), 0.0))
    equivalent = data[:, None] * vectors * root
    # The equivalent rows' targets u satisfy equivalent^T u = A_2 W_2 - diag(prior) mean.
    moment = (singular**2)[:, None] * (vectors @ (root[:, None] * (weights_2 - mean)))
    safe = np.where(data > 0, data, np.inf)
    targets = moment / safe[:, None] + equivalent @ mean
    factor = qr(np.vstack([factor_1, equivalent]), mode="r", overwrite_a=True)[0][: len(factor_1)]
    factor = np.triu(factor) * np.where(np.diag(factor) < 0, -1.0, 1.0)[:, None]
    weights = weights_1
    for _ in range(2):  # the second pass removes the rounding of the first (semi-normal equations, corrected)
        gradient = equivalent.T @ (targets - equivalent @ weights) - factor_1.T @ (factor_1 @ (weights - weights_1))
        weights = weights + solve_triangular(factor, solve_triangular(factor, gradient, trans="T"))
    return factor, weights
