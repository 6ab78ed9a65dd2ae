"""What colcon, pip and the set-up read agrees: versions, executables, dependencies, installed files, licences."""

import importlib
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import setuptools

import icub_learning


@pytest.fixture(scope="module")
def arguments(checkout: Path) -> dict[str, Any]:
    """The arguments that setup.py gives to setuptools."""
    caught: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(checkout)
        patch.setattr(setuptools, "setup", lambda **keywords: caught.update(keywords))
        exec(compile(Path("setup.py").read_text(), "setup.py", "exec"), {"__name__": "setup"})
    return caught


def package_xml(folder: Path) -> ElementTree.Element:
    return ElementTree.parse(folder / "package.xml").getroot()


def names(requirements: str) -> set[str]:
    """Normalized names in the text of a requirements file."""
    found = re.findall(r"^([A-Za-z][\w.-]*)", requirements, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower() for name in found}


def test_versions_names_and_licences_agree(arguments: dict[str, Any], checkout: Path) -> None:
    messages = checkout / "icub_learning_msgs"
    versions = {
        arguments["version"], icub_learning.__version__, package_xml(checkout).findtext("version"),
        package_xml(messages).findtext("version"),
        re.search(r'^version = "(.+)"$', (messages / "pyproject.toml").read_text(), re.MULTILINE)[1],
    }  # fmt: skip
    assert versions == {arguments["version"]}
    root = package_xml(checkout)
    assert root.findtext("name") == arguments["name"] == "icub_learning"
    assert root.findtext("license") == arguments["license"] == "Apache-2.0"
    assert root.find("license").get("file") == "LICENSE" and "Apache License" in (checkout / "LICENSE").read_text()
    assert (checkout / "resource" / arguments["name"]).is_file()


def test_entry_points_are_functions(arguments: dict[str, Any]) -> None:
    scripts = dict(line.split(" = ") for line in arguments["entry_points"]["console_scripts"])
    assert set(scripts) == {
        "icub-learning", "cnn_features_node", "gazebo_controller_node", "gazebo_joint_states_node",
        "icub_simulation_node", "inverse_dynamics_node", "object_detection_node", "object_recognition_node",
    }  # fmt: skip
    for target in scripts.values():
        module, function = target.split(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_share_holds_what_ros_looks_up_and_subpackages_are_installed(arguments: dict[str, Any], checkout: Path) -> None:
    installed = {f"{folder}/{Path(file).name}" for folder, files in arguments["data_files"] for file in files}
    assert "share/ament_index/resource_index/packages/icub_learning" in installed
    assert "share/icub_learning/package.xml" in installed
    for kind in ("launch/*.launch.py", "config/*.yaml"):
        files = list(checkout.glob(kind))
        assert files and {f"share/icub_learning/{file.relative_to(checkout)}" for file in files} <= installed
    assert not [file for file in installed if file.endswith(".pyc")]
    folders = {file.parent for file in (checkout / "icub_learning").rglob("*.py")}
    assert {str(folder.relative_to(checkout)).replace("/", ".") for folder in folders} == set(arguments["packages"])


def test_values_are_frozen(checkout: Path) -> None:
    """But for dataclasses that are filled in, and estimators, whose settings scikit-learn sets one by one."""
    text = "\n".join(file.read_text() for file in (checkout / "icub_learning").rglob("*.py"))
    found = re.findall(r"^@dataclass(.*)\nclass (\w+)", text, re.MULTILINE)
    changing = {name for how, name in found if not re.search("frozen=True|eq=False, repr=False", how)}
    filled = "Attempt Counts DetectionLesson Event Frame Learner Lesson RecognizedView Robot Sample Shown State Watcher"
    assert len(found) > 150 and changing == {*filled.split(), "ExpertPredictions", "StateRecord", "StreamCounts"}


def test_required_packages_are_locked(arguments: dict[str, Any], checkout: Path) -> None:
    assert names("\n".join(arguments["install_requires"])) <= names((checkout / "requirements.in").read_text())


@pytest.mark.parametrize("kind", ["", "-ros", "-dev", "-docs", "-bench"])
def test_lock_holds_all_that_is_asked_for(kind: str, checkout: Path) -> None:
    lock = (checkout / f"requirements{kind}.lock").read_text()
    assert names((checkout / f"requirements{kind}.in").read_text()) <= names(lock)
    entries = re.findall(r"^[a-z].*(?:\n    .*)*", lock, re.MULTILINE)
    assert entries and all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in lock  # works with any index


def test_ros_wheels_of_pip_build_are_those_of_the_lock(checkout: Path) -> None:
    project = (checkout / "icub_learning_msgs" / "pyproject.toml").read_text()
    build = set(re.findall(r'"ros-kilted-([\w-]+==[\w.]+)"', project))
    locked = re.findall(r"^ros-([\w-]+==[\w.]+)", (checkout / "requirements-ros.lock").read_text(), re.MULTILINE)
    assert build and build <= set(locked)


def test_every_interface_is_built(checkout: Path) -> None:
    folder = checkout / "icub_learning_msgs"
    listed = set(re.findall(r'"((?:msg|srv)/\w+\.(?:msg|srv))"', (folder / "CMakeLists.txt").read_text()))
    files = {str(file.relative_to(folder)) for kind in ("msg", "srv") for file in (folder / kind).iterdir()}
    assert listed == files
    for file in files:
        kind, name = Path(file).parent.name, Path(file).stem
        assert hasattr(importlib.import_module(f"icub_learning_msgs.{kind}"), name)


def test_messages_of_code_are_dependencies(checkout: Path) -> None:
    """Every ROS package that the code imports stands in package.xml."""
    depends = {element.text for element in package_xml(checkout).iter() if element.tag.endswith("depend")}
    text = "\n".join(file.read_text() for file in (checkout / "icub_learning").rglob("*.py"))
    imported = set(re.findall(r"^\s*(?:from|import) (\w+_(?:msgs|srvs|interfaces)|rclpy)\b", text, re.MULTILINE))
    assert "rclpy" in imported and imported <= depends


def test_installed_executables_are_in_both_places() -> None:
    """bin/ for a shell, lib/icub_learning for ROS 2's launch."""
    try:
        metadata.distribution("icub_learning")
    except metadata.PackageNotFoundError:
        pytest.skip("not installed: runs from the source folder")
    prefix = Path(sys.prefix)
    assert (prefix / "bin" / "icub-learning").is_file()
    for name in ("inverse_dynamics_node", "icub_simulation_node"):
        assert (prefix / "lib" / "icub_learning" / name).resolve() == (prefix / "bin" / name).resolve()
