"""A folder of models: names inside it become paths, and nothing leads out of it."""

import os
from pathlib import Path

from icub_learning.errors import StateError

SUFFIX = ".npz"
LONGEST_NAME = 200  # bytes of one part of a name; file systems hold 255, and files that are being written add some


def default_folder() -> Path:
    """Return the folder of models where none is given: icub_learning/models in $XDG_STATE_HOME, or ~/.local/state."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "icub_learning" / "models"


class ModelsFolder:
    """Turns names of models into paths inside one folder ("": `default_folder`), made when needed, or anywhere."""

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
            inside = os.path.realpath(path)  # without symbolic links and ".."
            folder = os.path.realpath(self.folder)
        except (OSError, ValueError) as error:
            raise StateError(f"path {name!r} cannot be used: {error}", name="path", value=name) from None
        if ".." in Path(name).parts or not inside.startswith(folder + os.sep):
            text = f"path {name!r} is not inside the folder of models, {self.folder}"
            raise StateError(text, name="path", value=name, bound=f"a name inside {self.folder}")
