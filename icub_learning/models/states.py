"""Saved states: flat dicts of arrays with dotted keys."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import StateError


def nested(prefix: str, state: Mapping[str, Array]) -> dict[str, Array]:
    """Return `state` with "prefix." before each key."""
    return {f"{prefix}.{key}": value for key, value in state.items()}


def part(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the entries whose keys begin with "prefix.", without it. Raises StateError if there are none."""
    if not (found := {key[len(prefix) + 1 :]: value for key, value in state.items() if key.startswith(prefix + ".")}):
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
    if (found := scalar(state, key)) != version:
        raise StateError(f"state has version {found}, this release reads {version}", name=key, value=found)


def broken_entries(state: Mapping[str, Any]) -> list[str]:
    """Return the names of entries with numbers that cannot be learned: NaN, and infinity except in a noise variance,
    which is infinite until something has been learned."""

    def is_broken(name: str, array: Array) -> bool:
        of_noise = "noise" in name.split(".")
        return array.dtype.kind == "f" and bool((np.isnan(array) if of_noise else ~np.isfinite(array)).any())

    return [name for name, value in state.items() if is_broken(name, np.asarray(value))]


@contextmanager
def reading_state(what: str) -> Iterator[None]:
    """Raise StateError with the reason for what goes wrong while `what` ("a classifier") is rebuilt in this block."""
    try:
        yield
    except StateError:
        raise
    except KeyError as error:
        raise StateError(f"state lacks the entry {error}", name=str(error.args[0])) from None
    except (TypeError, ValueError, IndexError) as error:
        raise StateError(f"state does not describe {what}: {error}") from None
