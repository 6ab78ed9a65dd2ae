"""The sources' formulas for Nyström methods, written out with NumPy and scikit-learn alone."""

import mpmath
import numpy as np
from scipy.linalg import lstsq
from sklearn.gaussian_process.kernels import RBF


def stacked_coefficients(x, y, centers, length_scale, regularization):
    """Return argmin ||K_nm a - Y||^2 + lambda n a^T K_mm a by one least squares problem: no squared condition."""
    values, vectors = np.linalg.eigh(RBF(length_scale)(centers))
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    k_nm = RBF(length_scale)(x, centers)
    rows = np.vstack([k_nm, np.sqrt(regularization * len(x)) * root])
    return lstsq(rows, np.concatenate([y, np.zeros((len(centers), *y.shape[1:]))]), lapack_driver="gelsd")[0]


def stacked_prediction(x, y, centers, length_scale, regularization, where):
    """Return predictions (len(where), T) with the coefficients of stacked_coefficients."""
    coefficients = stacked_coefficients(x, y, centers, length_scale, regularization)
    return RBF(length_scale)(where, centers) @ coefficients


def exact_prediction(x, y, centers, length_scale, regularization, where):
    """Return the same for one input and one target with 60 digits, as kernel matrices may be singular with sixteen."""
    with mpmath.workdps(60):

        def kernel(a, b):
            scale = mpmath.mpf(length_scale)
            return mpmath.matrix(
                [[mpmath.exp(-(((mpmath.mpf(p) - mpmath.mpf(q)) / scale) ** 2) / 2) for q in b] for p in a]
            )

        x, centers, where = (np.ravel(values).tolist() for values in (x, centers, where))
        k_nm = kernel(x, centers)
        gram = k_nm.T * k_nm + mpmath.mpf(regularization) * len(x) * kernel(centers, centers)
        coefficients = mpmath.lu_solve(gram, k_nm.T * mpmath.matrix(np.ravel(y).tolist()))
        return np.array((kernel(where, centers) * coefficients).tolist(), dtype=float)[:, 0]


def algorithm_1(x, y, centers, length_scale, regularization):
    """Return alpha_t for t = 1..m by the thesis's algorithm 1 as printed; raise LinAlgError when a downdate fails."""
    kernel, ridge = RBF(length_scale), regularization * len(x)
    features, gram = kernel(x, centers), kernel(centers)
    factor, found = np.zeros((0, 0)), []
    for t in range(len(centers)):
        a = features[:, t]
        c = features[:, :t].T @ a + ridge * gram[:t, t]
        g = np.sqrt(1 + a @ a + ridge)
        grown = np.linalg.qr(np.vstack([np.pad(factor, (0, 1)), np.append(c / (1 + g), g)]), mode="r")
        # Downdated: S with S^T S = R^T R - v v^T; LinAlgError where rounding leaves no such S.
        within = np.linalg.solve(grown.T, np.append(c / (1 + g), -1.0))
        factor = np.linalg.cholesky(np.eye(t + 1) - np.outer(within, within)).T @ grown
        found.append(np.linalg.solve(factor, np.linalg.solve(factor.T, features[:, : t + 1].T @ y)))
    return found
