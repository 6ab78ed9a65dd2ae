"""The physically consistent inertial parameters nearest to estimated ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.link_effects import N_BODY, body_units, from_pseudo_inertia, pseudo_inertia
from icub_learning.errors import ParameterError, ShapeError

DIRECTIONS = np.array([pseudo_inertia(unit) for unit in np.eye(N_BODY)])  # E_k = dP / dparameter_k, (10, 4, 4)
# Share of the distance to the bounds, and of their weight mu, that a step leaves; 0.03 takes as many, 0.3 a third more.
FALL = 0.1
CENTRED = 1e-5  # largest deviation of an eigenvalue of P Z from 1 at the end: the minimum to some ten digits
MOST_STEPS = 60  # largest number of steps: it takes ten to twenty, unless samples are of absurd size
THINNEST = 1e-4  # least eigenvalue of a nominal pseudo-inertia over the largest: a plate of 1 % of its length
LIGHTEST = 1e-3  # [kg] least mass of a nominal body: a screw


class ConsistentParameters:
    """Finds parameters with which each link could be a real body: of positive mass everywhere, however distributed.

    A body is possible if and only if its pseudo-inertia P is positive definite (Wensing, Kim and Slotine 2018). For the
    estimate x of a weighted least squares problem with information A, the consistent x' minimizes

        (x' - x)^T A (x' - x) / 2  +  sum_i d(P_i || P_i0),
        d(P || P0) = tr(P0^-1 P) - ln det(P0^-1 P) - 4,

    where d, the log-det divergence to nominal bodies (Lee, Wensing and Park, "Geometric robot dynamic identification: a
    convex programming approach", 2020, eq. 26), is infinite at the bounds, and decides what no motion shows; alone, it
    would let a body deviate from its nominal one by about a factor of e. Parameters that belong to no
    body, such as offsets, follow freely.

    This is convex, but where much was learned the minimum lies so near to the bounds that Newton's method takes
    thousands of steps. So the weight mu of ln det P falls from large to 1 in a primal-dual interior point method:
    with Z for mu P^-1, the steps of x and Z are those of Newton's method for

        A (x' - x) + E*(P0^-1 - Z) = 0,    P Z = mu I,

    of which the second is linearized as in Kojima, Shindoh and Hara (SIAM Journal on Optimization 7, 1997).

    Args:
        nominal: (n_parameters,) from the URDF; bodies that are not possible are replaced by the nearest that are.
        bodies: (n_bodies, 10) indices of each body's parameters, see `bodies_of`.
    """

    def __init__(self, nominal: Array, bodies: NDArray[np.intp]) -> None:
        self._bodies = np.asarray(bodies)
        self._blocks = self._bodies[:, :, None], self._bodies[:, None, :]
        self._start = nominal.copy()
        for body in self._bodies:
            self._start[body] = from_pseudo_inertia(possible(pseudo_inertia(nominal[body])))
        self._free, self._unit = np.setdiff1d(np.arange(len(nominal)), self._bodies), np.ones(len(nominal))
        self._unit[self._bodies] = body_units()
        self._directions = DIRECTIONS * body_units()[:, None, None]  # E_k in units of the parameters
        self._inverse = np.linalg.inv(self._pseudo(self._start / self._unit))  # P0^-1, (n_bodies, 4, 4)

    def nearest(self, estimate: Array, information: Array) -> Array:
        """Return consistent parameters (n_parameters,) for an estimate and its positive semidefinite information A.
        Raises ShapeError for arrays of other sizes."""
        n, free = len(self._unit), self._free
        if estimate.shape != (n,) or information.shape != (n, n):
            raise ShapeError("information", information.shape, f"({n}, {n}), with an estimate ({n},)")
        scaled = information * np.outer(self._unit, self._unit)
        scaled[free, free] += 1e-12 * max(float(np.trace(scaled)), 1.0)  # unknown ones stay as estimated
        target = estimate / self._unit
        with np.errstate(all="ignore"):
            return self._inside(self._minimum(target, scaled) * self._unit)

    def _minimum(self, target: Array, scaled: Array) -> Array:
        """Return the minimum in units of the parameters; where samples of absurd size overflow, the last step."""
        x, mu = self._first(target, scaled)
        pseudo, feasible = self._pseudo(x), False
        dual = np.asarray(mu * np.linalg.inv(pseudo))
        for _ in range(MOST_STEPS):
            mu = max(FALL * mu, 1.0) if feasible else mu
            try:
                step, dual_step = self._steps(scaled @ (x - target), scaled, pseudo, dual, mu)
                length = min(1.0, (1.0 - FALL) * min(_to_bound(pseudo, self._pseudo(step)), _to_bound(dual, dual_step)))
                tried, dual = x + length * step, dual + length * dual_step
                pseudo = self._pseudo(tried)
                products = np.linalg.eigvals(pseudo @ dual).real
            except np.linalg.LinAlgError:  # rounding leaves no direction to go
                break
            if not np.isfinite(products).all():
                break
            x, feasible = tried, feasible or length == 1.0  # the first equation is linear: one whole step solves it
            if mu == length == 1.0 and np.abs(products - 1.0).max() < CENTRED:
                break
            mu = max(float(products.mean()), 1.0)
        return x

    def _first(self, target: Array, information: Array) -> tuple[Array, float]:
        """Return the start: x, nominal bodies times the best factor, and mu, a tenth of what the data add there."""
        bodies = self._start / self._unit
        bodies[self._free] = 0.0
        x = bodies.copy()
        x[self._free] = target[self._free]
        mu = max(0.1 * 0.5 * float((x - target) @ information @ (x - target)), 1.0)
        square, slope = bodies @ information @ bodies, bodies @ information @ (target - x + bodies)
        factor = (slope + np.hypot(slope, 4.0 * np.sqrt(square * len(self._bodies) * mu))) / (2.0 * square)
        return (x + bodies * (factor - 1.0) if np.isfinite(factor) else x), mu

    def _steps(self, slope: Array, information: Array, pseudo: Array, dual: Array, mu: float) -> tuple[Array, Array]:
        """Return the steps of x and Z, (n_parameters,) and (n_bodies, 4, 4); slope: A (x' - x)."""
        inverse, directions, shape = np.linalg.inv(pseudo), self._directions, (len(pseudo), N_BODY, 16)
        left = (inverse[:, None] @ directions).swapaxes(2, 3).reshape(shape)
        hessian = information.copy()
        hessian[self._blocks] += (dual[:, None] @ directions).reshape(shape) @ left.swapaxes(1, 2)
        right = -slope
        right[self._bodies] -= (self._inverse - mu * inverse).reshape(-1, 16) @ directions.reshape(N_BODY, 16).T
        step = np.linalg.solve(hessian, right)
        product = inverse @ self._pseudo(step) @ dual
        return step, mu * inverse - dual - 0.5 * (product + product.swapaxes(1, 2))

    def _inside(self, parameters: Array) -> Array:
        """Move bodies that are possible but for rounding towards nominal ones until they are possible."""
        for body in self._bodies:
            nominal = self._start[body]
            scale = max(parameters[body[0]] / nominal[0], 1.0)  # ratio of the masses
            share = 1e-15
            while not is_consistent(parameters[body]) and share < 1.0:
                parameters[body] += share * (scale * nominal - parameters[body])
                share *= 10.0
        return parameters

    def _pseudo(self, x: Array) -> Array:
        """Return the pseudo-inertias (n_bodies, 4, 4) of parameters that are divided by `body_units`."""
        return np.asarray(np.einsum("bk,kij->bij", x[self._bodies], self._directions))


def _to_bound(values: Array, steps: Array) -> float:
    """Return the length at which values + length * steps, (n, 4, 4), is no longer positive definite; inf if none is."""
    root = np.linalg.inv(np.linalg.cholesky(values))
    least = float(np.linalg.eigvalsh(root @ steps @ root.swapaxes(1, 2)).min())
    return -1.0 / least if least < 0.0 else np.inf


def consistent_part(estimator: Any, finder: ConsistentParameters) -> Array | None:
    """Return the consistent parameters nearest to those that an estimator has learned; None if it learns none."""
    rigid = getattr(estimator, "parametric", estimator)
    information = getattr(rigid, "information", None)
    return None if information is None else finder.nearest(rigid.parameters, information)


def bodies_of(names: Sequence[str]) -> NDArray[np.intp]:
    """Return the indices (n_bodies, 10) of the inertial parameters of each body among the names of parameters."""
    first = [index for index, name in enumerate(names) if name.endswith(".m")]
    return np.array(first, dtype=np.intp)[:, None] + np.arange(N_BODY)


def is_consistent(parameters: Array) -> bool:
    """Return whether ten inertial parameters (10,) are those of a possible body."""
    try:
        np.linalg.cholesky(pseudo_inertia(parameters))
    except np.linalg.LinAlgError:
        return False
    return True


def possible(pseudo: Array) -> Array:
    """Return a pseudo-inertia (4, 4), made positive definite where it is not: a massless link becomes a light ball.
    Raises ParameterError if it is not finite."""
    if not np.isfinite(pseudo).all():
        raise ParameterError("pseudo_inertia", pseudo.tolist(), "finite")
    unit = 1.0 / body_units()[[1, 2, 3, 0]]  # 1 / UNIT_LENGTH for three axes, 1 for the last
    scaled = pseudo * np.outer(unit, unit)
    values, vectors = np.linalg.eigh((scaled + scaled.T) / 2)
    scaled = (vectors * np.maximum(values, max(THINNEST * float(values.max()), THINNEST * LIGHTEST))) @ vectors.T
    if scaled[3, 3] < LIGHTEST:
        scaled[3, 3] += LIGHTEST
    return np.asarray(scaled / np.outer(unit, unit))
