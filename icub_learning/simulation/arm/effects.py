"""What a rigid body cannot explain: cables, friction, and the errors of a force/torque sensor and of encoders.

Each effect is a class of its own with its parameters, starts from its seed, and advances by one time step at a time.
"""

import math

import mujoco
import numpy as np

from icub_learning.arrays import Array
from icub_learning.simulation.arm.settings import TIME_STEP

# Full scale of a six-axis sensor of iCub's size [N, N, N, N m, N m, N m]: errors of real sensors are given relative
# to it, and it ties the errors of torque to those of force.
FULL_SCALE = np.array([1000.0, 1000.0, 1500.0, 24.0, 24.0, 24.0])


class DahlFriction:
    """Rate-independent friction with presliding: Dahl, "A solid friction model" (1968), exponent 1, in any dimension.

    Along the way x the force follows dF/dx = (level * direction - F) / presliding: a loop that stays open however
    slowly it is traversed.

    Args:
        level: largest force [N, or N m for an angle].
        presliding: way over which the force turns round [m, or rad].
    """

    def __init__(self, level: float, presliding: float) -> None:
        self._level = level
        self._presliding = presliding
        self._force: Array | float = 0.0

    def step(self, change: Array) -> Array:
        """Return the force (n,) after the displacement moved on by `change` (n,); it points along, to be resisted."""
        way = math.sqrt(change @ change)
        share = -math.expm1(-way / self._presliding)  # exact over a straight step, so stable for any step
        direction = change / way if way > 0 else change
        self._force = self._force + share * (self._level * direction - self._force)
        return self._force


Pose = tuple[Array, Array, Array]  # position (3,) [m], rotation matrix (9,), quaternion w x y z (4,), in the world


class CableBundle:
    """An elastic bundle of cables across the elbow, clamped above the force/torque sensor and to the link of the elbow.

    It forms a bow beside the elbow: a spring along the chord between its clamps, which pulls when stretched and pushes
    when compressed, and a spring against bending and twisting between their directions (about all axes alike). Its
    sheath creeps, which damps both, and its strands rub on each other, which adds hysteresis to both. Because its upper
    clamp sits on the link above the sensor, what it carries by-passes the sensor: the sensor misses it and shows the
    wrench of the rigid arm minus that of the bundle.

    Args:
        stiffness: force per stretch of the chord [N/m].
        bending_stiffness: torque per angle [N m/rad].
        hysteresis: friction relative to the elastic force at a stretch of STRETCH, and torque at an angle of BEND.
        side: "right" or "left" arm.
    """

    UPPER_CLAMP = np.array([-0.045, 0.03, -0.03])  # [m], in the frame of the right arm's sensor
    LOWER_CLAMP = np.array([0.057, 0.0075, 0.093])  # [m], likewise, when the bundle is relaxed
    CREEP_TIME = 0.05  # [s], damping relative to stiffness
    STRETCH = 0.02  # [m]
    BEND = 0.7  # [rad]
    PRESLIDING = 0.15  # part of STRETCH and BEND over which the friction turns round

    def __init__(self, stiffness: float, bending_stiffness: float, hysteresis: float, side: str) -> None:
        mirror = np.array([1.0, 1.0 if side == "right" else -1.0, 1.0])
        self._upper_clamp = mirror * self.UPPER_CLAMP
        self._lower_clamp = mirror * self.LOWER_CLAMP  # in the frame of the elbow's link, once `relax` was called
        self._stiffness = np.array([stiffness, *[bending_stiffness] * 3])
        self._rest_length = 0.0
        self._rest_direction = np.array([1.0, 0.0, 0.0, 0.0])
        level = hysteresis * stiffness * self.STRETCH
        self._stretch_friction = DahlFriction(level, self.PRESLIDING * self.STRETCH)
        level = hysteresis * bending_stiffness * self.BEND
        self._bend_friction = DahlFriction(level, self.PRESLIDING * self.BEND)
        self._bow: Array | None = None  # stretch [m] and rotation vector [rad] at the last step

    def relax(self, sensor: Pose, elbow: Pose) -> None:
        """Take these poses of the sensor and of the elbow's link as those in which the bundle carries nothing."""
        lower = sensor[0] + sensor[1].reshape(3, 3) @ self._lower_clamp
        self._lower_clamp = elbow[1].reshape(3, 3).T @ (lower - elbow[0])
        self._rest_length = float(np.linalg.norm(self._chord(sensor, elbow)[1]))
        inverse = np.empty(4)
        mujoco.mju_negQuat(inverse, sensor[2])
        mujoco.mju_mulQuat(self._rest_direction, inverse, elbow[2])

    def step(self, sensor: Pose, elbow: Pose) -> tuple[Array, Array, Array]:
        """Return what the bundle does to the elbow's link: point of attack [m], force [N], torque [N m], in the world.

        The link above the sensor feels the opposite force at the same point and the opposite torque.
        """
        lower, chord = self._chord(sensor, elbow)
        length = math.sqrt(chord @ chord)
        rotation, axes = self._rotation(sensor, elbow)
        bow = np.array([length - self._rest_length, *rotation])
        change = bow - (bow if self._bow is None else self._bow)
        self._bow = bow

        load = self._stiffness * (bow + self.CREEP_TIME / TIME_STEP * change)
        tension = load[0] + self._stretch_friction.step(change[:1])[0]
        moment = load[1:] + self._bend_friction.step(change[1:])
        torque = np.empty(3)
        mujoco.mju_rotVecQuat(torque, -moment, axes)
        return lower, chord * (-tension / length), torque

    def _chord(self, sensor: Pose, elbow: Pose) -> tuple[Array, Array]:
        """The lower clamp, and the vector from the upper to the lower clamp, in the world."""
        upper = sensor[0] + sensor[1].reshape(3, 3) @ self._upper_clamp
        lower = elbow[0] + elbow[1].reshape(3, 3) @ self._lower_clamp
        return lower, lower - upper

    def _rotation(self, sensor: Pose, elbow: Pose) -> tuple[Array, Array]:
        """The rotation vector away from rest, and the quaternion of the axes it is given in."""
        axes, rotation = np.empty(4), np.empty(3)
        mujoco.mju_mulQuat(axes, sensor[2], self._rest_direction)
        mujoco.mju_subQuat(rotation, elbow[2], axes)
        return rotation, axes


