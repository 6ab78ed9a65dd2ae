"""Saved states: flat dicts of arrays with dotted keys, and .npz files of them, without pickle."""

import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import StateError
from icub_learning.files import replacing


def save_state(path: str | os.PathLike[str], state: dict[str, Any]) -> Path:
    """Write a state (dict of arrays) completely or not at all; return the path, with ".npz" added if missing.

    Raises:
        StateError: the path is empty or cannot be written.
    """
    if not str(path):
        raise StateError("path is empty: name the file to write", name="path", value=path)
    target = Path(path).expanduser()
    target = target if target.suffix == ".npz" else target.with_name(target.name + ".npz")
    try:
        with replacing(target) as file:
            np.savez(file, **state)  # compressing would take a hundred times longer, with a robot waiting
    except (OSError, ValueError) as error:
        raise StateError(f"cannot write {target}: {error}", name="path", value=str(target)) from error
    return target


def load_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a state that `save_state` wrote. Raises StateError if the file is missing, damaged or not a state."""
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
    """Return `state` with "prefix." before each key."""
    return {f"{prefix}.{key}": value for key, value in state.items()}


def part(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the entries whose keys begin with "prefix.", without it. Raises StateError if there are none."""
    found = {key[len(prefix) + 1 :]: value for key, value in state.items() if key.startswith(prefix + ".")}
    if not found:
        raise StateError(f"state lacks the part '{prefix}'", name=prefix)
    return found


def scalar(state: Mapping[str, Any], key: str) -> Any:
    """Return the single value at `key` as a Python object. Raises StateError if it is missing or an array."""
    try:
        return np.asarray(state[key]).item()
    except (KeyError, ValueError) as error:
        raise StateError(f"state has no single value '{key}': {error}", name=key) from None


def check_version(state: Mapping[str, Any], version: int, key: str = "version") -> None:
    """Raise StateError unless the entry `key` of `state` is `version`."""
    found = scalar(state, key)
    if found != version:
        raise StateError(f"state has version {found}, this release reads {version}", name=key, value=found)


@contextmanager
def reading_state(what: str) -> Iterator[None]:
    """Raise StateError with the reason for whatever goes wrong while `what` is rebuilt from a state in this block.

    Args:
        what: what the state should describe, with its article, e.g. "a classifier".
    """
    try:
        yield
    except StateError:
        raise
    except KeyError as error:
        raise StateError(f"state lacks the entry {error}", name=str(error.args[0])) from None
    except (TypeError, ValueError, IndexError) as error:
        raise StateError(f"state does not describe {what}: {error}") from None
