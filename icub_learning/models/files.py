"""Model files: .npz archives of plain arrays with checksums, checked before they are read into memory."""

import io
import math
import os
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from icub_learning.arrays import Array
from icub_learning.errors import StateError
from icub_learning.files import replacing
from icub_learning.models.header import CHECKSUM_ENTRY, HEADER_ENTRY, ModelHeader, digest_of, digest_of_text

LARGEST_FILE = 4 * 2**30  # [bytes] largest file that is read unless another limit is given
MOST_ENTRIES = 20_000  # largest number of entries of an archive
LARGEST_DIRECTORY = 4 * 2**20  # [bytes] longest list of entries of an archive
LARGEST_NPY_HEADER = 64 * 1024  # [bytes] longest header of an array
PIECE = 256 * 1024  # [bytes] written at once, which limits how long another thread waits for the interpreter
KINDS = "biufSU"  # kinds of arrays that are written and read: numbers and text
Limit = int | Callable[[Mapping[str, Any]], int]  # [bytes] largest file; a function: of the settings that it states
Model = tuple[dict[str, Any], "ModelHeader | None"]  # a state and its description
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_END, _END_SIZE, _LOCATOR = b"PK\x05\x06", 22, b"PK\x06\x07"  # zip: end record and its size, zip64 locator


def write_model(path: str | os.PathLike[str], state: Mapping[str, Any], header: ModelHeader | None = None) -> Path:
    """Write a state completely or not at all, into missing folders too; return the path, with ".npz" added if missing.

    Checksums are added to the header; without one the file holds the arrays alone. Raises StateError: the path names no
    file or cannot be written.
    """
    target = Path(os.path.expanduser(path))
    if not target.name:
        raise StateError(f"path {str(path)!r} names no file", name="path", value=path)
    target = target if target.suffix == ".npz" else target.with_name(target.name + ".npz")
    try:
        arrays = {name: np.asarray(value) for name, value in state.items()}
        if any(array.dtype.kind not in KINDS for array in arrays.values()):
            raise ValueError("a state holds arrays of numbers or text only")
        if header is not None:
            from icub_learning import __version__

            checksums = {name: digest_of(array) for name, array in arrays.items()}
            text = replace(header, checksums=checksums, release=__version__).text()
            arrays |= {HEADER_ENTRY: np.asarray(text), CHECKSUM_ENTRY: np.asarray(digest_of_text(text))}
        with replacing(target) as file, zipfile.ZipFile(file, "w") as archive:  # compressing would take far longer
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    _write_array(entry, array)
    except (OSError, ValueError) as error:
        raise StateError(f"cannot write {target}: {error}", name="path", value=str(target)) from error
    return target


def save_state(path: str | os.PathLike[str], state: dict[str, Any]) -> Path:
    """Write a state (dict of arrays) without a description; see `write_model`."""
    return write_model(path, state)


def load_state(path: str | os.PathLike[str], largest: Limit = LARGEST_FILE) -> dict[str, Any]:
    """Read a state that `save_state` or a node wrote. Raises StateError if it is missing, damaged or no state."""
    return read_model(path, largest)[0]


