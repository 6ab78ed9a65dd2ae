"""Sensors of a robot of the zoo: clocks that jitter and stall, encoders in counts, sensors with offsets."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from icub_learning.arrays import Array

DRIFT_TIME = 300.0  # [s] time constant of the drift of an offset


@dataclass(frozen=True)
class Clock:
    """Instants, stamps and arrival times of samples."""

    rate: float  # usual number of samples per second [Hz]
    irregularity: float = 0.0  # standard deviation of an interval, relative to the usual one
    shortest: float = 0.5  # shortest interval, relative to the usual one
    stall_share: float = 0.0  # share of the intervals in which the sender stalls
    longest_stall: float = 0.0  # longest such interval [s]; uniformly distributed from twice the usual one on
    stamp_error: float = 0.0  # standard deviation of a stamp about the instant of its sample [s]
    # mean time between stamp and arrival [s]; it is exponentially distributed, but the order is kept, so that late
    # messages come in bursts
    late: float = 0.0
    repeated: float = 0.0  # share of messages that repeat the readings of the message before with a new stamp

    def instants(self, duration: float, rng: np.random.Generator) -> Array:
        """Return the instants (n,) at which samples are taken, rising from 0 to `duration` [s]."""
        count = int(np.ceil(1.2 * duration * self.rate)) + 10
        usual = 1 / self.rate
        intervals = usual * np.maximum(1 + self.irregularity * rng.standard_normal(count), self.shortest)
        stalls = rng.uniform(2 * usual, max(2 * usual, self.longest_stall), count)
        intervals = np.where(rng.uniform(size=count) < self.stall_share, stalls, intervals)
        instants = np.concatenate([[0.0], np.cumsum(intervals)])
        return instants[instants <= duration + 1e-9]  # tolerance for rounding in the sum of the intervals

    def stamps(self, instants: Array, rng: np.random.Generator) -> np.ndarray:
        """Return the stamps of samples taken at `instants` (n,) [s], (n,) int64 [ns], strictly rising."""
        shown = instants + self.stamp_error * rng.standard_normal(len(instants))
        least = np.arange(len(shown)) * 1000  # [ns] at least one microsecond between two stamps
        return np.maximum.accumulate(np.round(shown * 1e9).astype(np.int64) - least) + least

    def arrivals(self, stamps: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the arrival times (n,) int64 [ns], never falling, of messages with these stamps."""
        delays = np.round(self.late * 1e9 * rng.standard_exponential(len(stamps))).astype(np.int64)
        return np.maximum.accumulate(stamps + delays)

    def sources(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return for each message the index of the sample whose readings it shows, (count,)."""
        fresh = rng.uniform(size=count) >= self.repeated
        fresh[:1] = True
        return np.maximum.accumulate(np.where(fresh, np.arange(count), 0))


@dataclass(frozen=True)
class JointSensors:
    """Measurement of the joints' positions and velocities."""

    position_step: float = 0.0  # step in which positions come [rad]; 0: not in steps
    position_noise: float = 0.0  # standard deviation of the noise of positions [rad]
    velocity: bool = True  # whether velocities are measured
    velocity_step: float = 0.0  # step in which velocities come [rad/s]; 0: not in steps
    velocity_noise: float = 0.0  # standard deviation of the noise of velocities [rad/s]
    velocity_bandwidth: float = 0.0  # bandwidth of the first-order low-pass filter of velocities [Hz]; 0: none
    velocity_delay: float = 0.0  # additional delay of velocities [s]

    @property
    def delays_velocity(self) -> bool:
        """Whether a velocity depends on more than the instant at which it is read."""
        return bool(self.velocity_bandwidth or self.velocity_delay)

    def positions(self, q: Array, rng: np.random.Generator) -> Array:
        """Return the measured positions at true positions q (n, n_joints)."""
        return in_steps(q + self.position_noise * rng.standard_normal(q.shape), self.position_step)

    def velocities(self, v: Array, rng: np.random.Generator) -> Array:
        """Return the measured velocities for filtered and delayed true velocities v (n, n_joints)."""
        return in_steps(v + self.velocity_noise * rng.standard_normal(v.shape), self.velocity_step)


@dataclass(frozen=True)
class OutputSensor:
    """Measurement of joint torques, currents or a wrench; tuples hold one value per output."""

    noise: Sequence[float]  # standard deviation of white noise
    step: float = 0.0  # step in which values come; 0: not in steps
    bandwidth: float = 0.0  # bandwidth of the first-order low-pass filter of values [Hz]; 0: none
    offset: Sequence[float] = ()  # constant offset
    drift: Sequence[float] = ()  # standard deviation of the slow Ornstein-Uhlenbeck drift of the offset
    # (n_outputs, n_outputs) matrix from the true to the measured values, () for the identity
    gain: Sequence[Sequence[float]] = ()

    def measure(self, outputs: Array, times: Array, rng: np.random.Generator) -> Array:
        """Return the measured outputs for filtered true `outputs` (n, n_outputs) at `times` (n,) [s]."""
        shown = outputs @ np.asarray(self.gain).T if len(self.gain) else outputs
        if len(self.offset):
            shown = shown + np.asarray(self.offset)
        if len(self.drift):
            shown = shown + np.asarray(self.drift) * _wander(times, outputs.shape[1], rng)
        return in_steps(shown + np.asarray(self.noise) * rng.standard_normal(outputs.shape), self.step)

    @property
    def variance(self) -> Array:
        """(n_outputs,) variance of the error of a single measurement, from its noise and its steps."""
        return np.asarray(self.noise) ** 2 + self.step**2 / 12


def in_steps(values: Array, step: float) -> Array:
    """Return the values rounded to whole multiples of `step`; unchanged where it is 0."""
    return np.round(values / step) * step if step else values


def low_pass(values: Array, bandwidth: float, step: float) -> Array:
    """Return values (n, k), `step` [s] apart, after a first-order low-pass filter that has settled at the first one.

    At the bandwidth [Hz] a sine loses half its power; 0: no filter.
    """
    if not bandwidth:
        return values
    keep = np.exp(-2 * np.pi * bandwidth * step)
    return values[0] + lfilter([1 - keep], [1.0, -keep], values - values[0], axis=0)


def _wander(times: Array, count: int, rng: np.random.Generator) -> Array:
    """Return Ornstein-Uhlenbeck processes (n, count) of unit variance at `times` (n,) [s], linear between seconds."""
    knots = np.arange(np.ceil(times[-1]) + 2)
    keep = np.exp(-1 / DRIFT_TIME)
    kicks = np.sqrt(1 - keep**2) * rng.standard_normal((len(knots), count))
    kicks[0] = rng.standard_normal(count)
    path = lfilter([1.0], [1.0, -keep], kicks, axis=0)
    return np.column_stack([np.interp(times, knots, column) for column in path.T])
