"""Checks of a robot's messages: each planted fault is reported, and none is reported for sound robots.
Thresholds were chosen on motions with seeds below 7 and from 10 to 19; the motions here have other seeds."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers import records
from helpers.planted_faults import EFFORT_FAULTS, FAULTS, planted
from helpers.sound_robots import cut, moved, rows, zoo_robot

from icub_learning.cli.check.report import as_text, parameters
from icub_learning.dynamics.regressors.robot_model import RobotModel
from icub_learning.evaluation.robot_check.messages import check_names
from icub_learning.evaluation.robot_check.motion import check_velocities
from icub_learning.evaluation.robot_check.observation import OPEN, Observation, guess_sensor
from icub_learning.evaluation.robot_check.suite import check_robot
from icub_learning.evaluation.robot_check.timing import check_rates, check_stamps
from icub_learning.recording import JointStateEvent, Recording, read
from icub_learning.robots import find_urdf
from icub_learning.simulation.arm.recordings import simulate
from icub_learning.simulation.zoo import ZOO

ARMS = ("lbr_med7_exciting", "tiago", "ur10e_14harm50sec", "ur10e_14harm50secLoad")
REAL = (*(f"arms/{name}.npz" for name in ARMS), "ur10/ur10_exciting_trajectory.db3")
PLANTED = {"right": FAULTS, "left": FAULTS, "xarm7_500hz": EFFORT_FAULTS, "ur10_currents_125hz": EFFORT_FAULTS}


@cache
def sound(name):
    """Ten seconds of a robot; of the left arm four, which tell all faults too, as they have to live."""
    if name != "left":
        return zoo_robot("icub_wrench_100hz", seed=8) if name == "right" else zoo_robot(name)
    robot = zoo_robot("icub_left_arm_wrench_100hz", seed=9)
    return robot._replace(recording=moved(cut(robot.recording, 4.0, 8.0), 5))


def checked(robot, recording):
    frame = recording.wrench_frame if robot.sensor else None
    return check_robot(Observation(recording, robot.urdf, robot.sensor, frame))


@pytest.mark.parametrize(("name", "fault"), [(name, fault) for name, some in PLANTED.items() for fault in some])
def test_a_planted_fault_is_named_and_nothing_else(name, fault):
    robot = sound(name)
    report = checked(robot, planted(fault, robot.recording))
    assert set(report.faults) == PLANTED[name][fault][0]
    said = " ".join(finding.text for finding in report.findings if finding.name == "prefix")
    assert fault != "prefixed" or "have the prefix 'left/' in the messages only" in said
    shown = [*as_text(report).splitlines(), *(parameters(report, "a.urdf").splitlines() if report.settings else ())]
    records.check(__file__, f"{name}, {fault}", [line for line in shown if not line.lstrip().startswith("#")])


def test_settings_follow_from_what_was_found_no_tolerance_without_a_period_and_silence_is_named(tmp_path):
    robot = sound("right")
    few = cut(robot.recording, 0.0, 0.02)
    wrenches = {name: getattr(robot.recording, name) for name in ("wrench", "wrench_stamps", "wrench_arrivals")}
    *_, wrenches = check_rates(Observation(replace(few, **wrenches), robot.urdf, robot.sensor, few.wrench_frame))
    assert "wrenches come at" in wrenches.text and not wrenches.settings
    stamps = robot.recording.joint_stamps
    changed = {"divide them": 1000 * stamps, "hardly be nanoseconds": stamps // 1000, "at 100": np.repeat(stamps, 2)}
    changed["by 1000000"] = 10**6 * (stamps - stamps[0])
    for said, times in changed.items():
        position = np.repeat(robot.recording.position, len(times) // len(stamps), axis=0)
        (states,) = check_rates(Observation(Recording(few.joint_names, times, position), robot.urdf))
        assert states.name == "rate" and said in states.text + states.remedy
    late = stamps + np.where(np.arange(len(stamps)) < 300, 0, 10**18)  # a new clock
    assert checked(robot, replace(robot.recording, joint_stamps=late, joint_arrivals=late)).faults == ("gaps",)
    wrench = robot.recording.wrench
    faulty = replace(robot.recording, wrench=-wrench, wrench_stamps=np.zeros(len(wrench)))
    report = check_robot(Observation(faulty, robot.urdf, robot.sensor, ""))
    assert report.faults == ("stamps_unset", "frame", "gravity")
    assert (report.settings.stamp_source, report.settings.wrench_direction) == ("arrival", "child_to_parent")
    assert [f.settings["frame_id"] for f in report.findings if f.name == "frame"] == ["r_upper_arm"]
    from_0 = replace(robot.recording, joint_stamps=stamps - stamps[0])  # a file that starts at 0
    (one,) = check_stamps(Observation(from_0, robot.urdf))
    assert (one.name, one.verdict, one.settings) == ("stamps_unset", "wrong", {})
    trials = np.r_[stamps[:500], stamps[: len(stamps) - 500]]
    changed = {"add a constant": stamps - stamps[0], "each trial": trials, "all digits": stamps // 10**9 * 10**9}
    for said, times in changed.items():  # of a file without arrivals, which then cannot help
        made = replace(robot.recording, joint_stamps=times, joint_arrivals=np.maximum.accumulate(times))
        (one,) = check_stamps(Observation(made, robot.urdf))
        assert said in one.remedy and one.verdict == "wrong" and not one.settings
    order = np.random.default_rng(0).permutation(500)  # rows of a file that are in no order
    np.savez(tmp_path / "rows.npz", **{"stamp_ns": stamps[order], "position.a": np.zeros(500)})
    (one,) = check_stamps(Observation(read(tmp_path / "rows.npz"), robot.urdf))
    assert "sort the rows" in one.remedy and not one.settings
    twice = np.repeat(robot.recording.wrench_stamps[::2], 2)
    report = checked(robot, replace(robot.recording, mixed_frames=["r_upper_arm", "l_hand"], wrench_stamps=twice))
    assert report.faults == ("publishers",) and "r_upper_arm, l_hand" in report.findings[0].text
    late = checked(robot, replace(robot.recording, wrench=np.roll(wrench, 300, axis=0))).findings[-1]
    assert late.verdict == OPEN and "does not follow the weight" in late.text
    turned = replace(robot.recording, wrench=wrench[:, [1, 0, 2, 4, 3, 5]] * np.tile([1.0, -1.0, 1.0], 2))
    said = " ".join(one.text for one in checked(robot, turned).findings)
    assert all(f"{what}.x shows y, {what}.y shows -x" in said for what in ("force", "torque"))
    assert guess_sensor(robot.urdf, ["none"]) == ""
    report = check_robot(Observation(cut(robot.recording, 0.0, 0.0), robot.urdf))
    assert report.faults == ("silence",) and not report.settings and all(one.verdict != OPEN for one in report.findings)


@pytest.mark.parametrize("name", [*ZOO, "left"])
def test_nothing_is_wrong_with_robots_of_the_zoo(name):
    report = checked(sound(name), sound(name).recording)
    missing = [one.remedy for one in report.findings if one.name == "velocity_missing"]
    assert not report.faults and len(missing) == (name != "left" and not ZOO[name].joint_sensors.velocity)


@pytest.mark.parametrize("task", ["circle_xy", "circle_xz", "random"])
def test_nothing_is_wrong_with_the_simulated_icub(task):
    """Cables and cross-talk cause part of its wrench, which must not be taken for a swapped axis."""
    recording = simulate([(task, 5.0)], 100.0)
    report = check_robot(Observation(recording, find_urdf("icub"), "r_arm_ft_sensor", recording.wrench_frame))
    settings, expected = report.settings, ((), "wrench", "r_arm_ft_sensor", recording.joint_names)
    assert (report.faults, settings.output, settings.sensor, tuple(settings.joints)) == expected


@pytest.mark.parametrize("name", REAL)
def test_nothing_is_wrong_with_recordings_of_real_arms(name, shared_data):
    path = shared_data / name
    if not path.exists():
        pytest.skip(f"no {path}")
    recording = read(path)
    urdf = find_urdf("ur10") if path.suffix == ".db3" else str(path.with_suffix(".urdf"))
    assert check_robot(Observation(recording, urdf)).faults == ()
    assert check_robot(Observation(replace(recording, effort=-recording.effort), urdf)).faults == ("gravity",)


def test_what_cannot_be_judged_at_rest_is_left_open():
    robot = sound("icub_wrench_100hz")
    still = replace(robot.recording, position=0.0 * robot.recording.position, velocity=0.0 * robot.recording.position)
    report = check_robot(Observation(still, robot.urdf, robot.sensor, "r_upper_arm"))
    assert report.faults == ()
    assert {"motion", "velocities", "frozen", "gravity"} <= {one.name for one in report.findings if one.verdict == OPEN}


def test_continuous_joints_that_begin_again_alternating_messages_and_sensors_without_a_name():
    recording, urdf = (robot := sound("ur10_currents_125hz")).recording, robot.urdf
    text = RobotModel(urdf, recording.joint_names).urdf.replace('type="revolute"', 'type="continuous"')
    wrapped = np.remainder(recording.position + 3.0 + np.pi, 2.0 * np.pi) - np.pi
    for position in (recording.position + 3.0, wrapped):
        assert "velocities" not in check_robot(Observation(replace(recording, position=position), text)).faults
    assert np.abs(np.diff(wrapped, axis=0)).max() > 6.0
    fast = {name: np.degrees(10.0 * getattr(recording, name)) for name in ("position", "velocity")}
    found = check_velocities(Observation(replace(recording, **fast), text))
    assert [one.name for one in found] == ["degrees", "degrees"] and "taken as degrees" in found[0].text
    lift = np.arange(6) == 1
    turned = [np.where(lift, np.degrees(own), own) for own in (recording.position, recording.velocity)]
    report = checked(robot, replace(recording, position=turned[0], velocity=turned[1], effort=-recording.effort))
    assert report.faults == ("degrees", "gravity") and "positions of shoulder_lift_joint look" in as_text(report)
    turned = {name: np.degrees(getattr(recording, name)) for name in ("position", "velocity")}
    report = check_robot(Observation(replace(recording, **turned), urdf.replace('"revolute"', '"continuous"', 1)))
    said = [one.text for one in report.findings if f"of {', '.join(recording.joint_names)} " in one.text]
    assert "look like degrees" in said[0] and "once positions are in radians: degrees per second" in said[1]
    slides = re.sub('(<joint name="shoulder_lift_joint" type=")revolute', r"\1prismatic", urdf)
    millimetres = np.where(lift, 1e3, 1.0) * recording.position
    assert "limits" in check_robot(Observation(replace(recording, position=millimetres), slides)).faults
    effort = np.where(lift, np.roll(recording.effort, 300, axis=0), recording.effort)
    *_, last = checked(robot, replace(recording, effort=effort)).findings
    assert last.text == "efforts do not follow the URDF's torques: shoulder_lift_joint"
    both = np.arange(1000).reshape(2, -1).T.ravel()  # two halves of a motion, as if recorded at the same time
    times = dict.fromkeys(("joint_stamps", "joint_arrivals"), np.repeat(recording.joint_stamps[:500], 2))
    assert checked(robot, replace(recording, **{**rows(recording, "joint", both), **times})).faults == ("stamps_order",)
    names, turns = recording.joint_names, (slice(0, 3), slice(3, 6))
    events = [JointStateEvent(at, at, names[turns[at % 2]], *np.ones((3, 3))) for at in range(1, 200)]
    again = [JointStateEvent(at, at, names[::-1], *np.ones((3, 6))) for at in range(1, 200)]
    report = checked(robot, replace(recording, irregular=again))
    assert report.faults == ("joint_order",) and report.settings.joint_order == "any"
    report = check_robot(Observation(Recording(names, [], np.empty((0, 6)), irregular=events), urdf))
    assert report.faults == ("publishers",) and "other joints than one another" in report.findings[0].text
    nameless = check_robot(Observation(sound("left").recording, sound("left").urdf))
    assert nameless.faults[0] == "outputs" and nameless.settings is None


@pytest.mark.parametrize(("published", "expected"), [(True, ()), (False, ("clock",)), (None, ())])
def test_a_simulated_clock_needs_its_topic(published, expected):
    robot = sound("icub_wrench_100hz")
    made, since = robot.recording, robot.recording.joint_stamps[0] - 10**17
    early = replace(made, joint_stamps=made.joint_stamps - since, wrench_stamps=made.wrench_stamps - since)
    report = check_robot(Observation(early, robot.urdf, robot.sensor, "r_upper_arm", clock_published=published))
    assert report.faults == expected
    assert any(one.name == "clock" and one.verdict == OPEN for one in report.findings) == (published is None)


@pytest.mark.parametrize("name", sorted(x for x in ZOO if ZOO[x].joint_sensors.velocity and "slow_two" not in x))
def test_velocities_of_another_motion_are_named(name):  # a slow robot moves too little within a window to judge them
    robot, other = sound(name), zoo_robot(name, seed=9).recording.velocity
    own = robot.recording.velocity
    velocity = np.r_[other[: len(own)], own[len(other) :]]
    assert "velocities" in checked(robot, replace(robot.recording, velocity=velocity)).faults


def test_masses_that_are_negative_or_0_and_joints_that_only_messages_or_only_the_urdf_have_are_named():
    robot = sound("planar_arm_1khz")
    found = check_robot(Observation(robot.recording, robot.urdf.replace('mass value="', 'mass value="-')))
    assert "urdf" in found.faults and found.settings is None
    found = check_robot(Observation(robot.recording, re.sub('mass value="[^"]*"', 'mass value="0"', robot.urdf)))
    assert any("gives the links that move no mass" in one.text for one in found.findings)
    small = re.sub('((?:mass value|i[xyz]{2})=")([^"]*)', lambda one: f"{one[1]}{1e-3 * float(one[2])}", robot.urdf)
    made, (first, second) = robot.recording, robot.recording.joint_names
    for sign, faults in ((1e-3, ()), (-1e-3, ("gravity",))):  # of a robot with small torques
        assert check_robot(Observation(replace(made, effort=sign * made.effort), small)).faults == faults
    more = {name: np.c_[getattr(made, name), made.position[:, :1]] for name in ("position", "effort")}
    for names, values, still in (
        ((first, second, "gripper"), more, f"{first}, {second}"),
        ((first, "gripper"), {}, f"{first}; taken to stand still, since no message names them: {second}"),
    ):
        right, found = check_names(Observation(replace(made, joint_names=names, **values), robot.urdf))
        assert "lacks gripper: they are not learned" in found.text and found.settings == {"extra_joints": ("gripper",)}
        assert right.text.endswith(still)
    mimicking = re.sub(f'(<joint name="{second}"[^>]*>)', rf'\1<mimic joint="{first}"/>', robot.urdf)
    right, _ = check_names(Observation(replace(made, joint_names=(first, "gripper")), mimicking))
    assert right.text.endswith(f"taken to stand still, since mimic joints not published are held at 0: {second}")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 30))
def test_many_motions(seed):
    for name, robot in ZOO.items():
        sound = zoo_robot(name, seed)
        assert not checked(sound, sound.recording).faults, name
        if robot.sensor and robot.joint_sensors.velocity and robot.clock.rate >= 100.0:
            for fault, (names, _) in FAULTS.items():
                assert set(checked(sound, planted(fault, sound.recording)).faults) == names, (name, fault)
