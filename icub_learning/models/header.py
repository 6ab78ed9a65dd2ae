"""The description in a model file: whose model it is, how it was learned, and checksums of all arrays."""

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any
from xml.etree import ElementTree

import numpy as np

from icub_learning.errors import StateError

FORMAT_VERSION = 1  # version of the format of all model files
HEADER_ENTRY, CHECKSUM_ENTRY = "model_header", "model_checksum"  # entries of a file beside those of the state
# Fields that must agree for models to replace or pool each other, named as in messages, in order of comparison.
ORIGIN = {name: name for name in ("kind", "robot", "joints", "sensor", "network")}
ORIGIN["urdf_digest"] = "digest of the URDF"


@dataclass(frozen=True)
class ModelHeader:
    """The description of a model in its file."""

    kind: str  # subject of the model: "inverse_dynamics", "object_recognition" or "object_detection"
    robot: str = ""  # name of the robot in its URDF
    urdf_digest: str = ""  # SHA-256 of the URDF's elements, see `digest_of_urdf`
    joints: tuple[str, ...] = ()  # joint names, in the order of all arrays
    sensor: str = ""  # name of the force/torque sensor
    network: str = ""  # network and layer of the features
    settings: Mapping[str, Any] = field(default_factory=dict)  # settings that it was learned with, seeds among them
    statistics: Mapping[str, Any] = field(default_factory=dict)  # facts about the data, such as the number of samples
    saved_at: float = field(default_factory=time.time)  # [s] time of saving, since 1970 (UTC)
    release: str = ""  # version of icub_learning that wrote it
    checksums: Mapping[str, str] = field(default_factory=dict)  # SHA-256 by entry of the state, see `digest_of`
    format_version: int = FORMAT_VERSION  # version of this description

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
        """Raise StateError, which names both, if this model has another kind, robot, joints, sensor or network than
        `ours`, which it would replace or be pooled with, or, unless `any_urdf`, another URDF.

        Fields that are unknown in one of the two, "" or (), are not compared.
        """
        for name, words in ORIGIN.items():
            theirs, own = getattr(self, name), getattr(ours, name)
            if theirs and own and theirs != own and not (any_urdf and name == "urdf_digest"):
                hint = "; `any_urdf: true` or --any-urdf takes it" if name == "urdf_digest" else ""
                text = f"{words} of the saved model: {_shown(theirs)}; here: {_shown(own)}{hint}"
                raise StateError(text, name=name, value=theirs, bound=_shown(own))


def utc(seconds: float) -> str:
    """Return a time in seconds since 1970 as text: date and time of day in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))


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
