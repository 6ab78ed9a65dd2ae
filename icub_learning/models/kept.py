"""The newest models of one name: the last K, by time, of which at least one is whole at any moment."""

import contextlib
import fcntl
import os
import re
import shutil
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any, TypeVar

from icub_learning.arrays import integer
from icub_learning.errors import IcubLearningError, StateError
from icub_learning.files import flush_folder
from icub_learning.models.files import LARGEST_FILE, read_model, write_model
from icub_learning.models.folder import SUFFIX
from icub_learning.models.header import ModelHeader

WAIT_FOR_LOCK = 2.0  # [s] for another process that is about to end
_TIME = "%Y%m%dT%H%M%S.%fZ"

ModelT = TypeVar("ModelT")


class KeptModels:
    """Saves and loads models under one name, and keeps older ones beside it as NAME.TIME.npz.

    A model is written beside the newest one, flushed and renamed onto it, after the newest one got its name with a
    time: a process or machine that ends at any moment leaves at least one whole model. A file that was refused when it
    was loaded is never removed: it is put aside as NAME.TIME.refused.npz before it would be replaced.

    `path` is the newest of the `keep` models that are kept, with its suffix ".npz"; at most `largest` bytes of one are
    read. One process at a time uses a name. A folder that cannot be written can still be loaded from. Raises
    ParameterError: `keep` is below 1; StateError: another process uses this name.
    """

    def __init__(self, path: Path, keep: int, largest: int = LARGEST_FILE) -> None:
        self.path, self._keep, self._largest = path, integer("keep_models", keep, 1), largest
        self._stem = path.name.removesuffix(SUFFIX)
        self._kept = re.compile(re.escape(self._stem) + r"\.\d{8}T\d{6}\.\d{6}Z" + re.escape(SUFFIX))
        self._refused: set[tuple[int, int]] = set()  # device and inode
        self._lock: IO[str] | None = None
        self.read_only = ""  # why nothing can be written here, "" if it can
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        self._remove_unfinished()

    def files(self) -> list[Path]:
        """Return the models of this name that there are, the newest first."""
        try:
            names = [name for name in os.listdir(self.path.parent) if self._kept.fullmatch(name)]
        except OSError:
            names = []
        newest = [self.path] if self.path.exists() else []
        return newest + [self.path.parent / name for name in sorted(names, reverse=True)]

    def load(
        self, make: Callable[[dict[str, Any], ModelHeader | None], ModelT]
    ) -> tuple[ModelT | None, Path | None, list[str]]:
        """Return what `make` makes of the newest good model, or None, its file, and why newer ones were refused.

        `make` takes a state and its description, and raises IcubLearningError for one that does not fit.
        """
        refusals: list[str] = []
        for path in self.files():
            try:
                return make(*read_model(path, self._largest)), path, refusals
            except IcubLearningError as error:
                refusals.append(str(error) if str(path) in str(error) else f"{path}: {error}")
                if (identity := _identity(path)) is not None:
                    self._refused.add(identity)
        return None, None, refusals

    def save(self, state: dict[str, Any], header: ModelHeader) -> Path:
        """Write the newest model and remove those beyond the last K. Raises StateError if it cannot be written."""
        self._keep_newest()
        written = write_model(self.path, state, header)
        kept = [path for path in self.files() if path != self.path and _identity(path) not in self._refused]
        for path in kept[self._keep - 1 :]:
            with contextlib.suppress(OSError):
                path.unlink()
        return written

    def close(self) -> None:
        """Let another process use the name."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _keep_newest(self) -> None:
        """Give the present newest file its name with a time, while it keeps its own until it is replaced."""
        refused = _identity(self.path) in self._refused
        if not refused and self._keep == 1:
            return
        with contextlib.suppress(OSError):
            moment = datetime.fromtimestamp(self.path.stat().st_mtime, timezone.utc).strftime(_TIME)
            other = self.path.with_name(f"{self._stem}.{moment}{'.refused' if refused else ''}{SUFFIX}")
            other.unlink(missing_ok=True)
            try:
                os.link(self.path, other)
            except OSError:  # a file system without hard links
                os.replace(self.path, other)
            flush_folder(self.path.parent)

    def _take_lock(self) -> None:
        try:
            lock = open(self.path.with_name(f".{self._stem}.lock"), "a+")  # noqa: SIM115 (held until `close`)
        except OSError as error:
            self.read_only = str(error)
            return
        deadline = time.monotonic() + WAIT_FOR_LOCK
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if not isinstance(error, BlockingIOError):  # a file system without locks
                    break
                if time.monotonic() > deadline:
                    lock.seek(0)
                    owner = lock.read(20).strip()
                    lock.close()
                    text = f"{self.path} is in use by process {owner}: two nodes cannot save under one name"
                    raise StateError(text, name="model_file", value=str(self.path)) from None
                time.sleep(0.05)
        with contextlib.suppress(OSError):
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
        self._lock = lock

    def _remove_unfinished(self) -> None:
        """Remove what processes that were killed have left; whoever holds the lock is the only one that writes."""
        if self._lock is None:
            return
        with contextlib.suppress(OSError):
            for name in os.listdir(self.path.parent):
                if name.startswith(f".{self.path.name}."):
                    shutil.rmtree(self.path.parent / name, ignore_errors=True)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
