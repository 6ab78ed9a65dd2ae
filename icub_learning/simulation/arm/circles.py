"""Joint-space paths that lead the hand along a circle, and slow variation between several such paths.

Inverse kinematics point by point runs into joint limits in these planes and leaves a kink in the path. Here the whole
closed path is one problem for damped Gauss-Newton, with penalties on high harmonics (smoothness), on positions closer
to the limits than a margin, and weakly on the distance from a posture.
"""

from dataclasses import dataclass

import numpy as np
import pinocchio
from scipy.linalg import cho_factor, cho_solve

from icub_learning.arrays import Array
from icub_learning.errors import SimulationError
from icub_learning.simulation.arm.arm_model import ArmModel

N_HARMONICS = 8  # number of harmonics of a path's Fourier series
LIMIT_MARGIN = np.deg2rad(2.5)  # [rad] desired distance from the joint limits; a path may come as close as half of it
_N_POINTS = 64  # number of points along the circle
_LIMIT_WEIGHT = 1.0  # [m/rad] weight of positions within the margin
_POSTURE_WEIGHT = 1e-3  # [m/rad] weight of the distance from the posture
_SMOOTHNESS_WEIGHT = 5e-4  # [m/rad] weight of a harmonic, multiplied by the square of its order
_MAX_ITERATIONS = 60

# Centre [m], second axis and posture [deg] of the right arm by task: circles of 10 cm radius stay within the joint
# limits with the torso upright.
CIRCLES = {
    "circle_xy": (np.array([-0.150, 0.110, -0.100]), [0.0, 1.0, 0.0], [6.0, 47.0, 77.0, 84.0, -39.0, 8.0, 5.0]),
    "circle_xz": (np.array([-0.081, 0.292, 0.375]), [0.0, 0.0, 1.0], [-60.0, 148.0, 45.0, 91.0, -12.0, -11.0, 3.0]),
}


@dataclass(frozen=True)
class Circle:
    """A circle for the hand, in the root frame."""

    center: Array  # (3,) [m]
    axes: Array  # (2, 3) unit vectors: the hand is at center + radius * (cos(phase) * axes[0] + sin(phase) * axes[1])
    radius: float  # [m]
    posture: Array  # (n_joints,) joint positions that the path stays close to [rad]

    def points(self, phases: Array) -> Array:
        """Return the positions of the hand (n, 3) [m] at `phases` (n,) [rad]."""
        return self.center + self.radius * np.stack([np.cos(phases), np.sin(phases)], axis=-1) @ self.axes


def circle(task: str, side: str, radius: float) -> Circle:
    """Return the circle of task "circle_xy" (transverse plane) or "circle_xz" (sagittal plane) for one arm."""
    center, second, posture = CIRCLES[task]
    # Equal joint positions give mirrored positions of the hand.
    mirror = np.array([1.0, 1.0 if side == "right" else -1.0, 1.0])
    return Circle(center * mirror, np.stack([[1.0, 0.0, 0.0], second * mirror]), radius, np.deg2rad(posture))


def solve_circle_path(arm: ArmModel, target: Circle, start: Array | None = None) -> Array:
    """Return the Fourier coefficients (2 * N_HARMONICS + 1, n_joints) of the joint path for `target`.

    The search starts from `start`, or from the posture of the circle. Raises SimulationError: the path comes too close
    to joint limits.
    """
    problem = _PathProblem(arm, target)
    if start is None:
        start = np.zeros(problem.shape)
        start[0] = target.posture
    coefficients, damping = start, 1e-3
    cost, gradient, hessian = problem.evaluate(coefficients)
    for _ in range(_MAX_ITERATIONS):
        damped = hessian + damping * np.eye(len(hessian))
        candidate = coefficients - cho_solve(cho_factor(damped), gradient).reshape(coefficients.shape)
        new_cost, new_gradient, new_hessian = problem.evaluate(candidate)
        if new_cost > cost:
            damping *= 5
            continue
        converged = cost - new_cost < 1e-6 * cost
        coefficients, cost, gradient, hessian = candidate, new_cost, new_gradient, new_hessian
        damping = max(damping / 5, 1e-9)
        if converged:
            break
    problem.check_limits(coefficients)
    return coefficients


