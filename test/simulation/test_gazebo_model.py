"""What goes to Gazebo, checked without Gazebo: its dynamics with MuJoCo, its formats against their documents."""

import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml

from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor
from icub_learning.errors import IcubLearningError, ModelError
from icub_learning.robots import find_urdf
from icub_learning.simulation import gazebo_model
from icub_learning.simulation.arm.arm_model import ArmModel
from icub_learning.simulation.gazebo_model import GZ, SYSTEMS, WORLD, gazebo_world, world_file
from icub_learning.simulation.urdf import reduced_robot

RIGHT, ICUB = ArmModel("right"), Path(find_urdf("icub")).read_text()


@pytest.fixture(scope="module", params=["right", "left"])
def arm(request: pytest.FixtureRequest) -> ArmModel:
    return ArmModel(request.param)


@pytest.fixture(scope="module")
def robot(arm: ArmModel) -> ElementTree.Element:
    return ElementTree.fromstring(gazebo_model.gazebo_model(find_urdf("icub"), arm.joint_names, arm.sensor))


def test_mass_is_kept_the_root_is_the_world_and_nothing_of_other_simulators_is_left(robot: ElementTree.Element) -> None:
    robots = robot, ElementTree.XML(ICUB)
    made, own = ([float(mass.get("value", "nan")) for mass in one.iter("mass")] for one in robots)
    assert sum(made) == sum(own) > 20
    links = {link.get("name") for link in robot.findall("link")}
    children = [joint.find("child").get("link") for joint in robot.findall("joint")]  # type: ignore[union-attr]
    assert links - set(children) == {"world"} and len(children) == len(set(children))
    assert "yarp" not in ElementTree.tostring(robot, encoding="unicode") and not robot.findall("sensor")
    assert {(plugin.get("filename"), plugin.get("name")) for plugin in robot.iter("plugin")} == {
        ("gz-sim-joint-state-publisher-system", "gz::sim::systems::JointStatePublisher"),
        ("gz-sim-joint-trajectory-controller-system", "gz::sim::systems::JointTrajectoryController"),
    }


def test_a_root_without_mass_becomes_the_world() -> None:
    text = ICUB.replace("</robot>", '<link name="base"/><joint name="to_root" type="fixed"><parent link="base"/>'
                                      '<child link="root_link"/></joint></robot>')  # fmt: skip
    made = ElementTree.fromstring(gazebo_model.gazebo_model(text, RIGHT.joint_names, RIGHT.sensor))
    assert "base" not in {link.get("name") for link in made.findall("link")}
    (joint,) = (joint for joint in made.findall("joint") if joint.get("name") == "to_root")
    assert joint.find("parent").get("link") == "world"  # type: ignore[union-attr]


def test_the_sensor_measures_what_the_regressor_means(robot: ElementTree.Element, arm: ArmModel) -> None:
    (sensor,) = robot.iter("sensor")
    assert sensor.get("type") == "force_torque"
    # In the axes of the child, at the joint's origin (a pose would move it), as the parent acts on the child.
    expected = {
        "force_torque/frame": "child", "force_torque/measure_direction": "child_to_parent", "pose": None,
        "gz_frame_id": arm.sensor_frame, "update_rate": str(gazebo_model.RATE),
    }  # fmt: skip
    assert {path: sensor.findtext(path) for path in expected} == expected
    references = [element for element in robot.findall("gazebo") if element.get("reference") == arm.sensor]
    assert any(element.findtext("preserveFixedJoint") == "true" for element in references)
    # Joints that do not move stand where the learner's model holds them: 0 is beyond the elbow's limits.
    moving = [name for name in arm.joint_names if not name.endswith(("_elbow", "_wrist_yaw"))]
    for text in (ICUB, ICUB.replace('_elbow" type="revolute"', '_elbow" type="prismatic"')):
        both = text, gazebo_model.gazebo_model(text, moving, arm.sensor)
        models = [WrenchRegressor.from_urdf(one, joints=moving, sensor=arm.sensor) for one in both]
        motion = np.random.default_rng(1).normal(size=(3, len(moving)))
        np.testing.assert_allclose(*(model(*motion) @ model.nominal_parameters for model in models), atol=1e-9)


