"""Names of classes: what is accepted, and how they are kept in a saved state."""

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.errors import ParameterError, StateError

LONGEST_LABEL = 1024  # characters
SHOWN = 40  # characters of a label in a message


def check_label(label: Any, name: str = "label") -> str:
    """Return a label as a str. Raises ParameterError unless it is one of 1 to 1024 characters."""
    if not isinstance(label, str):
        raise ParameterError(name, label, "a str")
    if not 0 < len(label) <= LONGEST_LABEL:
        raise ParameterError(name, shorten(label), f"1 to {LONGEST_LABEL} characters long, not {len(label)}")
    return str(label)  # a plain one, also of NumPy's kind


def shorten(label: str) -> str:
    """The beginning of a label, for a message."""
    return label if len(label) <= SHOWN else label[: SHOWN - 3] + "..."


def pack_labels(labels: Iterable[str]) -> NDArray[np.uint8]:
    """Labels as bytes (JSON): any characters survive, and no label pays for the longest one."""
    return np.frombuffer(json.dumps(list(labels)).encode(), np.uint8).copy()


def unpack_labels(name: str, packed: Any) -> list[str]:
    """What `pack_labels` was given. Raises StateError if it is something else, or holds a label twice."""
    try:
        if np.asarray(packed).dtype != np.uint8:
            raise ValueError("not bytes")
        labels = json.loads(np.asarray(packed).tobytes())
        if not isinstance(labels, list):
            raise ValueError("not a list")
        labels = [check_label(label) for label in labels]
    except (TypeError, ValueError) as error:
        raise StateError(f"{name} are no labels: {error}", name=name) from None
    if len(set(labels)) != len(labels):
        raise StateError(f"{name} hold a label twice", name=name)
    return labels
