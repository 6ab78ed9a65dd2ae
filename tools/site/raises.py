"""Rewrite errors that a docstring lists without a description each into the form that griffe reads.

An extension of griffe. The docstrings of this package say `ShapeError, NotFiniteError; nothing is learned then.`
"""

import re
from typing import Any

import griffe

SECTION = re.compile(r"^Raises:\n((?:    .*(?:\n|$))+)", re.M)
ENTRY = re.compile(r"^( +)((?:\w+(?:, )?)+)(?: \(|[;.])(.*)$")


class Raises(griffe.Extension):
    """Puts a colon behind the errors."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = SECTION.sub(lambda found: f"Raises:\n{with_colons(found[1])}", obj.docstring.value)


def with_colons(entries: str) -> str:
    """Return the lines of a section `Raises:`, each with a colon behind its errors."""
    lines = []
    for line in entries.splitlines():
        if ":" not in line and (found := ENTRY.match(line)):
            rest = found[3].replace(").", "").strip() or "an argument is not as it must be."
            line = f"{found[1]}{found[2]}: {rest}"
        lines.append(line)
    return "\n".join(lines) + "\n"
