"""Gazebo servers on this machine: `gz` on the PATH, and installations named in ICUB_LEARNING_GAZEBO."""

import os
import shutil
import time
from pathlib import Path

import pytest
from helpers.gazebo_bridge import stand_in

PREFIXES = "ICUB_LEARNING_GAZEBO"  # environment variable: folders with bin/gz, separated as in PATH


def servers() -> dict[str, dict[str, str]]:
    """Return the environment of each server, by a short name; empty where there is none."""
    found = {"gz": {}} if shutil.which("gz") else {}
    for prefix in filter(None, os.environ.get(PREFIXES, "").split(os.pathsep)):
        if Path(prefix, "bin", "gz").is_file():
            found[Path(prefix).name] = _environment(Path(prefix))
    return found


def _environment(prefix: Path) -> dict[str, str]:
    engines = next(iter(sorted(prefix.glob("lib/gz-physics-*/engine-plugins"))), prefix)

    def before(name: str, folder: Path) -> str:
        return os.pathsep.join(filter(None, [str(folder), os.environ.get(name, "")]))

    return {
        "PATH": before("PATH", prefix / "bin"), "LD_LIBRARY_PATH": before("LD_LIBRARY_PATH", prefix / "lib"),
        "GZ_CONFIG_PATH": str(prefix / "share" / "gz"), "GZ_SIM_PHYSICS_ENGINE_PATH": str(engines),
        "GZ_IP": "127.0.0.1",
    }  # fmt: skip


def use(server: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the environment of a server, and of ros_gz_bridge or its stand-in, which is made in `folder`."""
    for name, value in server.items():
        monkeypatch.setenv(name, value)
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "")
    if not any(Path(prefix, "lib/ros_gz_bridge/parameter_bridge").is_file() for prefix in prefixes.split(os.pathsep)):
        if not shutil.which("gzpipe"):
            pytest.skip("neither ros_gz_bridge nor gzpipe, which stands in for it")
        prefixes = os.pathsep.join(filter(None, [stand_in(folder), prefixes]))
    monkeypatch.setenv("AMENT_PREFIX_PATH", prefixes)
    monkeypatch.setenv("GZ_PARTITION", f"icub_learning_{os.getpid()}_{time.monotonic_ns()}")


needs_gazebo = pytest.mark.skipif(
    not servers(), reason="tests on a Gazebo server run wherever gz is on the PATH or the environment variable "
    f"{PREFIXES} names an installation (or several separated by '{os.pathsep}')",
)  # fmt: skip
