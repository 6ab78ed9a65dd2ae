"""Approximate solutions for nearby regularizations from one factor."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from icub_learning.arrays import Array
from icub_learning.recursive.covariance import RegularizedCovariance

POWERS = 3  # of A^-1
NEGLIGIBLE = 1e-12  # eigenvalue of the basis' Gram matrix, over the largest, at which a direction counts as dependent


def shifted_solutions(covariance: RegularizedCovariance, right: Array, regularizations: Sequence[float]) -> list[Array]:
    """Solve (Z^T Z + l I) x = b for regularizations l near lambda, that of the factor of A = Z^T Z + lambda I.

    A + (l - lambda) I has the eigenvectors of A, so powers of A^-1 applied to b span a subspace that holds nearly all
    of the solution for every l, which is found in it by Galerkin's method. Three powers leave an error below a tenth of
    the solution at l = lambda / 10 and 10 lambda, enough to compare accuracies; for l = lambda the result is exact.

    Args:
        covariance: A, with one regularization lambda for all coordinates.
        right: (p, d), the right-hand sides b as rows.
        regularizations: the values l > 0.

    Returns:
        The solutions, (p, d) for each regularization.
    """
    now = float(covariance.regularization[0])
    exact = covariance.solve(right)[0]
    if all(value == now for value in regularizations) or not len(right):
        return [exact for _ in regularizations]
    powers, images = [exact], [right]  # A times a power is the power before it
    for _ in range(POWERS - 1):
        images.append(now * powers[-1])
        powers.append(now * covariance.solve(powers[-1])[0])  # times lambda, so that lengths stay alike
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
