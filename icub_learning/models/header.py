"""What a model file says about itself: whose model it is, how it was learned, and checksums of all it holds."""

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any
from xml.etree import ElementTree

import numpy as np

from icub_learning.errors import StateError

FORMAT_VERSION = 1  # of all files
HEADER_ENTRY, CHECKSUM_ENTRY = "model_header", "model_checksum"  # of a file, beside those of the state
# What must agree between two models that can replace or pool each other, in words, in the order it is compared.
ORIGIN = {name: name for name in ("kind", "robot", "joints", "sensor", "network")}
ORIGIN["urdf_digest"] = "digest of the URDF"


@dataclass(frozen=True)
class ModelHeader:
    """The description of a model in its file."""

    kind: str  # what it is a model of: "inverse_dynamics", "object_recognition" or "object_detection"
    robot: str = ""  # its name in its URDF
    urdf_digest: str = ""  # SHA-256 of the URDF's elements, see `digest_of_urdf`
    joints: tuple[str, ...] = ()  # names, in the order of all arrays
    sensor: str = ""  # force/torque sensor
    network: str = ""  # network and layer of the features
    settings: Mapping[str, Any] = field(default_factory=dict)  # how it was learned, seeds among them, by name
    statistics: Mapping[str, Any] = field(default_factory=dict)  # what it has seen, such as the number of samples
    saved_at: float = field(default_factory=time.time)  # in seconds since 1970 (UTC)
    release: str = ""  # version of icub_learning that wrote it
    checksums: Mapping[str, str] = field(default_factory=dict)  # see `digest_of`, by entry of the state
    format_version: int = FORMAT_VERSION  # of this description

    def text(self) -> str:
        """Return the description as JSON."""
        return json.dumps(asdict(self), sort_keys=True, default=_plain)

    @classmethod
    def from_text(cls, text: str) -> "ModelHeader":
        """Read what `text` returned. Raises StateError, also for a description that a newer release wrote."""
        try:
            found = json.loads(text)
            version = found["format_version"]
            if not isinstance(version, int) or version > FORMAT_VERSION:
                reason = f"the model has format {version}, written by release {found.get('release', '?')}"
                raise StateError(f"{reason}; this release reads formats up to {FORMAT_VERSION}", value=version)
            known = {one.name for one in fields(cls)}
            header = cls(**{name: value for name, value in found.items() if name in known})
            names = [header.kind, header.robot, header.urdf_digest, header.sensor, header.network, header.release]
            tables = [header.settings, header.statistics, header.checksums]
            if not all(isinstance(one, str) for one in [*names, *header.joints]):
                raise TypeError("a name is no text")
            if not all(isinstance(one, dict) for one in tables) or not isinstance(header.saved_at, (int, float)):
                raise TypeError("an entry has another type")
            return replace(header, joints=tuple(header.joints))
        except StateError:
            raise
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
            raise StateError(f"the description of the model cannot be read: {error}", name=HEADER_ENTRY) from None

    def check_origin(self, ours: "ModelHeader", *, any_urdf: bool = False) -> None:
        """Raise StateError, which names both, if this model is of another kind, robot, sensor or network than `ours`,
        which it would replace or be pooled with, or, unless `any_urdf`, of another URDF.

        Names that one of the two does not know, "" or (), are not compared.
        """
        for name, words in ORIGIN.items():
            theirs, own = getattr(self, name), getattr(ours, name)
            if theirs and own and theirs != own and not (any_urdf and name == "urdf_digest"):
                text = f"{words} of the saved model: {_shown(theirs)}; here: {_shown(own)}"
                raise StateError(text, name=name, value=theirs, bound=_shown(own))


def digest_of(array: np.ndarray) -> str:
    """Return the SHA-256 of an array: its type, its shape and its bytes."""
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_urdf(urdf: str) -> tuple[str, str]:
    """Return the robot's name in a URDF (XML text), and the SHA-256 of its elements.

    Comments, white space and the order of attributes do not count.
    """
    try:
        name = ElementTree.fromstring(urdf).get("name", "")
        return name, digest_of_text(ElementTree.canonicalize(urdf, strip_text=True))
    except (ElementTree.ParseError, ValueError):
        return "", digest_of_text(urdf)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return list(value) if isinstance(value, (tuple, set, frozenset)) else str(value)


def _shown(value: str | tuple[str, ...]) -> str:
    text = value if isinstance(value, str) else ", ".join(value)
    return text if len(text) <= 300 else text[:300] + "..."
