"""Solutions for other regularizations from the factor of one."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from icub_learning.arrays import Array
from icub_learning.recursive.covariance import RegularizedCovariance

POWERS = 3
NEGLIGIBLE = 1e-12  # share of the largest eigenvalue below which directions of the subspace count as dependent


def neighbours(covariance: RegularizedCovariance, right: Array, regularizations: Sequence[float]) -> list[Array]:
    """(Z^T Z + l I)^-1 b for rows b and regularizations l near that of the factor, A = Z^T Z + lambda I.

    Powers of A^-1 on b span a subspace that holds nearly all of the solution for every l, because A + (l - lambda) I
    has the same eigenvectors; in it the solution is the one of Galerkin's method (block conjugate gradients, with the
    factor as preconditioner, share one subspace among all shifts). Three powers leave an error below a tenth of the
    solution at l = lambda / 10 or 10 lambda, enough to compare accuracies. For l = lambda the result is exact.

    Args:
        covariance: with one regularization for all coordinates.
        right: (p, d), the rows b.
        regularizations: each > 0.

    Returns:
        For each regularization (p, d).
    """
    now = float(covariance.regularization[0])
    exact = covariance.solve(right)[0]
    if all(value == now for value in regularizations) or not len(right):
        return [exact for _ in regularizations]
    powers, images = [exact], [right]  # and what A makes of each: the one before it
    for _ in range(POWERS - 1):
        images.append(now * powers[-1])
        powers.append(now * covariance.solve(powers[-1])[0])  # times lambda, to keep the lengths alike
    basis, image = np.concatenate(powers), np.concatenate(images)
    lengths = np.linalg.norm(basis, axis=1)
    scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    basis, image = scale * basis, scale * image
    values, vectors = eigh(basis @ basis.T)
    kept = values > NEGLIGIBLE * values[-1]
    turn = (vectors[:, kept] / np.sqrt(values[kept])).T
    basis, image = turn @ basis, turn @ image
    projected, load = basis @ image.T, basis @ right.T
    projected = 0.5 * (projected + projected.T)
    return [
        exact if value == now else np.linalg.solve(projected + (value - now) * np.eye(len(projected)), load).T @ basis
        for value in regularizations
    ]
