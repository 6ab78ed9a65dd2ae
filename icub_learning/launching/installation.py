"""Finds files and executables of this package and others, installed by colcon or pip or in a checkout."""

import os
import shutil
import sys
from pathlib import Path

import icub_learning
from icub_learning.errors import ParameterError
from icub_learning.launching.table import PACKAGE
from icub_learning.robots import ament_prefixes


def share_folder() -> Path:
    """Return the folder that holds config/, launch/ and urdf/. Raises ParameterError."""
    checkout = Path(icub_learning.__file__).resolve().parents[1]
    if (checkout / "package.xml").is_file():
        return checkout
    for prefix in [*ament_prefixes(), Path(sys.prefix)]:
        if (prefix / "share" / PACKAGE / "package.xml").is_file():
            return prefix / "share" / PACKAGE
    raise ParameterError("AMENT_PREFIX_PATH", os.environ.get("AMENT_PREFIX_PATH", ""), f"a path to share/{PACKAGE}")


def find_executable(package: str, executable: str) -> str:
    """Return the path of an executable of a ROS package, or for package "" of a program. Raises ParameterError."""
    folders = [prefix / "lib" / package for prefix in ament_prefixes()]
    if package == PACKAGE:  # colcon puts them beside icub-learning, pip beside the interpreter
        folders = [Path(sys.argv[0]).resolve().parent, Path(sys.executable).parent, *folders]
    if package:
        search = os.pathsep.join(map(str, folders))
        needed = f"an executable of package {package}: build and source its workspace, or install the package"
    else:
        search = os.environ.get("PATH", os.defpath)
        needed = "a program on the PATH: install it"
    found = shutil.which(executable, path=search)
    if found is None:
        raise ParameterError("executable", executable, needed)
    return found