class _PathProblem:
    """Cost, gradient and Gauss-Newton matrix of a path as functions of its Fourier coefficients."""

    def __init__(self, arm: ArmModel, target: Circle) -> None:
        phases, self.target = 2 * np.pi * np.arange(_N_POINTS) / _N_POINTS, target
        self.goals = target.points(phases)
        self.values, self.limits = fourier_basis(phases)[0], arm.limits
        self.robot = arm.kinematics
        self.frame = self.robot.frame_of(arm.hand)
        self.shape = (self.values.shape[1], len(target.posture))
        harmonics = np.arange(1.0, N_HARMONICS + 1)
        orders = np.concatenate([[0.0], harmonics, harmonics])
        self.stiffness = _N_POINTS * (_SMOOTHNESS_WEIGHT * orders**2) ** 2

    def evaluate(self, coefficients: Array) -> tuple[float, Array, Array]:
        size, n_joints = self.shape
        positions = self.values @ coefficients
        errors, jacobians = self._kinematics(positions)
        low, high = self.limits
        beyond = np.maximum(0.0, positions - high + LIMIT_MARGIN) - np.maximum(0.0, low + LIMIT_MARGIN - positions)
        away = positions - self.target.posture
        cost = (errors**2).sum() + (self.stiffness[:, None] * coefficients**2).sum()
        cost += (_LIMIT_WEIGHT * beyond**2).sum() + (_POSTURE_WEIGHT**2 * away**2).sum()

        rows = np.einsum("ik,ixj->ixkj", self.values, jacobians).reshape(-1, size * n_joints)
        gradient = (rows.T @ errors.ravel()).reshape(size, n_joints)
        gradient += self.stiffness[:, None] * coefficients
        gradient += self.values.T @ (_LIMIT_WEIGHT * beyond + _POSTURE_WEIGHT**2 * away)
        hessian = (rows.T @ rows).reshape(size, n_joints, size, n_joints)
        weights = _LIMIT_WEIGHT * (beyond != 0) + _POSTURE_WEIGHT**2
        for joint in range(n_joints):
            hessian[:, joint, :, joint] += (self.values * weights[:, joint, None]).T @ self.values
            hessian[:, joint, :, joint] += np.diag(self.stiffness)
        return float(cost), gradient.ravel(), hessian.reshape(size * n_joints, size * n_joints)

    def _kinematics(self, positions: Array) -> tuple[Array, Array]:
        errors, jacobians = np.empty((_N_POINTS, 3)), np.empty((_N_POINTS, 3, positions.shape[1]))
        model, data = self.robot.model, self.robot.data
        for i, q in enumerate(positions):
            pinocchio.computeJointJacobians(model, data, q)
            pinocchio.updateFramePlacement(model, data, self.frame)
            errors[i] = data.oMf[self.frame].translation - self.goals[i]
            jacobians[i] = pinocchio.getFrameJacobian(model, data, self.frame, pinocchio.LOCAL_WORLD_ALIGNED)[:3]
        return errors, jacobians

    def check_limits(self, coefficients: Array) -> None:
        positions = self.values @ coefficients
        low, high = self.limits
        room = float(np.minimum(positions - low, high - positions).min())
        if room < 0.5 * LIMIT_MARGIN:
            message = f"the path for a circle about {self.target.center} comes within {room:.3f} rad of a joint limit"
            raise SimulationError(message, name="circle", value=room, bound=f"at least {0.5 * LIMIT_MARGIN:.3f} rad")


def fourier_basis(phases: Array) -> Array:
    """Return 1, cos(h phi), sin(h phi) for h = 1 .. N_HARMONICS, at phases (n,) [rad], (3, n, 2 * N_HARMONICS + 1).

    The first axis holds the values, and their first and second derivatives with respect to phi.
    """
    h = np.arange(1.0, N_HARMONICS + 1)
    angles = np.multiply.outer(phases, h)
    cos, sin = np.cos(angles), np.sin(angles)
    basis = np.zeros((3, len(phases), 2 * N_HARMONICS + 1))
    basis[0, :, 0] = 1.0
    basis[:, :, 1 : N_HARMONICS + 1] = cos, -h * sin, -h * h * cos
    basis[:, :, N_HARMONICS + 1 :] = sin, h * cos, -h * h * sin
    return basis


class VariedPath:
    """A closed path whose shape varies between a main path and its variants.

    Positions are convex combinations of points of the paths, so they keep all joint limits that the paths keep. The
    coefficients are (1 + n_variants, 2 * N_HARMONICS + 1, n_joints), the main path first.
    """

    def __init__(self, coefficients: Array) -> None:
        self._n_paths, size, self._n_joints = coefficients.shape
        self._flat = np.ascontiguousarray(coefficients.transpose(1, 0, 2).reshape(size, -1))

    def __call__(self, phase: Array, shape: Array) -> tuple[Array, Array, Array]:
        """Return joint positions, velocities and accelerations, (n, n_joints) each, at a `phase` (3, n) along the path
        [rad] with its first two time derivatives. `shape` (3, n, n_variants) holds the variants' weights likewise;
        they are at least 0 and sum to at most 1, and the main path has the remaining weight."""
        rate, acceleration = phase[1:, :, None]
        points = (fourier_basis(phase[0]) @ self._flat).reshape(3, -1, self._n_paths, self._n_joints)
        weights = np.empty((3, len(phase[0]), self._n_paths))
        weights[:, :, 1:] = shape
        weights[:, :, 0] = -shape.sum(axis=2)
        weights[0, :, 0] += 1.0
        # mixed[i, j]: i-th time derivative of the weights, j-th derivative of the paths with respect to phase
        mixed = np.einsum("ank,bnkj->abnj", weights, points)
        velocity = mixed[1, 0] + rate * mixed[0, 1]
        bend = rate**2 * mixed[0, 2] + acceleration * mixed[0, 1]
        return mixed[0, 0], velocity, mixed[2, 0] + 2 * rate * mixed[1, 1] + bend