def read_model(path: str | os.PathLike[str], largest: Limit = LARGEST_FILE) -> Model:
    """Read a state and its description, None where an earlier release or `save_state` wrote none.

    ".npz" is added to the path if there is no such file. Sizes are checked before anything is read into memory: what
    the entries claim must be what the file has, and not more than `largest` [bytes]. Everything that has a checksum is
    compared with it. Raises StateError: the file is missing, damaged, newer than this release, too large or no state.
    """
    if not str(path):
        raise StateError("path is empty: name the file to read", name="path", value=path)
    source = Path(os.path.expanduser(path))
    with _refusing(source):
        if source.suffix != ".npz" and (source.is_dir() or not source.exists()):
            source = source.with_name(source.name + ".npz")
    # A pipe or device could keep the reader waiting for ever.
    with _refusing(source), open(source, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("not an ordinary file")
        n_entries = _check_directory(file)
        with zipfile.ZipFile(file) as archive:
            # A damaged length in the list of entries lets one entry swallow those that follow, checksums included.
            if len(archive.infolist()) != n_entries:
                text = f"{source} is damaged: it lists {len(archive.infolist())} of its {n_entries} entries"
                raise StateError(text, name="path", value=str(source), bound=f"{n_entries} entries")
            _check_sizes(archive, source, largest if isinstance(largest, int) else largest(_stated(archive)))
            state = {entry.filename.removesuffix(".npy"): _read_array(archive, entry) for entry in archive.infolist()}
    return _verified(state, source)


@contextmanager
def _refusing(source: Path) -> Iterator[None]:
    """Raise StateError with the reason for whatever goes wrong while a file is read in this block."""
    try:
        yield
    except FileNotFoundError:
        raise StateError(f"there is no file {source}", name="path", value=str(source)) from None
    except StateError:
        raise
    except Exception as error:  # zipfile and NumPy raise many types; MemoryError is reported too
        reason = str(error) or type(error).__name__
        raise StateError(f"{source} is no saved model: {reason}", name="path", value=str(source)) from error


def _check_directory(file: IO[bytes]) -> int:
    """Check the list of entries at the end of an archive before it is read as a whole; return their number."""
    size = os.fstat(file.fileno()).st_size
    start = max(size - _END_SIZE - 0xFFFF - 76, 0)
    file.seek(start)
    tail = file.read(size - start)
    if (place := tail.rfind(_END)) < 0 or len(tail) < place + _END_SIZE:
        raise ValueError("not an .npz archive, or cut off")
    entries, directory = struct.unpack_from("<HI", tail, place + 10)
    # An archive above 2 GiB has a larger end record, before the locator that says where it is.
    if place >= 20 and tail[place - 20 : place - 16] == _LOCATOR:
        if place < 76 or struct.unpack_from("<Q", tail, place - 12)[0] != start + place - 76:
            raise ValueError("its end record is not where it belongs")
        entries, directory = struct.unpack_from("<QQ", tail, place - 44)
    if entries > MOST_ENTRIES or directory > LARGEST_DIRECTORY:
        raise ValueError("its list of entries is too long")
    file.seek(0)
    return entries


def _check_sizes(archive: zipfile.ZipFile, source: Path, largest: int) -> None:
    """Check what each entry claims to hold against the archive and the limit, reading no more than their headers."""
    total, names = 0, set()
    for entry in archive.infolist():
        total += entry.file_size
        if total > largest:
            text = f"{source} claims to hold {total} bytes or more, above the limit of {largest}"
            raise StateError(text, name="path", value=total, bound=f"at most {largest} bytes")
        if entry.filename in names or not entry.filename.endswith(".npy") or entry.compress_type not in _PACKINGS:
            raise ValueError(f"entry {entry.filename!r}")
        names.add(entry.filename)
        with archive.open(entry) as content:
            shape, dtype, head = _array_header(content)
            if (claimed := head + dtype.itemsize * math.prod(shape)) != entry.file_size:
                text = f"{source}: {entry.filename} claims {claimed} bytes in an entry of {entry.file_size}"
                raise StateError(text, name="path", value=claimed, bound=f"{entry.file_size} bytes")


def _stated(archive: zipfile.ZipFile) -> Mapping[str, Any]:
    """Return the settings that a file's description states, before checksums are compared; {} if it is unreadable."""
    with suppress(Exception):
        entry = archive.getinfo(f"{HEADER_ENTRY}.npy")
        with archive.open(entry) as content:
            shape, dtype, head = _array_header(content)
        if not shape and head + dtype.itemsize == entry.file_size <= LARGEST_DIRECTORY:
            return ModelHeader.from_text(str(_read_array(archive, entry))).settings
    return {}


def _array_header(content: IO[bytes]) -> tuple[tuple[int, ...], np.dtype, int]:
    """Return shape and type of an array, and the number of bytes before its numbers."""
    start = io.BytesIO(content.read(LARGEST_NPY_HEADER))
    version = npy.read_magic(start)
    if (read := {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)) is None:
        raise ValueError(f"an array has format {version}")
    shape, fortran, dtype = read(start)
    if dtype.hasobject or dtype.kind not in KINDS or (fortran and len(shape) > 1) or dtype.subdtype or dtype.names:
        order = " in Fortran order" if fortran else ""
        raise ValueError(f"{content.name} has type {dtype}{order}: only rows of numbers and text are read")
    if any(size < 0 for size in shape):
        raise ValueError(f"an array has shape {shape}")
    return shape, dtype, start.tell()


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Array:
    with archive.open(entry) as content:
        array: Array = npy.read_array(content, allow_pickle=False)
        if content.read(1):  # at the end of an entry its CRC is checked
            raise ValueError(f"{entry.filename} is longer than its array")
    return array


def _write_array(entry: IO[bytes], array: np.ndarray) -> None:
    """Write an array as np.save does, in pieces."""
    array = np.asarray(array, order="C")
    npy.write_array_header_1_0(entry, npy.header_data_from_array_1_0(array))
    data = array.reshape(-1).view(np.uint8).data
    for start in range(0, len(data), PIECE):
        entry.write(data[start : start + PIECE])


def _verified(state: dict[str, Any], source: Path) -> Model:
    """Return state and description, after comparing the checksums."""
    text, digest = state.pop(HEADER_ENTRY, None), state.pop(CHECKSUM_ENTRY, None)
    if text is None and digest is None:
        return state, None
    if text is None or digest is None or text.shape or digest.shape or digest_of_text(str(text)) != str(digest):
        raise StateError(f"{source} is damaged: its description has another checksum", name="path", value=str(source))
    try:
        header = ModelHeader.from_text(str(text))
    except StateError as error:
        raise StateError(f"{source}: {error}", name=error.name, value=error.value, bound=error.bound) from None
    for name in sorted(header.checksums.keys() | state.keys()):
        if name not in state or header.checksums.get(name) != digest_of(state[name]):
            raise StateError(f"{source} is damaged: '{name}' has another checksum", name=name, value=str(source))
    return state, header
