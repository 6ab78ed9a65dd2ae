"""A motion that is new to the body, or known badly after lost samples, is no load and no contact."""

import numpy as np
import pytest
from helpers.robots import RIGHT_ARM

from icub_learning.dynamics import assembly
from icub_learning.dynamics.settings import Settings
from icub_learning.robots import find_urdf
from icub_learning.simulation import ArmSimulation
from icub_learning.simulation.arm.settings import SimulationSettings

RATE = 200  # [Hz]


class Arm:
    """A simulated arm on circles, and the stream that hears of it."""

    def __init__(self, task):
        self.simulation = ArmSimulation(SimulationSettings(task=task))
        settings = Settings(urdf=find_urdf("icub"), joints=RIGHT_ARM, sensor="r_arm_ft_sensor")
        regressor = assembly.make_regressor(settings)
        self.stream = assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))

    def move(self):
        for _ in range(1000 // RATE):
            self.simulation.step()

    def hear(self):
        shown = self.simulation.sensors()
        self.stream.joint_state(shown.stamp, RIGHT_ARM, shown.position, shown.velocity)
        self.stream.measurement(shown.stamp, shown.wrench)
        self.stream.pair()

    def run(self, seconds):
        for _ in range(round(seconds * RATE)):
            self.move()
            self.hear()
            self.stream.learn()


@pytest.mark.parametrize(
    "first, second", [("circle_xy", "circle_xz"), ("circle_xz", "circle_xy")], ids=["xy to xz", "xz to xy"]
)
def test_circles_in_another_plane_are_learned_soon(first, second):
    """After 12 s in one plane the errors of the next one were taken for a load, and nothing was learned for seconds."""
    arm = Arm(first)
    arm.run(12.0)
    assert arm.stream.watch.ready
    arm.simulation.set_task(second)
    arm.run(6.0)
    withheld = arm.stream.counts.withheld
    assert withheld < 1.0 * RATE
    arm.run(2.0)
    assert arm.stream.counts.withheld == withheld  # it learns


def test_lost_samples_are_no_contacts():
    """Up to .6 s are lost again and again, one in four of the others is learned, and the circles change their plane."""
    rng, arm = np.random.default_rng(5), Arm("circle_xy")
    stream, lost, complete = arm.stream, 0, 0
    for k in range(22 * RATE):
        arm.move()
        if k == 14 * RATE:
            arm.simulation.set_task("circle_xz")
        if k > 12 * RATE and k % (3 * RATE // 4) == 0:
            lost = int(rng.uniform(0.1, 0.6) * RATE)
        lost -= 1
        if lost >= 0:
            continue
        arm.hear()
        for sample in stream.complete():
            complete += 1
            if complete % 4 == 0:
                sample.teach(stream.estimator, 4)
    assert stream.watch.ready
    assert not stream.watch.counts and stream.counts.withheld == 0
