"""A rigid arm that drives the inverse dynamics node in tests: its motion, its wrench, and their messages."""

import numpy as np
from helpers.node_probe import PERIOD, START
from helpers.robots import RIGHT_ARM

from icub_learning_msgs.srv import ModelFile

SETTINGS = {
    "joints": list(RIGHT_ARM), "n_random_features": 100, "report_period": 0.05, "answer_timeout": 200.0,
    "learning_share": 1.0,  # every sample is learned
    "learning_backlog": 100_000,  # so many samples may wait that a busy machine skips none
}  # fmt: skip
AT_ONCE = 40  # joint states after which `drive` waits until all are learned: fewer than any queue holds


class Arm:
    """A rigid arm on smooth paths; sample k has position, velocity and measured output. Each joint has its own
    frequency [rad/s], so that the motion does not repeat for a long time."""

    def __init__(self, regressor):
        self._regressor, self._frequency = regressor, np.linspace(1.0, 4.0, regressor.n_joints)

    def sample(self, k):
        t, w = k * PERIOD * 1e-9, self._frequency
        q, v, a = 0.4 * np.sin(w * t), 0.4 * w * np.cos(w * t), -0.4 * w**2 * np.sin(w * t)
        return q, v, self._regressor(q, v, a) @ self._regressor.nominal_parameters


def drive(probe, arm, ticks, send=None):
    """Publish samples `ticks` as fast as the node predicts and learns them; `send(k, q, v, y)` publishes one."""
    expected = len(probe.predictions)
    for i, k in enumerate(ticks):
        if i and i % AT_ONCE == 0:
            taken_in(probe, expected)
        expected += 1
        q, v, y = arm.sample(k)
        if send is not None:
            send(k, q, v, y)
        else:
            probe.state(START + k * PERIOD, position=q, velocity=v)
            probe.wrench(START + k * PERIOD, y)


def taken_in(probe, count):
    """Wait for `count` predictions, and until the node has received all messages and no sample waits to be learned."""
    probe.until(lambda: len(probe.predictions) >= count, f"{count} predictions")
    probe.report(
        lambda values: int(values["messages received"]) >= probe.sent and values["samples waiting"] == "0",
        f"of {probe.sent} messages and no sample that waits",
    )


def settle(probe, count):
    """Wait for `count` predictions, until all samples have been learned, and for a report made after that."""
    taken_in(probe, count)
    probe.call(ModelFile, "save_model", path="settled")  # answered after the sample that was being learned
    probe.report()
