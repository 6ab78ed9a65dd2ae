"""Targets from which the residual of a rigid-body model is learned while its parameters still change."""

from itertools import pairwise

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.regressor import Regressor

N_TRIALS = 8  # random states at which an entry of the regressor must be zero to count as always zero
ROUNDING = 1e-12  # relative to the largest entry of its column


class ResidualTargets:
    """Splits the residual y - Phi pi into targets that do not depend on the parameters pi.

    The predictions of a linear learner are linear in its targets: its prediction of y - Phi pi is its prediction of y
    minus that of Phi, times pi. So it learns y and the entries of Phi as targets, and the residuals of all past samples
    are those of the current pi, although no sample is stored. (In the thesis, fig. 8.2, each sample's residual stays
    that of the pi of its own time, and while pi changes the learner averages residuals of several models.)

    Entries of Phi that are zero for every motion (a joint's torque does not depend on the links before it) are left
    out.

    Args:
        regressor: a WrenchRegressor or TorqueRegressor.
    """

    def __init__(self, regressor: Regressor) -> None:
        self._n_outputs = regressor.n_outputs
        random = np.random.default_rng(0)
        trials = [np.abs(regressor(*random.normal(size=(3, regressor.n_joints)))) for _ in range(N_TRIALS)]
        largest = np.max(trials, axis=0)
        self._output, self._parameter = np.nonzero(largest > ROUNDING * largest.max(axis=0))
        self.n_targets = self._n_outputs + len(self._output)
        ends = np.searchsorted(self._output, np.arange(self._n_outputs + 1))
        self._entries = [slice(*pair) for pair in pairwise(ends.tolist())]  # of each output

    def split(self, y: Array, rows: Array, _predicted: Array) -> Array:
        """Return the targets (n_targets,) of y (n_outputs,) and regressor rows (n_outputs, n_parameters)."""
        return np.concatenate([y, rows[self._output, self._parameter]])

    def residual_weights(self, weights: Array, parameters: Array) -> Array:
        """Return the residual's weights (n_outputs, d) under `parameters` from those of the targets (n_targets, d).

        The map is linear: values of the targets in place of weights give values of the residual.
        """
        of_residual: Array = weights[: self._n_outputs].copy()
        for output, entries in enumerate(self._entries):
            of_residual[output] -= parameters[self._parameter[entries]] @ weights[self._n_outputs :][entries]
        return of_residual


class SequentialTargets:
    """The residual y - Phi pi of each sample under the parameters of its own time (thesis, fig. 8.2).

    For learners that are not linear in their targets, and for the method as it was published. What they learned while
    pi still changed fades only as they learn on.
    """

    def __init__(self, regressor: Regressor) -> None:
        self.n_targets = regressor.n_outputs

    def split(self, y: Array, _rows: Array, predicted: Array) -> Array:
        """Return the residual (n_outputs,) of y, for the parametric prediction (n_outputs,)."""
        return y - predicted

    def residual_weights(self, weights: Array, _parameters: Array) -> Array:
        """Return a copy of the weights (n_outputs, d): the targets are the residual."""
        copy: Array = weights.copy()
        return copy
