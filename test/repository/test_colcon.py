"""A ROS 2 workspace builds the same sources: executables, shared files, messages and update kernel where ROS looks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def workspace(checkout: Path, folder: Path) -> None:
    """Create the workspace of docs/setup.md: the sources below src/, and a link to the messages beside them."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=checkout, capture_output=True, check=False)
    if tracked.returncode:
        pytest.skip("no git checkout to take the sources from")
    for name in tracked.stdout.decode().split("\0"):
        if (source := checkout / name).is_file() and not name.startswith(("test/", "docs/")):
            target = folder / "src" / "icub_learning" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    (folder / "src" / "icub_learning_msgs").symlink_to("icub_learning/icub_learning_msgs")


def test_a_workspace_has_both_packages(checkout: Path, tmp_path: Path) -> None:
    """Search as colcon and rosdep do: stop at the first package on each path, and follow links."""
    packages = pytest.importorskip("catkin_pkg.packages")
    workspace(checkout, tmp_path)
    names = {path: package.name for path, package in packages.find_packages(str(tmp_path / "src")).items()}
    assert names == {"icub_learning": "icub_learning", "icub_learning_msgs": "icub_learning_msgs"}


@pytest.mark.slow
def test_workspace_builds(checkout: Path, tmp_path: Path) -> None:
    environment = dict(os.environ)
    environment["PATH"] = f"{sys.prefix}/bin:{environment['PATH']}"
    for name in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH"):
        environment.setdefault(name, sys.prefix)  # set where a ROS 2 is sourced, else ROS 2 is in this environment
    if (colcon := shutil.which("colcon", path=environment["PATH"])) is None:
        pytest.skip("colcon is not installed")
    workspace(checkout, tmp_path)
    built = subprocess.run([colcon, "build"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    prefix = tmp_path / "install" / "icub_learning"
    for name in ("icub-learning", "inverse_dynamics_node", "icub_simulation_node"):
        assert os.access(prefix / "lib" / "icub_learning" / name, os.X_OK)
    for folder in ("launch", "config", "urdf"):
        sources = [file for file in (checkout / folder).rglob("*") if file.is_file() and file.suffix != ".pyc"]
        assert sources
        for file in sources:
            assert (prefix / "share" / "icub_learning" / file.relative_to(checkout)).read_bytes() == file.read_bytes()
    script = (
        "import icub_learning.recursive._cholesky as kernel, icub_learning_msgs.msg as messages\n"
        "messages.DynamicsPrediction(total=[1.0])\n" "print(kernel.__file__, messages.__file__)"
    )  # fmt: skip
    source = f". {tmp_path}/install/local_setup.sh && cd / && exec {sys.executable} -c '{script}'"
    command = ["sh", "-c", f"cd {tmp_path}/install && {source}"]
    used = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert used.returncode == 0 and all(one.startswith(str(tmp_path)) for one in used.stdout.split()), used.stderr