def test_position_control_is_stable_and_carries_the_arm(robot: ElementTree.Element, arm: ArmModel) -> None:
    """The controller and the joints' damping, in MuJoCo at Gazebo's step, through postures all over the workspace."""
    names = arm.joint_names
    (controller,) = (plugin for plugin in robot.iter("plugin") if "trajectory" in str(plugin.get("filename")))
    assert [element.text for element in controller.findall("joint_name")] == list(names)
    columns = ("position_p_gain", "position_i_gain", "position_cmd_offset")
    numbers = [[float(element.text or "nan") for element in controller.findall(tag)] for tag in columns]
    proportional, integral, offset = map(np.array, numbers)
    bare = ElementTree.fromstring(ElementTree.tostring(robot))
    for element in bare.findall("gazebo"):
        bare.remove(element)
    links = {link.get("name", "") for link in bare.findall("link")}
    model, model.opt.timestep = mujoco.MjModel.from_xml_string(reduced_robot(bare, links, names)), 0.001
    data, order = mujoco.MjData(model), [model.joint(name).qposadr[0] for name in names]
    lower, upper = model.jnt_range[order].T
    assert (lower <= 0).all() and (upper >= 0).all()  # Gazebo starts the joints at 0
    random = np.random.default_rng(3)
    start = goal = total = largest = np.zeros(len(names))
    for step in range(12_000):
        if step % 3000 == 0 and step:
            start, goal = goal, random.uniform(lower, upper)
        phase = min(step % 3000 / 2000, 1.0)
        error = data.qpos[order] - (start + (goal - start) * phase**3 * (10 - 15 * phase + 6 * phase**2))
        total = total + error * 0.001
        data.qfrc_applied[order] = offset - proportional * error - integral * total
        mujoco.mj_step(model, data)
        if step < 3000:
            assert np.degrees(np.abs(error)).max() < 0.01  # from the first step on: nothing sags
        else:
            largest = np.maximum(largest, np.abs(error))
    assert np.degrees(largest).max() < 5.0 and np.degrees(np.abs(error)).max() < 0.5


