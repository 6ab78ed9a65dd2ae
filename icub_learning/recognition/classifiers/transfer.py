"""What is known of similar classes, for a class of which few views are known."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from icub_learning.arrays import Array


def ridge_coefficients(
    gram: Array, targets: NDArray[np.intp], n_classes: int, regularization: float, transfer: float = 0.0
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

    Returns:
        (n, T), so that the kernel (m, n) of other views times them are their scores.
    """
    regularized = gram.copy()
    regularized.flat[:: len(gram) + 1] += regularization
    factor = cho_factor(regularized.T, overwrite_a=True, check_finite=False)  # symmetric; columns are not copied
    indicators = np.eye(n_classes)[targets]
    if transfer == 0.0:
        return np.asarray(cho_solve(factor, indicators, check_finite=False))
    inverse = cho_solve(factor, np.eye(len(gram)), check_finite=False)
    plain = inverse @ indicators
    priors = np.zeros_like(plain)
    for index in np.unique(targets):
        own = targets == index
        scores = -np.linalg.solve(inverse[np.ix_(own, own)], plain[own])
        scores[:, index] = 0.0
        similar = scores.mean(axis=0)
        priors[:, index] = plain @ similar + inverse[:, own] @ (scores @ similar)
    return np.asarray(plain + transfer * regularization * (inverse @ priors))
