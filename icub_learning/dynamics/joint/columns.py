"""The entries of a regressor that a joint model learns: those that do not follow from the others."""

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.regressor import SPARE, Regressor, base_columns, base_projection

LEAST_STATES = 200  # least number of states sampled: of one joint, too, some are slow enough for Stribeck friction


class BaseColumns:
    """Identifiable columns of a regressor, and the prior of their coefficients.

    With the base projection B (n_base, n_parameters) in reduced row echelon form, Y pi = Y_b beta with beta = B pi, and
    Y_b those columns of Y at which the rows of B begin (Gautier and Khalil 1990). A prior pi ~ N(pi_0, D^-1) of all
    parameters is N(B pi_0, B D^-1 B') of beta; with L L' = B D^-1 B' and beta = B pi_0 + L gamma, that of gamma is
    N(0, I). The most probable parameters given gamma are pi_0 + D^-1 B' L'^-1 gamma.

    Entries of Y_b that are linear combinations of others in every motion, as the two halves of a cross product are, are
    not learned: those that are learned are the reduced row echelon form of all, as functions of the motion.

    Args:
        precision: (n_parameters,) diagonal of D.
        start: (n_parameters,) pi_0.

    Attributes:
        kept: (n_base,) indices of the columns Y_b.
        entries: (n_entries,) indices in Y_b, row by row, of the entries that are learned.
        outputs, places, sources, scales: (n_terms,) each: Y_b is the sum of `scales` times learned entries `sources`,
            each at its row and column; in the order of sources.
        root, back: L (n_base, n_base) and D^-1 B' L'^-1 (n_parameters, n_base).
        memory: the arrays that compiled functions read.
    """

    def __init__(self, regressor: Regressor, precision: Array, start: Array) -> None:
        projection = regressor.base_projection
        self.kept: NDArray[np.intp] = base_columns(projection)
        self.start = start.copy()
        spread = projection.T / precision[:, None]  # D^-1 B'
        self.root = np.linalg.cholesky(projection @ spread)
        self.back = np.ascontiguousarray(solve_triangular(self.root, spread.T, lower=True).T)
        learned = _independent_entries(regressor)
        self.entries: NDArray[np.intp] = base_columns(learned)
        self.sources, flat = np.nonzero(learned)
        self.outputs, self.places = np.divmod(flat, len(self.kept))
        self.scales: Array = learned[self.sources, flat]
        terms = self.outputs, self.places, self.sources, self.scales
        self.memory = self.entries, *map(np.ascontiguousarray, terms), self.root, projection @ start

    def of(self, rows: Array) -> Array:
        """Return Y_b (n_outputs, n_base) of the regressor's rows (n_outputs, n_parameters)."""
        return rows.take(self.kept, axis=1)


# Independent entries of the regressors in use: a model, its copies and models restored for it share a regressor.
_KNOWN: WeakKeyDictionary[Regressor, Array] = WeakKeyDictionary()


def _independent_entries(regressor: Regressor) -> Array:
    """Return the row echelon form (n_entries, n_outputs n_base) of the entries of Y_b as functions of the motion."""
    if regressor not in _KNOWN:
        kept = base_columns(regressor.base_projection)
        size = regressor.n_outputs * len(kept)

        def entries(*motion: Array) -> Array:
            return regressor(*motion).take(kept, axis=1).reshape(1, -1)

        _KNOWN[regressor] = base_projection(entries, regressor.n_joints, size, n_states=max(size + SPARE, LEAST_STATES))
    return _KNOWN[regressor]
