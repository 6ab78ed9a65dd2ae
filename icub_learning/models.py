"""Learned models as flat dicts of arrays with dotted keys, and as files: an .npz of plain arrays, without pickle."""

import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import StateError


def save_state(path: str | os.PathLike[str], state: dict[str, Any]) -> Path:
    """Write a state (dict of arrays) to `path`, ".npz" added where missing; returns the path written.

    The file appears under its name only when it is complete, so that a crash leaves the older one in place.

    Raises:
        StateError: the path is empty or cannot be written.
    """
    if not str(path):
        raise StateError("path is empty: name the file to write", name="path", value=path)
    target = Path(path).expanduser()
    target = target if target.suffix == ".npz" else target.with_name(target.name + ".npz")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **state)  # compressing would take a hundred times longer, with a robot waiting
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, target)
        except BaseException:
            os.unlink(unfinished)
            raise
    except (OSError, ValueError) as error:
        raise StateError(f"cannot write {target}: {error}", name="path", value=str(target)) from error
    return target


def load_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a state that `save_state` wrote. Raises StateError if the file is missing, damaged or something else."""
    source = Path(path).expanduser()
    if not str(path):
        raise StateError("path is empty: name the file to read", name="path", value=path)
    if not source.exists() and source.suffix != ".npz":
        source = source.with_name(source.name + ".npz")
    if source.is_file() and not zipfile.is_zipfile(source):
        raise StateError(f"{source} is no saved model: not an .npz archive", name="path", value=str(source))
    try:
        with np.load(source, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except FileNotFoundError:
        raise StateError(f"there is no file {source}", name="path", value=str(source)) from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError, KeyError) as error:
        raise StateError(f"{source} is no saved model: {error}", name="path", value=str(source)) from error


def nested(prefix: str, state: Mapping[str, Array]) -> dict[str, Array]:
    """Put every key of `state` below `prefix`."""
    return {f"{prefix}.{key}": value for key, value in state.items()}


def part(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The entries below `prefix`, without it. Raises StateError if there are none."""
    found = {key[len(prefix) + 1 :]: value for key, value in state.items() if key.startswith(prefix + ".")}
    if not found:
        raise StateError(f"state lacks the part '{prefix}'", name=prefix)
    return found


def scalar(state: Mapping[str, Any], key: str) -> Any:
    """The single value at `key` as a Python object. Raises StateError if it is missing or no single value."""
    try:
        return np.asarray(state[key]).item()
    except (KeyError, ValueError) as error:
        raise StateError(f"state has no single value '{key}': {error}", name=key) from None
