"""Every parameter file fits the node it is for, says what each line means, and describes a robot that exists."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.node_settings import PARAMETERS

from icub_learning.dynamics import assembly
from icub_learning.launching.table import SYSTEMS
from icub_learning.nodes.common.parameters import ros_default
from icub_learning.robots import find_urdf
from icub_learning.settings import pick

CONFIG = Path(__file__).resolve().parents[2] / "config"
FILES = sorted(file.name for file in CONFIG.glob("*.yaml") if file.name != "gazebo_bridge.yaml")

ARMS = "icub_arms.yaml"
SAME = dict.fromkeys(("right_arm_dynamics", "left_arm_dynamics"), "inverse_dynamics")  # nodes under other names
OTHERS = {"recognition.yaml": "cnn_features", "detection.yaml": "object_detection", ARMS: "right_arm_dynamics"}


def read(name: str) -> dict[str, dict[str, Any]]:
    content = yaml.safe_load((CONFIG / name).read_text())
    assert {tuple(entry) for entry in content.values()} == {("ros__parameters",)}
    return {node: entry["ros__parameters"] for node, entry in content.items()}


def test_every_robot_of_the_launch_files_has_a_file_and_every_file_is_known() -> None:
    (robot,) = (argument for argument in SYSTEMS["robot"].arguments if argument.name == "robot")
    robots = set(robot.description.partition(": ")[2].split(", "))
    assert robot.default in robots
    gazebo = {"gazebo", "gazebo_icub_left_arm", "gazebo_panda"}
    wanted = robots | gazebo | {"icub_arms", "simulation", "recognition", "detection"}
    assert {Path(name).stem for name in FILES} == wanted


@pytest.mark.parametrize("name", FILES)
def test_parameters_fit_their_node(name: str) -> None:
    content = read(name)
    assert OTHERS.get(name, "inverse_dynamics") in content
    for node, values in content.items():
        settings = {setting.name: setting for setting in PARAMETERS[SAME.get(node, node)]}
        for key, value in values.items():
            setting = settings[key]
            assert type(value) is type(ros_default(setting)), f"{node}.{key}"  # ROS does not take 1 for 1.0
            if isinstance(value, list):
                assert {type(entry) for entry in value} == {type(ros_default(setting)[0])}, f"{node}.{key}"
            setting.validate(value)


@pytest.mark.parametrize("name", sorted({*FILES} - {*OTHERS}))
def test_the_robot_has_what_the_file_names(name: str) -> None:
    values = read(name)["inverse_dynamics"]
    settings = pick(assembly.Settings, values, urdf=find_urdf(values["urdf"]))
    regressor = assembly.make_regressor(settings)
    assert regressor.joints == tuple(values["joints"])
    assert regressor.n_outputs == (6 if values["output"] == "wrench" else len(values["joints"]))
    assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))
    if values.get("frame_id"):
        assert values["frame_id"] == regressor.frame


def test_simulation_and_learner_mean_the_same_arm() -> None:
    content = read("simulation.yaml")
    letter = content["icub_simulation"]["side"][0]
    assert all(joint.startswith(f"{letter}_") for joint in content["inverse_dynamics"]["joints"])
    assert content["inverse_dynamics"]["sensor"].startswith(f"{letter}_")
    # Half a period: the nearest stamp is the right one, and none is paired with a neighbour's.
    assert content["inverse_dynamics"]["tolerance"] == pytest.approx(0.5 / content["icub_simulation"]["rate"])


def test_right_and_left_arm_differ_by_their_letter_alone_and_both_have_the_parameters_of_each() -> None:
    right, left = ((CONFIG / f"icub_{side}_arm.yaml").read_text() for side in ("right", "left"))
    assert right.replace("right", "left").replace(" r_", " l_") == left
    both = read(ARMS)
    assert both == {f"{s}_arm_dynamics": read(f"icub_{s}_arm.yaml")["inverse_dynamics"] for s in ("right", "left")}
    assert set(both) == {process.name for process in SYSTEMS["icub"].processes}
