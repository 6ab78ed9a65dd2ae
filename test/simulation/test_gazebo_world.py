"""The world for Gazebo: any world, with the robot in it and with what the learner relies on."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from icub_learning.dynamics import WrenchRegressor
from icub_learning.errors import ModelError
from icub_learning.robots import find_urdf
from icub_learning.simulation import gazebo_model
from icub_learning.simulation.gazebo_world import GZ, SYSTEMS, WORLD, gazebo_world, world_file

BARE = '<sdf version="1.9"><world name="mine"><gravity>0 0 -1.6</gravity></world></sdf>'


def world_of(text: str) -> ElementTree.Element:
    world = ElementTree.fromstring(text).find("world")
    assert world is not None
    return world


@pytest.mark.parametrize("text", [BARE, None])
def test_a_world_gets_all_that_is_relied_on(text: str | None, checkout: Path) -> None:
    world = world_of(
        gazebo_world(text or (checkout / "urdf" / "icub_learning_world.sdf").read_text(), "/some/robot.urdf")
    )
    assert world.get("name") == WORLD
    assert float(world.findtext("physics/max_step_size", "")) == 0.001
    plugins = {plugin.get("name"): plugin for plugin in world.findall("plugin")}
    assert set(plugins) == {f"gz::sim::systems::{kind}" for kind in SYSTEMS.values()}
    assert len(plugins) == len(world.findall("plugin"))
    assert plugins["gz::sim::systems::Physics"].findtext(f"{{{GZ}}}system_priority") == "-64"
    (include,) = world.findall("include")
    assert include.findtext("uri") == "/some/robot.urdf"


def test_gravity_is_the_learners() -> None:
    gravity = [float(part) for part in world_of(gazebo_world(BARE, "robot.urdf")).findtext("gravity", "").split()]
    joints = ["r_elbow"]
    regressor = WrenchRegressor.from_urdf(find_urdf("icub"), joints=joints, sensor="r_arm_ft_sensor")
    assert gravity == [0.0, 0.0, -9.81]
    wrench = regressor([0.3], [0.0], [0.0]) @ regressor.nominal_parameters
    mass = sum(
        value for name, value in zip(regressor.parameter_names, regressor.nominal_parameters, strict=True)
        if name.endswith(".m")
    )  # fmt: skip
    assert sum(wrench[:3] ** 2) ** 0.5 == pytest.approx(mass * -gravity[2])


def test_gz_elements_keep_their_prefix() -> None:
    text = gazebo_world(BARE, "robot.urdf")
    assert "<gz:system_priority>-64</gz:system_priority>" in text  # sdformat looks at the prefix, not at the namespace
    assert f'xmlns:gz="{GZ}"' in text


@pytest.mark.parametrize(("text", "words"), [("<sdf", "parse"), ("<sdf/>", "no world")])
def test_a_file_without_world_is_refused(text: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        gazebo_world(text, "robot.urdf")


def test_world_and_model_land_in_the_cache(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    config, world = checkout / "config" / "gazebo.yaml", checkout / "urdf" / "icub_learning_world.sdf"
    file = world_file(config, world)
    assert world_file(config, world) == file
    model = gazebo_model.model_file(config)
    assert world_of(file.read_text()).findtext("include/uri") == str(model)
    assert {file, model} == set(file.parent.iterdir())  # each once
    assert "r_arm_ft_sensor" in model.read_text()
    with pytest.raises(ModelError, match=r"nowhere\.sdf"):
        world_file(config, tmp_path / "nowhere.sdf")
