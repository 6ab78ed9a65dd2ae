"""A load that is fixed to a link: its inertial parameters with their uncertainty."""

from dataclasses import dataclass

import numpy as np
import pinocchio

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.consistency import LIGHTEST, ConsistentParameters
from icub_learning.dynamics.changes.evidence import Explained

DENSITY = 1000.0  # [kg/m^3] density of the ball that decides what no motion shows: that of water
SCALE_ERROR = 0.03  # relative deviation of a sensor's scale, and of each output's on its own: none is known better
ALIKE = 9.0  # number of blocks that count as one, because a load's motion makes their errors alike
FARTHEST = 0.4  # [m] largest distance of the centre of mass from the link's origin: nothing longer is held by its end


@dataclass(frozen=True)
class Load:
    """What is known of a load."""

    since: int  # stamp of the first sample with it [ns]
    seconds: float  # [s] over which it was observed
    parameters: Array  # (10,) m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the link's origin, in its axes
    covariance: Array  # (10, 10) of the parameters

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.parameters[0])

    @property
    def mass_deviation(self) -> float:
        """Standard deviation of the mass [kg]."""
        return float(np.sqrt(self.covariance[0, 0]))

    @property
    def centre(self) -> Array:
        """Centre of mass (3,) in the frame of the link [m]."""
        return np.asarray(self.parameters[1:4] / max(self.mass, 1e-9))

    @property
    def centre_deviation(self) -> Array:
        """Standard deviations of the centre of mass (3,) [m], to first order."""
        slope = np.column_stack([-self.centre, np.eye(3)]) / max(self.mass, 1e-9)
        return np.asarray(np.sqrt(np.diag(slope @ self.covariance[:4, :4] @ slope.T)))

    @property
    def plausible(self) -> bool:
        """Whether a body could be there: of positive mass, and not far from the link."""
        return self.mass > 0.0 and float(np.linalg.norm(self.centre)) < FARTHEST

    def consistent(self) -> Array:
        """Return the nearest parameters (10,) of a possible body, see ConsistentParameters; a ball's where unknown."""
        mass, centre = max(self.mass, LIGHTEST), self.centre if self.plausible else np.zeros(3)
        radius = (3.0 * mass / (4.0 * np.pi * DENSITY)) ** (1.0 / 3.0)
        ball = pinocchio.Inertia(mass, centre, 0.4 * mass * radius**2 * np.eye(3))
        finder = ConsistentParameters(ball.toDynamicParameters(), np.arange(10)[None])
        return finder.nearest(self.parameters, np.asarray(np.linalg.inv(self.covariance), dtype=np.float64))

    def body(self) -> tuple[float, Array, Array]:
        """Return mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) of a possible body: those estimated,
        where they are plausible, with the inertia of the nearest possible body; else all of this one."""
        nearest = self.consistent()
        if self.plausible:
            return self.mass, self.centre, about_centre(nearest)
        return float(nearest[0]), nearest[1:4] / nearest[0], about_centre(nearest)


class LoadEstimate:
    """Finds a load's parameters by least squares, weighed by the covariance of the usual errors of a block.

    Errors of different blocks count as independent. Whitening over time, as for Evidence, would leave how blocks differ
    from those before. That rests on accelerations, which are known least, and masses had twice the error
    (docs/decisions/2026-11-26-a-push-is-seen-at-once.md). Errors of the outputs' scales move the estimate, too.

    Args:
        deviations: standard deviations (10,) of the parameters before any data.
        usual: (m, m) covariance of the errors of a block.
    """

    def __init__(self, deviations: Array, usual: Array) -> None:
        self._deviations, self._inverse = deviations, np.linalg.inv(usual)
        self._vector = np.zeros(n := len(deviations))
        self._information: Array = np.zeros((len(usual), n, n))  # what each output tells; its sum is symmetric

    def add(self, columns: Array, error: Array) -> None:
        """Add the mean error (m,) of a block with the load, and the columns (m, 10) of its parameters."""
        weighed = columns.T @ self._inverse
        self._information += weighed.T[:, :, None] * columns[:, None]
        self._vector += weighed @ error

    def load(self, since: int, until: int) -> Load:
        """Return what is known of the load that was carried from `since` to `until` [ns], both stamps."""
        found = Explained(self._information.sum(axis=0), self._vector, self._deviations)
        covariance = found.covariance(len(found.mean))
        shifts = np.vstack([found.mean, self._information @ found.mean @ covariance])  # by an error of a scale
        return Load(since, (until - since) * 1e-9, found.mean, ALIKE * covariance + SCALE_ERROR**2 * shifts.T @ shifts)


def about_centre(parameters: Array) -> Array:
    """Return the inertia (3, 3) about the centre of mass of ten inertial parameters (10,) [kg m^2]."""
    return np.array(pinocchio.Inertia.FromDynamicParameters(parameters).inertia)
