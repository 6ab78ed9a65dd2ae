"""What ROS users and their tools look for: change logs, documentation, hosted CI, keys that rosdep knows."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

# Keys of rosdep (rosdep/python.yaml of ros/rosdistro) and released packages of Kilted, looked up on 2026-11-22.
KNOWN = {
    *("ament_cmake", "ament_index_python", "builtin_interfaces", "diagnostic_msgs", "geometry_msgs", "launch"),
    *("launch_ros", "lifecycle_msgs", "pinocchio", "rcl_interfaces", "rclpy", "rosgraph_msgs"),
    *("rosidl_default_generators", "rosidl_default_runtime", "sensor_msgs", "std_msgs", "std_srvs", "trajectory_msgs"),
    *("python3-matplotlib", "python3-mujoco-pip", "python3-numpy", "python3-onnxruntime-pip", "python3-opencv"),
    *("python3-pil", "python3-pytest", "python3-rosbags-pip", "python3-scipy", "python3-simplejpeg-pip"),
    *("python3-sklearn", "python3-tqdm", "python3-trimesh-pip", "python3-yaml"),
}


@pytest.fixture(params=["", "icub_learning_msgs"], ids=["icub_learning", "icub_learning_msgs"])
def package(request: pytest.FixtureRequest, checkout: Path) -> Path:
    return checkout / request.param


def test_every_dependency_is_a_key_that_rosdep_knows(package: Path) -> None:
    root = ElementTree.parse(package / "package.xml").getroot()
    keys = {element.text for element in root if element.tag.endswith("depend")}
    assert keys - KNOWN - {"icub_learning_msgs"} == set()


def test_each_package_has_a_change_log_in_the_form_of_release_tools(package: Path) -> None:
    lines = (package / "CHANGELOG.rst").read_text().splitlines()
    name = ElementTree.parse(package / "package.xml").findtext("name")
    assert lines[1] == f"Changelog for package {name}" and lines[0] == lines[2] == "^" * len(lines[1])
    at = lines.index("Forthcoming")
    assert lines[at + 1] == "-" * len("Forthcoming") and lines[at + 2].startswith("* ")


def test_rosdoc2_is_configured_for_each_package(package: Path) -> None:
    attic, config = yaml.safe_load_all((package / "rosdoc2.yaml").read_text())
    assert attic == {"type": "rosdoc2 config", "version": 1}
    assert [next(iter(builder)) for builder in config["builders"]] == ["sphinx"]
    source = config["settings"].get("python_source")
    assert source is None or (package / source).is_dir()


def test_hosted_ci_makes_the_workspace_that_the_docs_describe(checkout: Path) -> None:
    config = yaml.safe_load((checkout / ".github" / "workflows" / "ci.yml").read_text())
    for command in ("ln -s icub_learning/icub_learning_msgs src/icub_learning_msgs", "rosdep install", "colcon build"):
        assert any(command in step.get("run", "") for step in config["jobs"]["workspace"]["steps"])
        assert all(command in (checkout / document).read_text() for document in ("README.md", "docs/setup.md"))
    commands = [step.get("run", "") for step in config["jobs"]["tests"]["steps"]]
    assert ".ci/run" in commands and (checkout / ".ci" / "run").is_file()
