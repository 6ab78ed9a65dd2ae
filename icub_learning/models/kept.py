"""A folder of models that no name can leave, and the newest model of one name with some older ones."""

import contextlib
import fcntl
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any, TypeVar

from icub_learning.arrays import integer
from icub_learning.errors import IcubLearningError, StateError
from icub_learning.files import flush_folder
from icub_learning.models.files import LARGEST_FILE, Limit, read_model, write_model
from icub_learning.models.header import ModelHeader

SUFFIX = ".npz"
LONGEST_NAME = 200  # [bytes] longest part of a name: file systems allow 255, and unfinished files add some
WAIT_FOR_LOCK = 2.0  # [s] time to wait for another process that is about to end
_TIME = "%Y%m%dT%H%M%S.%fZ"

ModelT = TypeVar("ModelT")


def default_folder() -> Path:
    """Return the default folder of models: icub_learning/models in $XDG_STATE_HOME, or ~/.local/state."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "icub_learning" / "models"


class ModelsFolder:
    """Maps model names to paths inside one folder ("": `default_folder`), made when needed, or anywhere if so set."""

    def __init__(self, folder: str | os.PathLike[str] = "", *, anywhere: bool = False) -> None:
        self.folder = Path(folder).expanduser().absolute() if str(folder) else default_folder()
        self._anywhere = anywhere

    def path(self, name: str) -> Path:
        """Return the path of a model, with ".npz" added if missing.

        Raises StateError: the name is empty, too long or not printable, is that of a folder, or leads out of this
        folder: by "..", as an absolute path or through a symbolic link.
        """
        if not name or not name.strip():
            raise StateError("path is empty: name a model", name="path", value=name)
        if not name.isprintable() or any(len(part.encode()) > LONGEST_NAME for part in name.split("/")):
            shown = name if len(name) <= 60 else name[:60] + "..."
            text = f"path {shown!r} cannot be the name of a model: too long, or with characters that do not print"
            raise StateError(text, name="path", value=shown, bound=f"{LONGEST_NAME} printable bytes")
        given = Path(name).expanduser() if self._anywhere else Path(name)
        if given.name in ("", "..") or name.endswith("/"):
            raise StateError(f"path {name!r} names a folder, not a model", name="path", value=name)
        given = given if given.suffix == SUFFIX else given.with_name(given.name + SUFFIX)
        path = self.folder / given
        if not self._anywhere:
            self._check_inside(path, name)
        return path

    def _check_inside(self, path: Path, name: str) -> None:
        try:
            inside, folder = map(os.path.realpath, (path, self.folder))  # without symbolic links and ".."
        except (OSError, ValueError) as error:
            raise StateError(f"path {name!r} cannot be used: {error}", name="path", value=name) from None
        if ".." in Path(name).parts or not inside.startswith(folder + os.sep):
            text = f"path {name!r} is not inside the folder of models, {self.folder}"
            raise StateError(text, name="path", value=name, bound=f"a name inside {self.folder}")


class KeptModels:
    """Saves and loads models under one name, and keeps older ones beside it as NAME.TIME.npz.

    A model is written beside the newest one, flushed and renamed onto it, after the newest one got a name with its
    time: a process or machine that ends at any moment leaves at least one whole model. A file that was refused when it
    was loaded is never removed: it is put aside as NAME.TIME.refused.npz before it would be replaced.

    `path` is the newest of the `keep` models that are kept (see `surplus`), with its suffix ".npz"; at most `largest`
    bytes of one are read. One process at a time uses a name. A folder that cannot be written can still be loaded from.
    Raises ParameterError: `keep` is below 1; StateError: another process uses this name.
    """

    def __init__(self, path: Path, keep: int, largest: Limit = LARGEST_FILE) -> None:
        self.path, self._keep, self._largest = path, integer("keep_models", keep, 1), largest
        self._stem = path.name.removesuffix(SUFFIX)
        self._kept = re.compile(re.escape(self._stem) + r"\.\d{8}T\d{6}\.\d{6}Z" + re.escape(SUFFIX))
        self._refused: set[tuple[int, int]] = set()  # device and inode of each refused file
        self._lock: IO[str] | None = None
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        held = self._lock is not None
        for unfinished in (path for path in self._beside() if held):  # left by processes that were killed
            if unfinished.name.startswith(f".{self.path.name}."):
                shutil.rmtree(unfinished, ignore_errors=True)

    def files(self) -> list[Path]:
        """Return the existing models of this name, the newest first."""
        older = [path for path in self._beside() if self._kept.fullmatch(path.name)]
        return [path for path in (self.path, *sorted(older, reverse=True)) if path.exists()]

    def _beside(self) -> list[Path]:
        try:
            return list(self.path.parent.iterdir())
        except OSError:
            return []

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
        """Write the newest model and remove those beyond `keep`. Raises StateError if it cannot be written."""
        self._keep_newest()
        written = write_model(self.path, state, header)
        with contextlib.suppress(OSError):
            for path in self.files()[1:]:
                if _identity(path) in self._refused:  # kept under a name that no later process takes for one of its own
                    path.rename(path.with_suffix(f".refused{SUFFIX}"))
            while len(files := self.files()) > self._keep:
                times = [path.stat().st_mtime for path in files]
                files[surplus([times[0] - moment for moment in times])].unlink()
        return written

    def close(self) -> None:
        """Let another process use the name."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _keep_newest(self) -> None:
        """Give the newest file a name with its time as well; it keeps its own name until it is replaced."""
        if not (refused := _identity(self.path) in self._refused) and self._keep == 1:
            return
        with contextlib.suppress(OSError):
            moment = datetime.fromtimestamp(self.path.stat().st_mtime, timezone.utc).strftime(_TIME)
            other = self.path.with_name(f"{self._stem}.{moment}{'.refused' if refused else ''}{SUFFIX}")
            other.unlink(missing_ok=True)
            try:
                os.link(self.path.resolve(), other)
            except OSError:  # a file system without hard links
                os.replace(self.path, other)
            flush_folder(self.path.parent)

    def _take_lock(self) -> None:
        try:
            lock = open(self.path.with_name(f".{self._stem}.lock"), "a+")  # noqa: SIM115 (held until `close`)
        except OSError:
            return
        deadline = time.monotonic() + WAIT_FOR_LOCK
        while not _locked(lock):
            if time.monotonic() > deadline:
                lock.seek(0)
                owner = lock.read(20).strip()
                lock.close()
                text = f"{self.path} is in use by process {owner}: two nodes cannot save under one name"
                raise StateError(text, name="model_file", value=str(self.path))
            time.sleep(0.05)
        with contextlib.suppress(OSError):
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
        self._lock = lock


def surplus(ages: Sequence[float]) -> int:
    """Return which of some models, the newest first, to remove: the one between two whose ages have the least ratio, so
    that ages come to lie like powers. The two newest always stay, and of four or more the oldest."""
    between = range(2, len(ages) - 1)
    return min(between, key=lambda k: ages[k + 1] / max(ages[k - 1], 1e-9), default=len(ages) - 1)


def _locked(file: IO[str]) -> bool:
    """Lock a file; return whether no other process holds it, also True on a file system without locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return not isinstance(error, BlockingIOError)
    return True


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
