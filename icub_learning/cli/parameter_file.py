"""Parameter files of nodes, in the form of those in config/, with settings that a command chose."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from textwrap import wrap
from typing import Any

import yaml

from icub_learning.dynamics.settings import Settings
from icub_learning.recognition.settings import Settings as RecognitionSettings
from icub_learning.reporting.tables import replacing_for
from icub_learning.settings import settings_of

WIDTH = 100  # characters of a comment


def dynamics_values(urdf: str, settings: Settings) -> dict[str, Any]:
    """Return the parameters of the inverse dynamics node: the URDF as the user gave it, and what is not default."""
    default = Settings()
    sensor_or_friction = "sensor" if settings.output == "wrench" else "friction"
    shown = {"urdf", "joints", "output", sensor_or_friction, "estimator", "stamp_source"}
    values: dict[str, Any] = {}
    for field in fields(Settings):
        value = urdf if field.name == "urdf" else getattr(settings, field.name)
        if field.name in shown or value != getattr(default, field.name):
            values[field.name] = list(value) if isinstance(value, tuple) else value
    return values


def write_objects(path: Path, settings: RecognitionSettings, comment: Sequence[str]) -> None:
    """Write the parameters of the recognition node that were chosen. Raises ParameterError."""
    tuned = ("regularization",) if settings.classifier == "rlsc" else ()  # the other one chooses by itself
    values = {name: getattr(settings, name) for name in ("classifier", *tuned, "recoding")}
    with replacing_for("--parameters", path) as file:
        file.write(as_text("object_recognition", (RecognitionSettings,), values, tuned, comment))


def as_text(
    node: str, groups: Sequence[type], values: Mapping[str, Any], tuned: Collection[str], comment: Sequence[str]
) -> str:
    """Return the parameters of a node, whose settings the dataclasses `groups` declare, each below its meaning.

    Those that were `tuned` say so, and a `comment` is at the head.
    """
    meanings = {setting.name: setting.meaning for setting in settings_of(*groups)}
    lines = [*(f"# {line}" for line in comment), f"{node}:", "  ros__parameters:"]
    for name, value in values.items():
        lines += [f"    # {line}" for line in wrap(meanings[name], WIDTH)]
        note = "  # tuned" if name in tuned else ""
        if isinstance(value, (list, tuple)):
            lines += [f"    {name}:", *(f"      - {plain(entry)}" for entry in value)]
        else:
            lines.append(f"    {name}: {plain(value)}{note}")
    return "\n".join(lines) + "\n"


def plain(value: Any) -> str:
    """Return a YAML scalar of the type that ROS expects: 1.0 for a float, not 1; 1.0e-05, not 1e-05, which is text."""
    rounded = float(f"{value:.6g}") if isinstance(value, float) else value
    return yaml.safe_dump(rounded, width=10_000).removesuffix("...\n").strip()
