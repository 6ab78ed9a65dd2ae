"""A node that the system does not let run for a while, as happens on a busy machine: what waits is answered late."""

import signal
import time
from functools import partial

import pytest
from helpers.driven_arm import SETTINGS, Arm, settle
from helpers.node_probe import PERIOD, START, NodeProbe
from helpers.robots import RIGHT_ARM

pytestmark = pytest.mark.ros
WHILE_STOPPED = 120  # joint states; sockets of the system hold some 180
# [s]: DDS gives up, with all that it holds, a receiver in shared memory that has not answered for more than a second.
HELD_BY_DDS = 0.5


def test_what_arrives_while_the_node_is_stopped_is_predicted_afterwards(start_node, regressor):
    arm = Arm(regressor)
    node = start_node("inverse_dynamics", **SETTINGS)
    with NodeProbe(RIGHT_ARM) as probe:
        probe.connect()

        def send(ticks):
            for k in ticks:
                position, velocity, _ = arm.sample(k)
                probe.state(START + k * PERIOD, position=position, velocity=velocity)

        def stopped(ticks):
            began = time.monotonic()
            node.send_signal(signal.SIGSTOP)
            try:
                send(ticks)
            finally:
                node.send_signal(signal.SIGCONT)
            return time.monotonic() - began

        send(range(20))
        settle(probe, 20)
        for first in range(20, 20 + 50 * (WHILE_STOPPED + 1), WHILE_STOPPED + 1):
            ticks, received = range(first, first + WHILE_STOPPED), probe.diagnostics["messages received"]
            short = stopped(ticks) < HELD_BY_DDS  # else this test was not let run either
            stamps = [START + k * PERIOD for k in (*ticks, ticks[-1] + 1)]
            after = range(ticks[-1] + 1, ticks[-1] + 2)
            probe.repeat(partial(send, after), lambda _, last=stamps[-1]: last in probe.stamps(), "after the stop")
            if short and int(probe.diagnostics["messages received"]) > int(received) + WHILE_STOPPED // 2:
                break  # else DDS gave the receiver up all the same
        assert probe.stamps()[-len(stamps) :] == stamps
