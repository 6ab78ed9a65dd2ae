"""A motion that is new to the body is learned, although it looks like a load or a contact for a moment."""

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
