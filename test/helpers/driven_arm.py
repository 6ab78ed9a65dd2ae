"""A rigid arm that drives the inverse dynamics node in tests: its motion, its wrench, and their messages."""

import time

import numpy as np
from helpers.node_probe import PERIOD, START
from helpers.robots import RIGHT_ARM

SETTINGS = {"joints": list(RIGHT_ARM), "n_random_features": 100, "n_warm_up": 20, "report_period": 0.1}


class Arm:
    """A rigid arm on smooth paths; sample k has position, velocity and measured output.

    All joints move at `frequency` [rad/s]; by default each has its own, so that the motion is not repeated for long.
    """

    def __init__(self, regressor, frequency=None):
        self._regressor = regressor
        n = regressor.n_joints
        self._frequency = np.linspace(1.0, 4.0, n) if frequency is None else np.full(n, frequency)

    def sample(self, k):
        t, w = k * PERIOD * 1e-9, self._frequency
        q, v, a = 0.4 * np.sin(w * t), 0.4 * w * np.cos(w * t), -0.4 * w**2 * np.sin(w * t)
        return q, v, self._regressor(q, v, a) @ self._regressor.nominal_parameters


def drive(probe, arm, ticks, rate=150.0):
    """Publish samples `ticks` in step with the wall clock, at `rate` Hz whatever their stamps say."""
    start = time.monotonic()
    for i, k in enumerate(ticks):
        probe.spin(max(start + i / rate - time.monotonic(), 0.0))
        q, v, y = arm.sample(k)
        probe.state(START + k * PERIOD, position=q, velocity=v)
        probe.wrench(START + k * PERIOD, y)


def settle(probe, count):
    """Wait for `count` predictions and a report made after them."""
    assert probe.spin_until(lambda: len(probe.predictions) >= count), f"{len(probe.predictions)} of {count} predictions"
    probe.spin(0.4)
