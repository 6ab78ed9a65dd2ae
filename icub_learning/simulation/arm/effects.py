"""Effects that a rigid-body model lacks: cables, friction, and errors of the force/torque sensor and the encoders."""

import math

import mujoco
import numpy as np

from icub_learning.arrays import Array
from icub_learning.simulation.arm.settings import TIME_STEP

# Full scale of a six-axis sensor of iCub's size [N, N, N, N m, N m, N m]. Errors of real sensors are specified relative
# to it, which relates errors of torque to those of force.
FULL_SCALE = np.array([1000.0, 1000.0, 1500.0, 24.0, 24.0, 24.0])

COULOMB = np.array([0.5, 0.5, 0.3, 0.3, 0.05, 0.05, 0.05])  # [N m] Coulomb friction of the gears
VISCOUS = np.array([0.2, 0.2, 0.1, 0.1, 0.02, 0.02, 0.02])  # [N m s/rad] viscous friction of the gears
BREAKAWAY = 0.05  # [rad/s] velocity at which tanh(1) = 76 % of the Coulomb friction acts


class DahlFriction:
    """Rate-independent friction with presliding: Dahl, "A solid friction model" (1968), exponent 1, in any dimension.

    Along the path x the force follows dF/dx = (level * direction - F) / presliding: `level` is the largest force [N] or
    torque [N m], `presliding` [m or rad] the displacement over which it reverses.
    """

    def __init__(self, level: float, presliding: float) -> None:
        self._level, self._presliding = level, presliding
        self._force: Array | float = 0.0

    def step(self, change: Array) -> Array:
        """Return the force (n,) after a displacement `change` (n,), in its direction: subtract it to oppose motion."""
        length = math.sqrt(change @ change)
        share = -math.expm1(-length / self._presliding)  # exact over a straight step, so stable for any step
        direction = change / length if length > 0 else change
        self._force = self._force + share * (self._level * direction - self._force)
        return self._force


Pose = tuple[Array, Array, Array]  # position (3,) [m], rotation matrix (9,), quaternion w x y z (4,), in the world


class CableBundle:
    """An elastic bundle of cables across the elbow, clamped above the force/torque sensor and to the link of the elbow.

    It has a spring along the chord between its clamps, for tension and compression (`stiffness` [N/m]), and one against
    relative rotation of the clamps, equal about all axes (`bending_stiffness` [N m/rad]). Creep of its sheath damps
    both, and friction between its strands, `hysteresis` times the elastic force at the elongation STRETCH and the
    torque at the angle BEND, adds hysteresis to both. Its upper clamp is on the link above the sensor, so the load that
    it carries by-passes the sensor, which measures the wrench of the rigid arm minus that of the bundle.
    """

    UPPER_CLAMP = np.array([-0.045, 0.03, -0.03])  # [m] in the frame of the right arm's sensor
    LOWER_CLAMP = np.array([0.057, 0.0075, 0.093])  # [m] in the same frame, when the bundle is relaxed
    CREEP_TIME = 0.05  # [s] ratio of damping to stiffness
    STRETCH = 0.02  # [m] elongation to which `hysteresis` refers
    BEND = 0.7  # [rad] angle to which `hysteresis` refers
    PRESLIDING = 0.15  # share of STRETCH and BEND over which the friction reverses

    def __init__(self, stiffness: float, bending_stiffness: float, hysteresis: float, side: str) -> None:
        mirror = np.array([1.0, 1.0 if side == "right" else -1.0, 1.0])
        self._upper_clamp = mirror * self.UPPER_CLAMP
        self._lower_clamp = mirror * self.LOWER_CLAMP  # after `relax`, in the frame of the elbow's link
        self._stiffness, self._rest_length = np.array([stiffness, *[bending_stiffness] * 3]), 0.0
        self._rest_direction = np.array([1.0, 0.0, 0.0, 0.0])
        self._stretch_friction = DahlFriction(hysteresis * stiffness * self.STRETCH, self.PRESLIDING * self.STRETCH)
        self._bend_friction = DahlFriction(hysteresis * bending_stiffness * self.BEND, self.PRESLIDING * self.BEND)
        self._deformation: Array | None = None  # elongation [m] and rotation vector [rad] at the last step

    def relax(self, sensor: Pose, elbow: Pose) -> None:
        """Make these poses of the sensor and of the elbow's link those in which the bundle carries no load."""
        lower = sensor[0] + sensor[1].reshape(3, 3) @ self._lower_clamp
        self._lower_clamp = elbow[1].reshape(3, 3).T @ (lower - elbow[0])
        self._rest_length = float(np.linalg.norm(self._chord(sensor, elbow)[1]))
        inverse = np.empty(4)
        mujoco.mju_negQuat(inverse, sensor[2])
        mujoco.mju_mulQuat(self._rest_direction, inverse, elbow[2])

    def step(self, sensor: Pose, elbow: Pose) -> tuple[Array, Array, Array]:
        """Return the load on the elbow's link in the world: point of application [m], force [N], torque [N m]; the load
        on the link above the sensor is the opposite."""
        lower, chord = self._chord(sensor, elbow)
        length = math.sqrt(chord @ chord)
        axes, deformation = np.empty(4), np.empty(4)  # axes of the frame at rest
        deformation[0] = length - self._rest_length
        mujoco.mju_mulQuat(axes, sensor[2], self._rest_direction)
        mujoco.mju_subQuat(deformation[1:], elbow[2], axes)
        change = deformation - (deformation if self._deformation is None else self._deformation)
        self._deformation = deformation

        load = self._stiffness * (deformation + self.CREEP_TIME / TIME_STEP * change)
        tension = load[0] + self._stretch_friction.step(change[:1])[0]
        moment, torque = load[1:] + self._bend_friction.step(change[1:]), np.empty(3)
        mujoco.mju_rotVecQuat(torque, -moment, axes)
        return lower, chord * (-tension / length), torque

    def _chord(self, sensor: Pose, elbow: Pose) -> tuple[Array, Array]:
        """Return the lower clamp, and the vector from the upper to the lower clamp, in the world."""
        upper = sensor[0] + sensor[1].reshape(3, 3) @ self._upper_clamp
        lower = elbow[0] + elbow[1].reshape(3, 3) @ self._lower_clamp
        return lower, lower - upper


