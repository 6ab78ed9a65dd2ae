"""Off-line identification: its choices, its held-out part, damaged recordings, refusals and published figures."""

from dataclasses import replace

import numpy as np
import pytest

from icub_learning.dynamics.settings import Settings
from icub_learning.errors import IcubLearningError, RecordingError
from icub_learning.evaluation.off_line import identify_off_line
from icub_learning.recording.files import read
from icub_learning.simulation.zoo import ZOO
from icub_learning.simulation.zoo.drives import Drives
from icub_learning.simulation.zoo.excitation import SumOfSines
from icub_learning.simulation.zoo.sensing import Clock, JointSensors, OutputSensor


def test_the_bandwidth_follows_the_noise():
    """On a planar arm that the regressor explains fully, noise on the positions calls for a low bandwidth."""
    drives = Drives(coulomb=(0.2, 0.1), viscous=(0.1, 0.05), breakaway=0.01, offset=(0.3, -0.2))
    robot = replace(
        ZOO["planar_arm_1khz"], excitation=SumOfSines(2.5, frequencies=(0.1, 0.4)), clock=Clock(500.0),
        joint_sensors=JointSensors(), output_sensor=OutputSensor((0.0, 0.0)), drives=drives,
    )  # fmt: skip
    found = robot.record(30.0, seed=5)
    settings, some = Settings(**found.settings), (2.0, 8.0, 12.0, 20.0, 40.0)
    noisy = replace(robot, joint_sensors=JointSensors(position_noise=1e-3, velocity=False)).record(30.0, seed=5)
    assert identify_off_line(found.recording, settings, bandwidths=some).bandwidth_hz >= 20.0
    assert identify_off_line(noisy.recording, settings, bandwidths=some).bandwidth_hz <= 8.0


@pytest.fixture(scope="module")
def currents():
    found = ZOO["ur5_currents_250hz"].record(30.0, seed=2)
    return found.recording, Settings(**found.settings)


def test_measured_velocities_are_used_where_they_help_and_not_where_they_are_late():
    base = ZOO["xarm7_500hz"]
    coarse = replace(base, joint_sensors=JointSensors(position_step=5e-3, velocity_noise=1e-3)).record(8.0, seed=1)
    late = replace(base, joint_sensors=JointSensors(velocity_delay=0.2)).record(8.0, seed=1)
    chosen = [identify_off_line(one.recording, Settings(**one.settings), bandwidths=(5.0,)) for one in (coarse, late)]
    assert [one.measured_velocity for one in chosen] == [True, False]


def test_nothing_of_the_part_that_judges_is_used_and_broken_rows_and_gaps_do_not_harm(currents):
    recording, settings = currents
    first, effort = identify_off_line(recording, settings, bandwidths=(5.0,)), recording.effort.copy()
    # The filter reaches across the border by some of its periods; data well beyond it must have no effect.
    late = recording.joint_stamps > recording.joint_stamps[0] + 0.75 * recording.duration * 1e9
    effort[late] = np.random.default_rng(0).normal(size=(late.sum(), 6))
    again = identify_off_line(replace(recording, effort=effort), settings, bandwidths=(5.0,))
    np.testing.assert_allclose(again.parameters, first.parameters, rtol=1e-6, atol=1e-9)
    assert again.errors[5.0, False] == pytest.approx(first.errors[5.0, False], rel=1e-6)
    position, stamps = recording.position.copy(), recording.joint_stamps.copy()
    position[1000], stamps[2000] = np.nan, stamps[1990]  # the latter goes backwards
    stamps[4000:] += 2_000_000_000  # a gap of two seconds
    bad = replace(recording, position=position, joint_stamps=stamps, joint_arrivals=np.maximum.accumulate(stamps))
    back = replace(recording, joint_stamps=recording.joint_stamps - 5 * 10**9 * (np.arange(len(stamps)) >= 4000))
    whole, *rest = (identify_off_line(x, settings, bandwidths=(3.5,)).nmse(x, (0.5, 1)) for x in (recording, bad, back))
    assert all(np.exp(np.abs(np.log(other / whole)).mean()) < 1.5 for other in rest)


def test_wrenches_are_predicted_at_their_own_stamps():
    found = ZOO["icub_wrench_100hz"].record(20.0, seed=1)
    result = identify_off_line(found.recording, Settings(**found.settings), training=(0.0, 1.0))
    predicted, measured = result.predict(found.recording)
    assert predicted.shape == measured.shape == (pytest.approx(2000 - 200 / result.bandwidth_hz, abs=3), 6)
    assert {(one, True) for one in (1.0, 2.0, 3.5, 5.0, 8.0, 12.0, 20.0)} <= result.errors.keys()
    with pytest.raises(RecordingError, match="no measurement lies in the part to predict"):
        result.predict(found.recording, (0.5001, 0.5002))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "joints", "published"), [
    ("ur10e_14harm50sec", None, 0.0323), ("ur10e_14harm50secLoad", None, 0.0201),
    ("lbr_med7_exciting", None, 0.352), ("tiago", tuple(f"arm_{number}_joint" for number in range(1, 5)), 0.145),
])  # fmt: skip
def test_real_arms_come_out_as_in_an_earlier_study(shared_data, name, joints, published):
    recording, urdf = read(shared_data / "arms" / f"{name}.npz"), str(shared_data / "arms" / f"{name}.urdf")
    settings = Settings(urdf=urdf, joints=joints or recording.joint_names, output="joint_torque")
    predicted, measured = identify_off_line(recording, settings).predict(recording, (0.7, 1.0))
    last = recording.effort[int(0.7 * len(recording.effort)) :]  # the study judged up to the last sample
    whole = last[:, [recording.joint_names.index(name) for name in settings.joints]].var(axis=0)
    assert np.exp(np.log(np.mean((predicted - measured) ** 2, axis=0) / whole).mean()) < 1.15 * published


def test_what_cannot_be_identified_is_refused_with_a_reason(currents):
    recording, settings = currents
    names = ("joint_stamps", "joint_arrivals", "position", "velocity", "effort")
    for changes, options, text in (
        ({"effort": None}, {}, "efforts"),
        ({"joint_names": ("a", "b", "elbow", "c", "d", "e")}, {}, "no joint shoulder_pan_joint"),
        ({name: getattr(recording, name)[:20] for name in names}, {}, "too few"),
        ({}, {"training": (0.5, 0.2)}, "part"), ({}, {"bandwidths": (500.0,)}, "bandwidths"),
        ({}, {"training": (0.0, 0.05), "bandwidths": (1.0,)}, r"the training part has \d rows of its own at 1 Hz"),
    ):  # fmt: skip
        with pytest.raises(IcubLearningError, match=text):
            identify_off_line(replace(recording, **changes), settings, **options)
