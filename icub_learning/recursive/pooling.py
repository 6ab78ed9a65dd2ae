"""Exact pooling of the samples that two recursive learners have seen (fleet learning)."""

import numpy as np
from scipy.linalg import qr, solve_triangular

from icub_learning.arrays import Array


def equivalent_rows(factor: Array, prior: Array) -> tuple[Array, Array, Array]:
    """Return d rows Z with Z^T Z = factor^T factor - diag(prior), equivalent to the samples behind the factor.

    Returns:
        The singular values s of factor diag(prior)^(-1/2), its right singular vectors as rows V, and the lengths
        sqrt(s^2 - 1), so that Z = lengths V diag(prior)^(1/2).
    """
    _, singular, vectors = np.linalg.svd(factor / np.sqrt(prior))
    # s^2 - 1 as (s - 1)(s + 1): what the data add to the prior, never below zero.
    return singular, vectors, np.sqrt(np.maximum((singular - 1.0) * (singular + 1.0), 0.0))


def append_rows(factor: Array, rows: Array) -> Array:
    """Return the upper triangular factor of factor^T factor + rows^T rows, by a QR decomposition."""
    triangle: Array = qr(np.vstack([factor, rows]), mode="r", overwrite_a=True)[0][: len(factor)]
    return np.triu(triangle) * np.where(np.diag(triangle) < 0, -1.0, 1.0)[:, None]


def pool(first: tuple[Array, Array], second: tuple[Array, Array], prior: Array, mean: Array) -> tuple[Array, Array]:
    """Return factor and weights of a learner with the first one's prior and the samples of both.

    A = A_1 + (A_2 - diag(prior)), and W solves A W = A_1 W_1 + (A_2 W_2 - diag(prior) mean). Neither A_i is formed:
    d equivalent rows stand for the second learner's samples and are appended to the first factor.

    Args:
        first, second: (factor (d, d), weights (d, T)) of the two learners.
        prior: (d,), the second learner's present regularization.
        mean: (d, T), the initial weights of the second learner, the mean of its prior.
    """
    (factor_1, weights_1), (factor_2, weights_2) = first, second
    root = np.sqrt(prior)
    singular, vectors, lengths = equivalent_rows(factor_2, prior)
    equivalent = lengths[:, None] * vectors * root
    # The equivalent rows' targets u satisfy equivalent^T u = A_2 W_2 - diag(prior) mean.
    moment = (singular**2)[:, None] * (vectors @ (root[:, None] * (weights_2 - mean)))
    safe = np.where(lengths > 0, lengths, np.inf)
    targets = moment / safe[:, None] + equivalent @ mean
    factor = append_rows(factor_1, equivalent)
    weights = weights_1
    for _ in range(2):  # the second pass removes the rounding of the first (semi-normal equations, corrected)
        gradient = equivalent.T @ (targets - equivalent @ weights) - factor_1.T @ (factor_1 @ (weights - weights_1))
        weights = weights + solve_triangular(factor, solve_triangular(factor, gradient, trans="T"))
    return factor, weights
