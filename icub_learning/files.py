"""Files that appear complete or not at all, and the folder where the package caches what it made or fetched."""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Literal


def cache_folder() -> Path:
    """Return $XDG_CACHE_HOME/icub_learning, or ~/.cache/icub_learning where it is not set; it may not exist yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "icub_learning"


@contextmanager
def replacing(path: Path, mode: Literal["w", "wb"] = "wb") -> Iterator[IO[Any]]:
    """Open a file that replaces the one at `path` when the block ends; after an error that one is as it was. Of a link,
    the file that it leads to is replaced; a device or pipe is opened itself.

    The content is on the disk before the file is renamed, and the new name before this returns: a crash or a power
    failure leaves the old file or the new one, never a part of it. Text is UTF-8; missing parent folders are made.
    Raises OSError: the file cannot be written.
    """
    encoding = None if "b" in mode else "utf-8"
    if path.exists() and not (path.is_file() or path.is_dir()):  # a device or pipe, such as /dev/stdout
        with open(path, mode, encoding=encoding) as file:
            yield file
        return
    with replacing_path(path.resolve()) as unfinished, open(unfinished, mode, encoding=encoding) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replacing_path(path: Path) -> Iterator[Path]:
    """Yield a path at which to make a file or folder that takes the place of `path` when the block ends.

    For folders, and for libraries that open files themselves; see `replacing`. The yielded path lies on the same file
    system, has the name of `path`, and does not exist yet. Raises OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as scratch:
        unfinished = Path(scratch, "new", path.name)
        unfinished.parent.mkdir()
        yield unfinished
        if path.is_dir() and unfinished.is_dir():  # a rename replaces files and empty folders only
            os.replace(path, Path(scratch, "old"))
        os.replace(unfinished, path)
    flush_folder(path.parent)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait until no other process has locked a folder, which is made if missing, and lock it for this context."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # it cannot be made, or its file system knows no locks
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def check_replaceable(path: Path) -> None:
    """Raise OSError if `replacing` could write no file at `path`."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.is_file() or not path.exists():
        folder = next(one for one in path.resolve().parents if one.exists())
        TemporaryDirectory(dir=folder, prefix=f".{path.name}.").cleanup()


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, where its file system supports that."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some network file systems cannot flush a folder
            os.fsync(handle)
    finally:
        os.close(handle)
