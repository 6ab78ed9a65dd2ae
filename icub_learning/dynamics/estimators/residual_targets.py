"""What the residual of a rigid-body model is learned as, so that it stays true while the parameters still move."""

from itertools import pairwise

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.regressor import Regressor

N_TRIALS = 8  # random states at which an entry of the regressor must be zero to count as always zero
ROUNDING = 1e-12  # relative to the largest entry of its column


class ResidualTargets:
    """Splits the residual y - Phi pi into targets that do not depend on the parameters pi.

    A linear learner that maps features z to targets answers for y - Phi pi what it answers for y minus what it answers
    for Phi, times pi: both are linear in the targets. So it learns y and the entries of Phi, and the residual of all
    past samples is seen under today's pi, although none of them is kept. (As the thesis has it, fig. 8.2, each sample's
    residual stays that of the pi of its own time, and while pi moves the learner averages residuals of several models.)

    Entries of Phi that are zero whatever the joints do (a joint's torque does not depend on the links before it) are
    left out.

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
        """Targets (n_targets,) of one sample: y (n_outputs,) and the regressor's rows (n_outputs, n_parameters)."""
        return np.concatenate([y, rows[self._output, self._parameter]])

    def residual_weights(self, weights: Array, parameters: Array) -> Array:
        """Weights (n_outputs, d) of the residual under `parameters`, from those of the targets (n_targets, d)."""
        of_residual = weights[: self._n_outputs].copy()
        for output, entries in enumerate(self._entries):
            of_residual[output] -= parameters[self._parameter[entries]] @ weights[self._n_outputs :][entries]
        return of_residual


class SequentialTargets:
    """The residual of each sample as it was when the sample came, y - Phi pi (fig. 8.2).

    For a learner that is not linear in its targets, or chooses what it keeps by their size: it may not be told that y
    and Phi were its targets. What it learned while pi still moved fades only as it learns on.
    """

    def __init__(self, regressor: Regressor) -> None:
        self.n_targets = regressor.n_outputs

    def split(self, y: Array, _rows: Array, predicted: Array) -> Array:
        """The residual (n_outputs,) of y, where rigid bodies predicted (n_outputs,)."""
        return y - predicted

    def residual_weights(self, weights: Array, _parameters: Array) -> Array:
        """The weights (n_outputs, d) themselves: they are those of the residual."""
        return weights.copy()
