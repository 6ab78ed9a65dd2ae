"""Closed joint-space paths as Fourier series of a phase, and slow variation between several such paths."""

import numpy as np

from icub_learning.arrays import Array


def fourier_basis(phases: Array, n_harmonics: int) -> Array:
    """Return 1, cos(h phi), sin(h phi) for h = 1 .. n_harmonics, at phases (n,) [rad], (3, n, 2 * n_harmonics + 1).

    First values, then first and second derivatives with respect to phi.
    """
    h = np.arange(1.0, n_harmonics + 1)
    angles = np.multiply.outer(phases, h)
    cos, sin = np.cos(angles), np.sin(angles)
    basis = np.zeros((3, len(phases), 2 * n_harmonics + 1))
    basis[0, :, 0] = 1.0
    basis[:, :, 1 : n_harmonics + 1] = cos, -h * sin, -h * h * cos
    basis[:, :, n_harmonics + 1 :] = sin, h * cos, -h * h * sin
    return basis


class SlowWaves:
    """Slow, smooth signals within [-1, 1] that do not repeat: means of three sinusoids with periods [s] in a range."""

    def __init__(self, n_signals: int, periods: tuple[float, float], rng: np.random.Generator) -> None:
        self.rates = 2 * np.pi / rng.uniform(*periods, size=(3, n_signals))  # (3, n_signals) [rad/s]
        self._phases = rng.uniform(0, 2 * np.pi, size=(3, n_signals))

    def __call__(self, times: Array) -> Array:
        """Return values, first and second derivatives at `times` (n,) [s], as (3, n, n_signals)."""
        angles = np.multiply.outer(times, self.rates) + self._phases
        sin, cos = np.sin(angles), np.cos(angles)
        return np.stack([sin, self.rates * cos, -(self.rates**2) * sin]).mean(axis=2)


class VariedPath:
    """A closed path whose shape varies between a main path and its variants.

    Positions are convex combinations of points of the paths, so they keep all joint limits that the paths keep. The
    coefficients are (1 + n_variants, 2 * n_harmonics + 1, n_joints), the main path first.
    """

    def __init__(self, coefficients: Array) -> None:
        self._n_paths, size, self._n_joints = coefficients.shape
        self._n_harmonics = size // 2
        self._flat = np.ascontiguousarray(coefficients.transpose(1, 0, 2).reshape(size, -1))

    def __call__(self, phase: Array, shape: Array) -> tuple[Array, Array, Array]:
        """Return joint positions, velocities and accelerations, (n, n_joints) each, at a `phase` (3, n) along the path
        [rad] with its first two time derivatives. `shape` (3, n, n_variants) are the weights of the variants likewise;
        they are at least 0 and sum to at most 1, and the main path has the remaining weight.
        """
        rate, acceleration = phase[1:, :, None]
        basis = fourier_basis(phase[0], self._n_harmonics)
        points = (basis @ self._flat).reshape(3, -1, self._n_paths, self._n_joints)
        weights = np.empty((3, len(phase[0]), self._n_paths))
        weights[:, :, 1:] = shape
        weights[:, :, 0] = -shape.sum(axis=2)
        weights[0, :, 0] += 1.0
        # mixed[i, j]: i-th time derivative of the weights, j-th derivative of the paths with respect to phase
        mixed = np.einsum("ank,bnkj->abnj", weights, points)
        velocity = mixed[1, 0] + rate * mixed[0, 1]
        bend = rate**2 * mixed[0, 2] + acceleration * mixed[0, 1]
        return mixed[0, 0], velocity, mixed[2, 0] + 2 * rate * mixed[1, 1] + bend
