"""A motion that is new to the body, or known badly after lost samples, is no load and no contact."""

import numpy as np
import pytest
from helpers.robots import RIGHT_ARM

from icub_learning.dynamics import assembly
from icub_learning.dynamics.settings import Settings
from icub_learning.simulation import simulate
from icub_learning.simulation.zoo import ZOO

RATE = 100  # [Hz]
ARM = Settings(urdf="icub", joints=RIGHT_ARM, sensor="r_arm_ft_sensor")
CHANGE = 13  # [s] time of the change to circles in another plane


@pytest.fixture(scope="module")
def circles():
    return simulate([("circle_xy", CHANGE), ("circle_xz", 8.0)], rate=RATE)


def made(settings):
    regressor = assembly.make_regressor(settings)
    return assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))


def hear(stream, circles, k):
    stream.joint_state(circles.joint_stamps[k], RIGHT_ARM, circles.position[k], circles.velocity[k])
    stream.measurement(circles.joint_stamps[k], circles.wrench[k])
    stream.pair()


def test_circles_in_another_plane_are_learned_soon(circles):
    """After 13 s in one plane, errors in the next must not pass for a load, which would stop learning for seconds."""
    stream, withheld = made(ARM), {}
    for k in range(len(circles.position)):
        hear(stream, circles, k)
        stream.learn()
        assert stream.watch.ready or k < CHANGE * RATE
        withheld[k / RATE] = stream.counts.withheld
    assert stream.counts.withheld == withheld[CHANGE + 6.0] < 1.0 * RATE  # from then on every sample is learned


def test_lost_samples_are_no_contacts(circles):
    """Up to 0.6 s are lost again and again, one in four of the other samples is learned, and the plane changes."""
    stream, rng, lost, complete = made(ARM), np.random.default_rng(5), 0, 0
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


def test_moves_and_rests_are_no_contacts_and_a_push_during_them_is_one():
    """Accelerations are known late where a move begins or ends, which may look like a push."""
    found, at = ZOO["z1_no_velocity_200hz"].record(20.0, 0), []
    stream, push = made(Settings(**found.settings, watch="always")), 2.0 * np.std(found.recording.effort, axis=0)
    for event in found.recording.events():
        effort = event.effort + push * (17.0 <= event.stamp * 1e-9 < 18.0)
        stream.joint_state(event.stamp + 1, event.names, event.position, None, effort)
        stream.learn()
        at += [event.stamp * 1e-9] * stream.watch.contact
    assert 17.0 <= at[0] < 17.1 and at[-1] < 19.0
