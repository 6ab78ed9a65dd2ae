"""A motion that is new to the body, or known badly after lost samples, is no load and no contact."""

import numpy as np
import pytest
from helpers.robots import RIGHT_ARM

from icub_learning.dynamics import assembly
from icub_learning.dynamics.settings import Settings
from icub_learning.simulation import simulate

RATE = 100  # [Hz]
CHANGE = 13  # [s] time of the change to circles in another plane


@pytest.fixture(scope="module")
def circles():
    """Return a recording of a simulated arm on circles in one plane, then in another."""
    return simulate([("circle_xy", CHANGE), ("circle_xz", 8.0)], rate=RATE)


@pytest.fixture
def stream():
    settings = Settings(urdf="icub", joints=RIGHT_ARM, sensor="r_arm_ft_sensor")
    regressor = assembly.make_regressor(settings)
    return assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))


def hear(stream, circles, k):
    stamp = int(circles.joint_stamps[k])
    stream.joint_state(stamp, RIGHT_ARM, circles.position[k], circles.velocity[k])
    stream.measurement(stamp, circles.wrench[k])
    stream.pair()


def test_circles_in_another_plane_are_learned_soon(stream, circles):
    """After 13 s in one plane, errors in the next must not pass for a load, which would stop learning for seconds."""
    withheld = {}
    for k in range(len(circles.position)):
        hear(stream, circles, k)
        stream.learn()
        assert stream.watch.ready or k < CHANGE * RATE
        withheld[k / RATE] = stream.counts.withheld
    assert stream.counts.withheld == withheld[CHANGE + 6.0] < 1.0 * RATE  # from then on every sample is learned


def test_lost_samples_are_no_contacts(stream, circles):
    """Up to 0.6 s are lost again and again, one in four of the other samples is learned, and the plane changes."""
    rng, lost, complete = np.random.default_rng(5), 0, 0
    for k in range(len(circles.position)):
        if k > (CHANGE - 2) * RATE and k % (3 * RATE // 4) == 0:
            lost = int(rng.uniform(0.1, 0.6) * RATE)
        lost -= 1
        if lost >= 0:
            continue
        hear(stream, circles, k)
        for sample in stream.complete():
            complete += 1
            if complete % 4 == 0:
                sample.teach(stream.estimator, 4)
    assert stream.watch.ready and not stream.watch.counts and stream.counts.withheld == 0
