"""Parameter files of nodes, in the form of those in config/, with settings that a command chose."""

import re
from collections.abc import Collection, Mapping, Sequence
from textwrap import wrap
from typing import Any

import yaml

from icub_learning.settings import settings_of

WIDTH = 100  # characters in a line of a comment
NUMBER = r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"  # what ROS takes for a number, and PyYAML for text if it is 1e3


def as_text(
    node: str, groups: Sequence[type], values: Mapping[str, Any], comment: str, tuned: Collection[str] = ()
) -> str:
    """Return a parameter file: each value below the meaning that its dataclass declares; `tuned` ones are marked."""
    meanings = {setting.name: setting.meaning for setting in settings_of(*groups)}
    lines = [f"# {comment}", f"{node}:", "  ros__parameters:"]
    for name, value in values.items():
        lines += [f"    # {line}" for line in wrap(meanings[name], WIDTH)]
        note = "  # tuned" if name in tuned else ""
        if isinstance(value, (list, tuple)):
            lines += [f"    {name}:{note}", *(f"      - {plain(entry)}" for entry in value)]
        else:
            lines.append(f"    {name}: {plain(value)}{note}")
    return "\n".join(lines) + "\n"


def plain(value: Any) -> str:
    """Return a YAML scalar of the type that ROS expects: 1.0 for a float, not 1; 1.0e-05, not 1e-05, which is text."""
    rounded = float(f"{value:.6g}") if isinstance(value, float) else value
    style = "'" if isinstance(value, str) and re.fullmatch(NUMBER, value) else None
    return yaml.safe_dump(rounded, width=10_000, default_style=style).removesuffix("...\n").strip()