@pytest.mark.parametrize(("text", "moving", "sensor", "words"), [
    ("<robot", ["r_elbow"], "r_arm_ft_sensor", "parse"), (None, ["r_knob"], "r_arm_ft_sensor", "r_knob"),
    (None, ["r_elbow"], "r_nose_ft_sensor", "r_nose_ft_sensor"), (None, ["r_elbow"], "r_wrist_yaw", "fixed"),
])  # fmt: skip
def test_a_model_that_lacks_something_is_refused(text: str | None, moving: list[str], sensor: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        gazebo_model.gazebo_model(text or ICUB, moving, sensor)


@pytest.mark.parametrize(("content", "words"), [
    ("", r"config\.yaml"), ("a: [", r"config\.yaml"), ("urdf: icub", r"config\.yaml.*sensor"), (None, r"config\.yaml"),
    ("urdf: icub, output: joint_torque", "output .*no efforts"), ("urdf: topic, joints: [a], sensor: b", "URDF's file"),
])  # fmt: skip
def test_a_parameter_file_without_robot_is_refused(content: str | None, words: str, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    if content is not None:
        file.write_text(f"inverse_dynamics: {{ros__parameters: {{{content}}}}}" if ": " in content[:6] else content)
    with pytest.raises(IcubLearningError, match=words):
        gazebo_model.model_file(file)


@pytest.mark.parametrize(("config", "joints", "frame"), [
    ("gazebo", RIGHT.joint_names, "r_upper_arm"),
    ("gazebo_panda", tuple(f"panda_joint{k}" for k in range(1, 8)), "panda_hand"),
])  # fmt: skip
def test_robots_of_parameter_files_are_made_with_their_meshes(config, joints, frame, checkout, monkeypatch, tmp_path):
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", "/kept")
    file = checkout / "config" / f"{config}.yaml"
    robot = ElementTree.parse(gazebo_model.model_file(file)).getroot()
    assert {joint.get("name") for joint in robot.findall("joint") if joint.get("type") != "fixed"} == {*joints}
    assert [sensor.findtext("gz_frame_id") for sensor in robot.iter("sensor")] == [frame]
    *folders, world, kept = gazebo_model.resource_path(file, "/world").split(os.pathsep)
    assert (world, kept) == ("/world", "/kept")
    meshes = {mesh.get("filename", "") for mesh in robot.iter("mesh")}
    assert len(meshes) > 10
    for name in meshes:
        assert any(Path(folder, name.removeprefix("package://")).is_file() for folder in folders)
    (own := tmp_path / "own.urdf").write_text(ICUB.replace("package://", "../"))
    robot = ElementTree.fromstring(gazebo_model.gazebo_model(str(own), RIGHT.joint_names, RIGHT.sensor))
    assert all(mesh.get("filename", "").startswith(f"{tmp_path}/../iCub/") for mesh in robot.iter("mesh"))


def test_bridge_joins_gazebo_and_the_nodes(checkout: Path) -> None:
    """Keys, directions and Gazebo's type for each ROS type are those of ros_gz_bridge's README."""
    entries = yaml.safe_load((checkout / "config" / "gazebo_bridge.yaml").read_text())
    keys = ("ros_topic_name", "gz_topic_name", "ros_type_name", "gz_type_name", "direction")
    assert {key for entry in entries for key in entry} <= {*keys, "publisher_queue"}
    below, up, down = "/icub_learning", "GZ_TO_ROS", "ROS_TO_GZ"
    commands = "trajectory_msgs/msg/JointTrajectory", "gz.msgs.JointTrajectory", down
    assert sorted(tuple(entry[key] for key in keys) for entry in entries) == [
        ("/clock", f"/world/{WORLD}/clock", "rosgraph_msgs/msg/Clock", "gz.msgs.Clock", up),
        ("/gazebo/joint_states", f"{below}/joint_states", "sensor_msgs/msg/JointState", "gz.msgs.Model", up),
        ("/gazebo/joint_trajectory", f"{below}/joint_trajectory", *commands),
        ("/wrench", f"{below}/wrench", "geometry_msgs/msg/WrenchStamped", "gz.msgs.Wrench", up),
    ]


@pytest.mark.parametrize("text", ['<sdf version="1.9"><world name="a"><gravity>0 0 -1</gravity></world></sdf>', None])
def test_a_world_gets_all_that_is_relied_on(text: str | None, checkout: Path) -> None:
    made = gazebo_world(text or (checkout / "urdf" / "icub_learning_world.sdf").read_text(), "/some/robot.urdf")
    world = next(ElementTree.fromstring(made).iter("world"))
    assert world.get("name") == WORLD
    assert world.findtext("gravity") == "0 0 -9.81"  # gravity that the learner assumes
    assert float(world.findtext("physics/max_step_size", "")) == 0.001
    plugins = {plugin.get("name"): plugin for plugin in world.findall("plugin")}
    assert set(plugins) == {f"gz::sim::systems::{kind}" for kind in SYSTEMS.values()}
    assert len(plugins) == len(world.findall("plugin"))
    assert plugins["gz::sim::systems::Physics"].findtext(f"{{{GZ}}}system_priority") == "-64"
    # sdformat looks at the prefix, not at the namespace.
    assert "<gz:system_priority>-64</gz:system_priority>" in made and f'xmlns:gz="{GZ}"' in made
    (include,) = world.findall("include")
    assert include.findtext("uri") == "/some/robot.urdf"


def test_world_and_model_land_in_the_cache_and_a_file_without_world_is_refused(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    config, world = checkout / "config" / "gazebo.yaml", checkout / "urdf" / "icub_learning_world.sdf"
    file = world_file(config, world)
    assert world_file(config, world) == file
    model = gazebo_model.model_file(config)
    assert ElementTree.parse(file).findtext("world/include/uri") == str(model)
    assert {file, model} == set(file.parent.iterdir())  # one file each
    assert re.fullmatch(r"gazebo_world_[0-9a-f]{16}\.sdf", file.name) and "r_arm_ft_sensor" in model.read_text()
    for content, words in ((None, r"bad\.sdf"), ("<sdf", "parse"), ("<sdf/>", "no world")):
        (tmp_path / "bad.sdf").write_text(content) if content else None
        with pytest.raises(ModelError, match=words):
            world_file(config, tmp_path / "bad.sdf")
