"""The zoo's recordings: the truth beside them, and how the measured signals differ from it."""

import numpy as np
import pytest

from icub_learning.dynamics.assembly import make_regressor
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import ParameterError
from icub_learning.evaluation.predict_then_learn import check_outputs
from icub_learning.simulation.zoo import DEVELOPMENT, JUDGING, ZOO


@pytest.fixture(scope="module")
def recordings():
    return {name: robot.record(8.0, seed=1) for name, robot in ZOO.items()}


def test_parts_are_disjoint_joints_without_reach_stand_still_and_an_elastic_gear_shows_in_the_outputs(recordings):
    assert not set(DEVELOPMENT) & set(JUDGING) and set(ZOO) == {*DEVELOPMENT, *JUDGING}
    assert len(DEVELOPMENT) >= 5 and len(JUDGING) >= 5
    for name, given in (("duration", (0.099, -1)), ("duration", (1e5 + 0.1, -1)), ("seed", (1.0, -1))):
        with pytest.raises(ParameterError, match=name):
            ZOO["planar_arm_1khz"].record(*given)
    found = recordings["ur10_slow_two_joints_still_125hz"]
    assert not found.velocity[:, 4:].any() and found.mere_noise == (False, False, False, False, True, True)
    robot, found = ZOO["panda_1khz"], recordings["panda_1khz"]
    motion = found.position, found.velocity, found.acceleration
    rigid = robot.bodies.outputs(*motion)
    assert 1e-3 < np.abs(found.outputs - robot.drives.efforts(*motion, rigid, rigid)).max() < 1.0


@pytest.mark.parametrize("name", ZOO)
def test_recordings_fit_their_settings_and_differ_from_the_truth_by_the_sensors_errors(name, recordings):
    found = recordings[name]
    settings = Settings(**found.settings)
    check_outputs(found.recording, settings)
    regressor = make_regressor(settings)
    assert regressor.joints == found.recording.joint_names
    n = len(found.recording.joint_stamps)
    assert found.position.shape == found.velocity.shape == found.acceleration.shape == (n, regressor.n_joints)
    assert found.outputs.shape == (n, regressor.n_outputs)
    assert (found.recording.velocity is None) == (settings.velocity_source == "estimated")
    robot = ZOO[name]
    shown, repeated = found.recording, robot.clock.repeated
    sensors, output_sensor = robot.joint_sensors, robot.output_sensor
    late = 4 / robot.clock.rate * np.abs(found.velocity).max() if repeated else 0.0  # [rad]
    assert np.abs(shown.position - found.position).max() <= sensors.position_step / 2 + late + 1e-12
    if shown.velocity is not None and not sensors.delays_velocity and not repeated:
        expected = np.sqrt(sensors.velocity_noise**2 + sensors.velocity_step**2 / 12)
        assert np.std(shown.velocity - found.velocity) == pytest.approx(expected, rel=0.15)
    if not (repeated or output_sensor.bandwidth or len(output_sensor.gain) or len(output_sensor.drift)):
        error = (shown.wrench if robot.sensor else shown.effort) - found.outputs
        np.testing.assert_allclose(error.std(axis=0), np.sqrt(found.output_variance), rtol=0.2)