class JointFriction:
    """Viscous and (smoothed) Coulomb friction in the gears of the seven joints, which the drives make up for.

    Args:
        scale: 1 for a typical arm.
    """

    COULOMB = np.array([0.5, 0.5, 0.3, 0.3, 0.05, 0.05, 0.05])  # [N m]
    VISCOUS = np.array([0.2, 0.2, 0.1, 0.1, 0.02, 0.02, 0.02])  # [N m s/rad]
    BREAKAWAY = 0.05  # [rad/s]

    def __init__(self, scale: float) -> None:
        self._coulomb = scale * self.COULOMB
        self._viscous = scale * self.VISCOUS

    def torque(self, v: Array) -> Array:
        """Return the torque (7,) [N m] that friction takes from the motors at velocities `v` (7,) [rad/s]."""
        return self._coulomb * np.tanh(v / self.BREAKAWAY) + self._viscous * v


class CrossTalk:
    """Errors of the calibration matrix of the sensor: every axis shows a little of every other one.

    Args:
        ratio: largest share of an axis that shows on another, both relative to full scale.
        rng: draws the matrix.

    Attributes:
        matrix: (6, 6), maps the true wrench to the shown one; its diagonal is 1.
    """

    def __init__(self, ratio: float, rng: np.random.Generator) -> None:
        errors = ratio * rng.uniform(-1, 1, size=(6, 6)) * FULL_SCALE[:, None] / FULL_SCALE
        np.fill_diagonal(errors, 0.0)
        self.matrix = np.eye(6) + errors


class SensorDrift:
    """Slow drift of the sensor's offset, as its temperature wanders: an Ornstein-Uhlenbeck process on each axis.

    Args:
        deviation: standard deviation on the force axes [N]; on the torque axes in proportion to their full scale.
        rng: draws the path, from its stationary distribution on.
    """

    TIME_CONSTANT = 900.0  # [s]

    def __init__(self, deviation: float, rng: np.random.Generator) -> None:
        self._scale = deviation * FULL_SCALE / FULL_SCALE[0]
        self._keep = math.exp(-TIME_STEP / self.TIME_CONSTANT)
        self._kick = math.sqrt(1 - self._keep**2)
        self._unit = rng.standard_normal(6)

    def step(self, normal: Array) -> Array:
        """Return the drift (6,) [N, N m] after a step driven by standard normal numbers `normal` (6,)."""
        self._unit = self._keep * self._unit + self._kick * normal
        return self._scale * self._unit


class SensorNoise:
    """White noise of the sensor's amplifier.

    Args:
        deviation: standard deviation on the force axes [N]; on the torque axes in proportion to their full scale.
    """

    def __init__(self, deviation: float) -> None:
        self._scale = deviation * FULL_SCALE / FULL_SCALE[0]

    def step(self, normal: Array) -> Array:
        """Return the noise (6,) [N, N m] of a reading from standard normal numbers `normal` (6,)."""
        return self._scale * normal


class Encoders:
    """Incremental encoders: positions in whole counts, velocities from the counts over a short window.

    As in motor drives, the velocity is the difference of the positions now and WINDOW steps ago over that time; it
    therefore belongs to the instant half a window ago.

    Args:
        bits: counts of a revolution of the joint as a power of 2; 0 for exact positions and velocities.
        q: (7,) positions at the start [rad].
        v: (7,) velocities at the start [rad/s].
    """

    WINDOW = 8  # [time steps]
    DELAY = WINDOW / 2 * TIME_STEP  # [s] of velocities

    def __init__(self, bits: int, q: Array, v: Array) -> None:
        self._resolution = 2 * math.pi / 2**bits if bits else 0.0  # [rad]
        past = q - np.outer(np.arange(self.WINDOW + 1, 0, -1), v) * TIME_STEP  # before the first step
        self._history = np.round(past / self._resolution) if bits else past
        self._newest = self.WINDOW

    @property
    def velocity_delay(self) -> float:
        """Time by which velocities are late [s]."""
        return self.DELAY if self._resolution else 0.0

    def step(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return measured positions and velocities, (7,) each, at true positions `q` and velocities `v`."""
        if not self._resolution:
            return q, v
        counts = np.round(q / self._resolution)
        self._newest = (self._newest + 1) % (self.WINDOW + 1)
        self._history[self._newest] = counts
        oldest = self._history[(self._newest + 1) % (self.WINDOW + 1)]
        return counts * self._resolution, (counts - oldest) * (self._resolution / (self.WINDOW * TIME_STEP))
