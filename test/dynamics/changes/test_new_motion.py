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


@pytest.mark.parametrize(
    "first, second", [("circle_xy", "circle_xz"), ("circle_xz", "circle_xy")], ids=["xy to xz", "xz to xy"]
)
def test_circles_in_another_plane_are_learned_soon(first, second):
    """After 12 s in one plane the errors of the next one were taken for a load, and nothing was learned for seconds."""
    simulation = ArmSimulation(SimulationSettings(task=first))
    settings = Settings(urdf=find_urdf("icub"), joints=RIGHT_ARM, sensor="r_arm_ft_sensor")
    regressor = assembly.make_regressor(settings)
    stream = assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))

    def run(seconds: float) -> None:
        for _ in range(round(seconds * RATE)):
            for _ in range(1000 // RATE):
                simulation.step()
            shown = simulation.sensors()
            stream.joint_state(shown.stamp, RIGHT_ARM, shown.position, shown.velocity)
            stream.measurement(shown.stamp, shown.wrench)
            stream.pair()
            stream.learn()

    run(12.0)
    assert stream.watch.ready
    simulation.set_task(second)
    run(6.0)
    withheld = stream.counts.withheld
    assert withheld < 1.0 * RATE
    run(2.0)
    assert stream.counts.withheld == withheld  # it learns


def test_lost_samples_are_no_contacts():
    """Up to .6 s are lost again and again, one in four of the others is learned, and the circles change their plane."""
    rng, simulation = np.random.default_rng(5), ArmSimulation(SimulationSettings(task="circle_xy"))
    settings = Settings(urdf=find_urdf("icub"), joints=RIGHT_ARM, sensor="r_arm_ft_sensor")
    regressor = assembly.make_regressor(settings)
    stream = assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))
    lost, complete = 0, 0
    for k in range(22 * RATE):
        for _ in range(1000 // RATE):
            simulation.step()
        if k == 14 * RATE:
            simulation.set_task("circle_xz")
        if k > 12 * RATE and k % (3 * RATE // 4) == 0:
            lost = int(rng.uniform(0.1, 0.6) * RATE)
        lost -= 1
        if lost >= 0:
            continue
        shown = simulation.sensors()
        stream.joint_state(shown.stamp, RIGHT_ARM, shown.position, shown.velocity)
        stream.measurement(shown.stamp, shown.wrench)
        stream.pair()
        for sample in stream.complete():
            complete += 1
            if complete % 4 == 0:
                sample.teach(stream.estimator, 4)
    assert stream.watch.ready
    assert not stream.watch.counts and stream.counts.withheld == 0
