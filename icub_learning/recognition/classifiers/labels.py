"""Labels of classes: which are accepted, and how a saved state keeps them."""

import json
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning.errors import ParameterError, StateError

LONGEST_LABEL = 1024  # largest number of characters of a label
SHOWN = 40  # largest number of characters of a label in a message


def check_label(label: object, name: str = "label") -> str:
    """Return a label as a plain str. Raises ParameterError unless it is a str of 1 to 1024 characters."""
    if not isinstance(label, str):
        raise ParameterError(name, label, "a str")
    if not 0 < len(label) <= LONGEST_LABEL:
        raise ParameterError(name, shorten(label), f"1 to {LONGEST_LABEL} characters long, not {len(label)}")
    return str(label)  # np.str_ becomes str


def check_labels(label: str | Sequence[str], count: int, single: bool) -> list[str]:
    """Return a label for each of `count` examples, given one for all or one for each. Raises ParameterError."""
    if isinstance(label, str) or single:
        return [check_label(label)] * count
    try:
        labels = [check_label(one) for one in label]
        label[:0]  # sets and dicts have labels, but no order
    except (TypeError, KeyError):
        raise ParameterError("label", label, "a str, or a str for each example") from None
    if len(labels) != count:
        raise ParameterError("label", f"{len(labels)} labels", f"a str, or a str for each of the {count} examples")
    return labels


def shorten(label: str) -> str:
    """Return at most the first 40 characters of a label, to show it in a message."""
    return label if len(label) <= SHOWN else label[: SHOWN - 3] + "..."


def pack_labels(labels: Iterable[str]) -> NDArray[np.uint8]:
    """Encode labels as bytes of JSON, which keeps every character, unlike an array of str, and pads no label."""
    return np.array(bytearray(json.dumps(list(labels)).encode()), np.uint8)


def unpack_labels(name: str, packed: ArrayLike) -> list[str]:
    """Decode what `pack_labels` returned. Raises StateError if it is something else or holds a label twice."""
    try:
        if np.asarray(packed).dtype != np.uint8:
            raise ValueError("not bytes")
        decoded = json.loads(np.asarray(packed).tobytes())
        if not isinstance(decoded, list):
            raise ValueError("not a list")
        labels = [check_label(label) for label in decoded]
    except (TypeError, ValueError) as error:
        raise StateError(f"{name} cannot be decoded as labels: {error}", name=name) from None
    if len(set(labels)) != len(labels):
        raise StateError(f"{name} contains a label twice", name=name)
    return labels
