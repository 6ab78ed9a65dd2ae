"""The physically consistent inertial parameters nearest to estimated ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.link_effects import N_BODY, body_units, from_pseudo_inertia, pseudo_inertia
from icub_learning.errors import ParameterError, ShapeError

DIRECTIONS = np.array([pseudo_inertia(unit) for unit in np.eye(N_BODY)])  # E_k = dP / dparameter_k, (10, 4, 4)
MOST_STEPS = 60  # of Newton's method, which takes some ten
THINNEST = 1e-4  # eigenvalues of a nominal pseudo-inertia, relative to the largest: a plate of 1 % of its length
LIGHTEST = 1e-3  # [kg] of a nominal body: a screw


class ConsistentParameters:
    """Finds parameters with which each link could be a real body: of positive mass everywhere, however distributed.

    A body is possible if and only if its pseudo-inertia P is positive definite (Wensing, Kim and Slotine 2018). From
    estimates x of a weighted least squares problem with information A, minimized is

        (x' - x)^T A (x' - x) / 2  +  sum_i d(P_i || P_i0),
        d(P || P0) = tr(P0^-1 P) - ln det(P0^-1 P) - 4,

    where d, the log-det divergence to nominal bodies (Lee, Wensing and Park, "Geometric robot dynamic identification: a
    convex programming approach", 2020, eq. 26), is infinite at the bounds, and decides what no motion shows; alone, it
    would let a body deviate from its nominal one by about a factor of e. It is convex; Newton's method starts from the
    last answer. Parameters that are no body's, such as offsets, follow freely.

    Args:
        nominal: (n_parameters,) of the URDF; bodies that are not possible are replaced by the nearest that are.
        bodies: (n_bodies, 10) indices of each body's parameters, see `bodies_of`.

    Attributes:
        parameters: (n_parameters,) the last answer; at first the nominal ones.
    """

    def __init__(self, nominal: Array, bodies: NDArray[np.intp]) -> None:
        self._bodies = np.asarray(bodies)
        self.parameters = nominal.copy()
        for body in self._bodies:
            self.parameters[body] = from_pseudo_inertia(possible(pseudo_inertia(nominal[body])))
        self._nominal = self.parameters[self._bodies].copy()
        self._linear = np.einsum("bij,kji->bk", np.linalg.inv(self._pseudo(self.parameters)), DIRECTIONS)
        self._unit = np.ones(len(nominal))
        self._unit[self._bodies] = body_units()

    def nearest(self, estimate: Array, information: Array) -> Array:
        """Return consistent parameters (n_parameters,) for an estimate and its positive semidefinite information A.

        Raises ShapeError, and changes nothing, for arrays of other sizes.
        """
        n = len(self.parameters)
        if estimate.shape != (n,) or information.shape != (n, n):
            raise ShapeError("information", information.shape, f"({n}, {n}), with an estimate ({n},)")
        unit = self._unit
        scaled = information * np.outer(unit, unit)
        free = np.setdiff1d(np.arange(n), self._bodies)
        scaled[free, free] += 1e-12 * max(float(np.trace(scaled)), 1.0)  # where nothing is known, as estimated
        x, target = self.parameters / unit, estimate / unit
        x[free] = target[free]
        value = self._value(x, target, scaled)
        for _ in range(MOST_STEPS):
            try:
                gradient, hessian = self._derivatives(x, target, scaled)
                step = np.linalg.solve(hessian, gradient)
            except np.linalg.LinAlgError:  # samples of absurd size: rounding leaves no direction to go
                break
            # Backtracking (Boyd and Vandenberghe 2004, algorithm 9.2) until nothing falls any more but by rounding.
            fall, new, tried = 0.1 * float(gradient @ step), np.inf, x
            while new > value - fall and value - fall < value:
                tried = x - step
                new, step, fall = self._value(tried, target, scaled), 0.5 * step, 0.5 * fall
            if not new < value:
                break
            x, value = tried, new
        self.parameters = self._inside(x * unit)
        return np.asarray(self.parameters.copy())

    def _inside(self, parameters: Array) -> Array:
        """Move bodies that are possible but for rounding towards nominal ones until they are possible."""
        for body, nominal in zip(self._bodies, self._nominal, strict=True):
            scale = max(parameters[body[0]] / nominal[0], 1.0)  # of masses
            share = 1e-15
            while not is_consistent(parameters[body]) and share < 1.0:
                parameters[body] += share * (scale * nominal - parameters[body])
                share *= 10.0
        return parameters

    def _pseudo(self, parameters: Array) -> Array:
        """(n_bodies, 4, 4)."""
        return np.asarray(np.einsum("bk,kij->bij", parameters[self._bodies], DIRECTIONS))

    def _value(self, x: Array, target: Array, information: Array) -> float:
        parameters, error = x * self._unit, x - target
        try:
            roots = np.linalg.cholesky(self._pseudo(parameters))
        except np.linalg.LinAlgError:
            return float("inf")
        determinants = 2.0 * float(np.log(np.diagonal(roots, axis1=1, axis2=2)).sum())
        divergence = float((self._linear * parameters[self._bodies]).sum()) - determinants
        return 0.5 * float(error @ information @ error) + divergence

    def _derivatives(self, x: Array, target: Array, information: Array) -> tuple[Array, Array]:
        parameters = x * self._unit
        inverse = np.linalg.inv(self._pseudo(parameters))
        along = np.einsum("bij,kjl->bkil", inverse, DIRECTIONS)  # P^-1 E_k
        own = self._linear - np.einsum("bkii->bk", along)
        curvature = np.einsum("bjil,bkli->bjk", along, along)
        gradient, hessian = information @ (x - target), information.copy()
        for body, slope, curve in zip(self._bodies, own, curvature, strict=True):
            unit = self._unit[body]
            gradient[body] += slope * unit
            hessian[np.ix_(body, body)] += curve * np.outer(unit, unit)
        return gradient, hessian


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

    Raises ParameterError if it is not finite.
    """
    if not np.isfinite(pseudo).all():
        raise ParameterError("pseudo_inertia", pseudo.tolist(), "finite")
    unit = 1.0 / body_units()[[1, 2, 3, 0]]  # of three lengths, and of none
    scaled = pseudo * np.outer(unit, unit)
    values, vectors = np.linalg.eigh((scaled + scaled.T) / 2)
    least = max(THINNEST * float(values.max()), THINNEST * LIGHTEST)
    scaled = (vectors * np.maximum(values, least)) @ vectors.T
    if scaled[3, 3] < LIGHTEST:
        scaled[3, 3] += LIGHTEST
    return np.asarray(scaled / np.outer(unit, unit))
