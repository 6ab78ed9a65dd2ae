"""Imports point inwards only: numerics know no robot, learners no simulator, nothing below the surface ROS."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

ROS = {"rclpy", "icub_learning_msgs", "sensor_msgs", "geometry_msgs", "std_msgs", "launch", "launch_ros"}
WORLD = {"mujoco", "rosbags", "matplotlib"}
ROBOT = {"pinocchio", "eigenpy", "icub_models"}
SURFACE = {"icub_learning.nodes", "icub_learning.cli"}

# Package of a ring, and what importing all of its modules must not import.
FORBIDDEN = {
    "recursive": ROS | WORLD | ROBOT | SURFACE | {"icub_learning.dynamics"},
    "features": ROS | WORLD | ROBOT | SURFACE | {"icub_learning.dynamics"},
    "dynamics": ROS | WORLD | SURFACE | {"icub_learning.simulation", "icub_learning.recording"},
    "kernel_methods": ROS | WORLD | ROBOT | SURFACE | {"icub_learning.dynamics", "dask", "distributed"},
    "recognition": ROS | WORLD | ROBOT | SURFACE | {"icub_learning.dynamics", "torch"},
    "simulation": ROS | SURFACE,
    "recording": ROS | SURFACE,
    "evaluation": ROS | SURFACE,
}


@pytest.mark.parametrize("package", FORBIDDEN)
def test_imports_point_inwards(package: str, checkout: Path) -> None:
    folder = checkout / "icub_learning" / package
    modules = [f"icub_learning.{package}"]
    modules += [module.name for module in pkgutil.walk_packages([str(folder)], f"icub_learning.{package}.")]
    assert len(modules) > 1
    script = f"import importlib, sys\nfor name in {modules}: importlib.import_module(name)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=checkout, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    imported = set(done.stdout.split())
    assert f"icub_learning.{package}" in imported
    assert not imported & FORBIDDEN[package]
