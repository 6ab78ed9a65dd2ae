"""What is known of similar classes, for a class of which few views are known."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri

from icub_learning.arrays import Array
from icub_learning.recognition.classifiers.workspace import Workspace, gathered


def ridge_coefficients(
    gram: Array, targets: NDArray[np.intp], n_classes: int, regularization: float, transfer: float, workspace: Workspace
) -> Array:
    """Return the coefficients of kernel ridge regression of class indicators, with transfer between classes.

    Regularization draws the function f_t of class t towards 0. With transfer it is drawn towards
    g_t = p sum_(s != t) a_s h_s instead, a combination of the functions h_s of the other classes, learned from their
    views alone, with their mean scores a_s on the views of t: f_t minimizes sum_i (y_i - f_t(x_i))^2 +
    lambda ||f_t - g_t||^2. A class that looks like others is thus expected among them, until its own views say more;
    see the outlook of the thesis, and Kuzborskij, Orabona and Caputo, "From N to N+1: multiclass transfer incremental
    learning", CVPR 2013.

    With A = (K + lambda I)^-1, the rows B of class t, and C = A Y, the machine without t has the coefficients
    C - A_(:,B) A_BB^-1 C_B and the scores -A_BB^-1 C_B on the views of t, so no machine is trained for each class.

    Args:
        gram: (n, n) kernel of the views.
        targets: (n,) indices of their classes.
        n_classes: T.
        regularization: lambda > 0.
        transfer: p in [0, 1]; 0: none.
        workspace: memory of n^2 numbers, or with transfer 2 n^2.

    Returns:
        (n, T), so that the kernel (m, n) of other views times them are their scores.
    """
    n = len(gram)
    with workspace.scratch():
        regularized = workspace.take(n, n)
        regularized[:] = gram
        regularized.flat[:: n + 1] += regularization
        factor, lower = cho_factor(regularized.T, overwrite_a=True, check_finite=False)  # symmetric; columns: in place
        indicators = np.eye(n_classes)[targets]
        plain = np.asarray(cho_solve((factor, lower), indicators, check_finite=False))
        if transfer == 0.0:
            return plain
        inverse = _inverse(factor, lower)
        priors = np.zeros_like(plain)
        for index in np.unique(targets):
            own = np.flatnonzero(targets == index)
            scores = -_solved(inverse, own, plain[own], workspace)
            scores[:, index] = 0.0
            similar = scores.mean(axis=0)
            residual = np.zeros(n)
            residual[own] = scores @ similar
            priors[:, index] = plain @ similar + inverse @ residual
        return np.asarray(plain + transfer * regularization * (inverse @ priors))


def _inverse(factor: Array, lower: bool) -> Array:
    """Return the inverse (n, n) of a matrix in the place of its Cholesky factor, of which columns follow each other."""
    inverse, _ = dpotri(factor, lower=lower, overwrite_c=1)
    for place in range(len(inverse)):  # of which one half was computed
        if lower:
            inverse[place, place + 1 :] = inverse[place + 1 :, place]
        else:
            inverse[place + 1 :, place] = inverse[place, place + 1 :]
    return np.asarray(inverse)


def _solved(matrix: Array, places: NDArray[np.intp], right: Array, workspace: Workspace) -> Array:
    """Return the solution of the block of a positive definite matrix at `places`."""
    with workspace.scratch():
        block = gathered(matrix, places, places, workspace.take(len(places), len(places)))
        return np.asarray(
            cho_solve(cho_factor(block.T, overwrite_a=True, check_finite=False), right, check_finite=False)
        )
