"""The columns of a regressor that a joint model learns: those that can be identified, each where it is not zero."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.regressor import Regressor

N_SAMPLES = 20  # random motions that show which entries of a regressor are always zero
STRUCTURAL = 1e-12  # of a column's largest entry: what rounding leaves of a zero


class BaseColumns:
    """Identifiable columns of a regressor, and the prior of their coefficients.

    With the base projection B (n_base, n_parameters) in reduced row echelon form, Y pi = Y_b beta with beta = B pi, and
    Y_b those columns of Y at which the rows of B begin (Gautier and Khalil 1990). A prior pi ~ N(pi_0, D^-1) of all
    parameters is the prior N(B pi_0, B D^-1 B') of beta; with L L' = B D^-1 B' and beta = B pi_0 + L gamma, that of
    gamma is N(0, I). The most probable parameters given gamma are pi_0 + D^-1 B' L'^-1 gamma.

    Args:
        regressor: the regressor.
        precision: (n_parameters,) diagonal of D.
        start: (n_parameters,) pi_0.

    Attributes:
        kept: (n_base,) indices of the columns Y_b.
        outputs, places: (n_entries,) each: row and column of the entries of Y_b that are not zero by structure.
        entries: (n_entries,) indices of the same entries in Y_b, row by row.
        projection: (n_base, n_parameters) B.
        offset: (n_base,) B pi_0.
        start: as given.
        root: (n_base, n_base) L.
        back: (n_parameters, n_base), D^-1 B' L'^-1.
    """

    def __init__(self, regressor: Regressor, precision: Array, start: Array) -> None:
        self.projection: Array = regressor.base_projection
        self.kept: NDArray[np.intp] = np.argmax(self.projection != 0.0, axis=1)
        self.start = start.copy()
        spread = self.projection.T / precision[:, None]  # D^-1 B'
        self.root = np.linalg.cholesky(self.projection @ spread)
        self.back = solve_triangular(self.root, spread.T, lower=True).T
        self.offset: Array = self.projection @ start
        self.outputs, self.places = map(np.ascontiguousarray, np.nonzero(_pattern(regressor, self.kept)))
        self.entries: NDArray[np.intp] = self.outputs * len(self.kept) + self.places

    def of(self, rows: Array) -> Array:
        """Return Y_b (n_outputs, n_base) of the regressor's rows (n_outputs, n_parameters)."""
        return np.take(rows, self.kept, axis=1)

    def parameters(self, gamma: Array) -> Array:
        """Return the most probable parameters (n_parameters,)."""
        return np.asarray(self.start + self.back @ gamma)

    def coefficients(self, gamma: Array) -> Array:
        """Return beta (n_base,)."""
        return np.asarray(self.offset + self.root @ gamma)


def _pattern(regressor: Regressor, kept: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which entries of the kept columns are not zero in every motion, (n_outputs, n_base)."""
    random: Any = np.random.default_rng(0)
    n = regressor.n_joints
    largest = np.zeros((regressor.n_outputs, len(kept)))
    for _ in range(N_SAMPLES):
        motion = random.uniform(-3.0, 3.0, n), random.normal(0.0, 3.0, n), random.normal(0.0, 10.0, n)
        largest = np.maximum(largest, np.abs(regressor(*motion)[:, kept]))
    return np.asarray(largest > STRUCTURAL * largest.max(axis=0))
