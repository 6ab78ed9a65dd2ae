"""What a drive adds to the torque of the rigid bodies: friction, rotor, elastic gear, ripple, a current's unit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import bilinear, lfilter

from icub_learning.arrays import Array


@dataclass(frozen=True)
class Drives:
    """The drives of a robot's joints; tuples hold one value per joint.

    The torque of a joint that moves with velocity v and acceleration a against the torque tau of the rigid bodies is

        transmitted(tau) + rotor_inertia a + viscous v + offset + ripple sin(ripple_periods q)
          + tanh(v / breakaway) (coulomb (1 + stribeck exp(-(v / stribeck_velocity)^2)) + load_friction |tau|)

    (Stribeck 1902; friction in proportion to the load as in gears), and the measured value is this over `gain`.
    """

    coulomb: Sequence[float]  # Coulomb friction [N m]
    viscous: Sequence[float]  # viscous friction [N m s/rad]
    breakaway: float = 0.003  # velocity at which 76 % of the Coulomb friction acts [rad/s]
    stribeck: float = 0.0  # excess of friction at the slowest motion over the Coulomb friction, relative to the latter
    stribeck_velocity: float = 0.05  # velocity over which this excess fades [rad/s]
    load_friction: float = 0.0  # friction per torque of the rigid bodies
    rotor_inertia: Sequence[float] = ()  # inertia of the rotor, seen through the gear [kg m^2]
    offset: Sequence[float] = ()  # offset of the torque sensor or of the current [N m]
    ripple: Sequence[float] = ()  # amplitude of a torque that follows the position [N m]
    ripple_periods: float = 16.0  # waves of the ripple per radian, times 2 pi
    # natural frequency of a gear that is an elastic spring [Hz]; 0: rigid. The torque that it transmits follows that of
    # the rigid bodies as a second-order oscillator
    gear_frequency: float = 0.0
    gear_damping: float = 0.15  # damping ratio of this oscillator
    gain: Sequence[float] = ()  # torque per unit of what is measured: 1 for torques, N m/A for motor currents

    def transmitted(self, torque: Array, step: float) -> Array:
        """Return what an elastic gear transmits of the torque (n, n_joints), whose samples are `step` [s] apart."""
        if not self.gear_frequency:
            return torque
        rate = 2 * np.pi * self.gear_frequency
        b, a = bilinear([rate**2], [1.0, 2 * self.gear_damping * rate, rate**2], fs=1 / step)
        return torque[0] + lfilter(b, a, torque - torque[0], axis=0)  # at rest before the first sample

    def friction(self, v: Array, torque: Array) -> Array:
        """Return the friction at velocities v under the torque of the rigid bodies, (n, n_joints) each [N m]."""
        excess = self.stribeck * np.exp(-((v / self.stribeck_velocity) ** 2))
        level = np.asarray(self.coulomb) * (1 + excess) + self.load_friction * np.abs(torque)
        return np.tanh(v / self.breakaway) * level + np.asarray(self.viscous) * v

    def efforts(self, q: Array, v: Array, a: Array, torque: Array, transmitted: Array) -> Array:
        """Return what perfect sensors of the drives measure, from a motion, the torque of the rigid bodies, and what
        gears transmit of it, (n, n_joints) each [N m, or A with a gain]."""
        own = np.asarray(self.rotor_inertia or 0.0) * a + self.friction(v, torque) + np.asarray(self.offset or 0.0)
        own = own + np.asarray(self.ripple or 0.0) * np.sin(self.ripple_periods * q)
        return (transmitted + own) / np.asarray(self.gain or 1.0)

    def parameters(self, joints: Sequence[str]) -> dict[str, float]:
        """Return the true values of the linear parameters of the drives, by the names that the regressor gives them."""
        named = {"coulomb": self.coulomb, "viscous": self.viscous, "offset": self.offset, "rotor": self.rotor_inertia}
        return {
            f"{joint}.{name}": float(values[index]) if len(values) else 0.0
            for index, joint in enumerate(joints)
            for name, values in named.items()
        }