def joint_friction(scale: float, v: Array) -> Array:
    """Return viscous and smoothed Coulomb friction in the gears at velocities `v` (7,) [rad/s], as torques (7,) [N m];
    `scale` is 1 for a typical arm."""
    return scale * COULOMB * np.tanh(v / BREAKAWAY) + scale * VISCOUS * v


def cross_talk(ratio: float, rng: np.random.Generator) -> Array:
    """Return the matrix (6, 6) from the true wrench to the measured one, as of a badly calibrated sensor.

    The reading of each axis contains up to `ratio` of every other one, both relative to full scale.
    """
    errors = ratio * rng.uniform(-1, 1, size=(6, 6)) * FULL_SCALE[:, None] / FULL_SCALE
    np.fill_diagonal(errors, 0.0)
    return np.eye(6) + errors


class SensorDrift:
    """Slow drift of the sensor's offset, as with temperature: a stationary Ornstein-Uhlenbeck process on each axis.

    `deviation` is its standard deviation on the force axes [N]; torque axes have it in proportion to their full scale.
    """

    TIME_CONSTANT = 900.0  # [s] time constant of the drift

    def __init__(self, deviation: float, rng: np.random.Generator) -> None:
        self._scale = deviation * FULL_SCALE / FULL_SCALE[0]
        self._decay = math.exp(-TIME_STEP / self.TIME_CONSTANT)
        self._excitation = math.sqrt(1 - self._decay**2)
        self._unit = rng.standard_normal(6)

    def step(self, normal: Array) -> Array:
        """Return the drift (6,) [N, N m] after a step driven by standard normal numbers `normal` (6,)."""
        self._unit = self._decay * self._unit + self._excitation * normal
        return self._scale * self._unit


class Encoders:
    """Incremental encoders: positions in counts, 2^bits per turn, and velocities from the counts in a short window.

    As in motor drives, the velocity is the difference quotient of the positions now and WINDOW steps ago, and therefore
    delayed by half a window. With 0 bits both are exact. The first readings are q and v (7,) [rad, rad/s].
    """

    WINDOW = 8  # [time steps] time between the two positions of a velocity
    DELAY = WINDOW / 2 * TIME_STEP  # [s] delay of the velocities

    def __init__(self, bits: int, q: Array, v: Array) -> None:
        self._resolution = 2 * math.pi / 2**bits if bits else 0.0  # [rad]
        past = q - np.outer(np.arange(self.WINDOW + 1, 0, -1), v) * TIME_STEP  # positions before the first step
        self._history = np.round(past / self._resolution) if bits else past
        self._newest = self.WINDOW

    def step(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return measured positions and velocities, (7,) each, at true positions `q` and velocities `v`."""
        if not self._resolution:
            return q, v
        counts = np.round(q / self._resolution)
        self._newest = (self._newest + 1) % (self.WINDOW + 1)
        self._history[self._newest] = counts
        oldest = self._history[(self._newest + 1) % (self.WINDOW + 1)]
        return counts * self._resolution, (counts - oldest) * (self._resolution / (self.WINDOW * TIME_STEP))
