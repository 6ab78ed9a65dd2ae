"""Fetch the objects that can be shown: meshes and pictures of pybullet_data, from one pinned file of PyPI."""

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from icub_learning.files import replacing_path
from icub_learning.simulation.objects.catalogue import DEFAULT_FOLDER, known_files

# One file serves every Python version, as only data are extracted (zlib licence, whose text is extracted, too).
PACKAGE = "pybullet==3.2.7"
SHA256 = "5d858abf7c12a21ef3ed351cf81dac1b5e486ec25c9ab59bfc84beb89034edff"
WHEEL_OF = ("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311")
PLATFORM = ("--platform", "manylinux2014_x86_64", "--platform", "manylinux_2_17_x86_64")
LICENCE = "pybullet-3.2.7.dist-info/LICENSE.txt"


def fetch(folder: Path = DEFAULT_FOLDER) -> None:
    """Put the objects into `folder`, completely or not at all; an existing folder is replaced."""
    with replacing_path(folder) as new, tempfile.TemporaryDirectory(dir=new.parent) as scratch:
        unpack(_download(Path(scratch)), new)


def unpack(wheel: Path, folder: Path) -> None:
    """Extract the licence and the files of the known objects from the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        members = {"LICENSE.txt": LICENCE} | {file: f"pybullet_data/{file}" for file in known_files()}
        for file, member in members.items():
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, open(target, "wb") as copy:
                shutil.copyfileobj(source, copy)


def _download(folder: Path) -> Path:
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n")
    command = [sys.executable, "-m", "pip", "download", "--no-input", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--only-binary", ":all:", *WHEEL_OF, *PLATFORM]
    command += ["--dest", str(folder), "--requirement", str(requirements)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.whl"))


def main(argv: Sequence[str] | None = None) -> int:
    """Fetch the objects, and print the folder."""
    parser = argparse.ArgumentParser(prog="python -m icub_learning.simulation.objects.fetch", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT_FOLDER, help=f"default: {DEFAULT_FOLDER}")
    folder = parser.parse_args(argv).folder
    try:
        fetch(folder)
    except subprocess.CalledProcessError:
        print("icub_learning: the objects to show could not be fetched (see above)", file=sys.stderr)
        return 1
    print(f"icub_learning: {len(known_files())} files of objects in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
