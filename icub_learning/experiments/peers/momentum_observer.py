"""The generalized momentum observer of external joint torques (De Luca and others, IROS 2006)."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.regressor import Regressor

STEP = 1e-4  # [s] along the velocity, of the difference that gives the change of the inertia


def momentum_rows(regressor: Regressor, q: Array, v: Array) -> tuple[Array, Array]:
    """Return rows (n, n_parameters) of the momentum M v and of its rate without joint torques, dM/dt v - n(q, v).

    n holds Coriolis and gravity terms and friction. Since dM/dt v - C v = C' v, this is the observer's model term,
    linear in the parameters as all of it is.
    """
    zero = np.zeros_like(v)

    def momentum(at: Array) -> Array:
        return np.asarray(regressor(at, zero, v) - regressor(at, zero, zero))

    change = (momentum(q + STEP * v) - momentum(q - STEP * v)) / (2.0 * STEP)
    return momentum(q), change - regressor(q, v, zero)


class MomentumObserver:
    """r = K (p(t) - p(0) - integral of (torque + model term + r)): external torques, low-passed by the gain K [1/s]."""

    def __init__(self, gain: float) -> None:
        self._gain = gain
        self._start: Array | None = None
        self._sum = self._force = self.residual = np.zeros(0)

    def update(self, momentum: Array, rate: Array, torque: Array, step: float) -> Array:
        """Return the residual (n,) [N m], `step` seconds after that before; `momentum`, `rate`: by parameters."""
        force = torque + rate
        if self._start is None:
            self._start, self._force = momentum, force
            self._sum, self.residual = np.zeros((2, len(momentum)))
            return self.residual
        # With r taken at the end of the step the observer is stable whatever the gain.
        self._sum, self._force = self._sum + 0.5 * (self._force + force) * step, force
        self.residual = self._gain * (momentum - self._start - self._sum) / (1.0 + self._gain * step)
        self._sum = self._sum + self.residual * step
        return self.residual
