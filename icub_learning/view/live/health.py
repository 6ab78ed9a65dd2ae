"""/diagnostics as the page shows it, and the experts' weights that are told there."""

import re
import time
from typing import Any

from icub_learning.view.shown.state import Health

WEIGHT = re.compile(r"(P|NP|SP) (\d+(?:\.\d+)?)")


def health_of(status: Any) -> Health:
    """Return a DiagnosticStatus as the page shows it; rclpy gives its level as a byte; an unknown one is an error."""
    values = {pair.key: pair.value for pair in status.values}
    level = status.level[0] if isinstance(status.level, bytes) else int(status.level)
    return Health(level if 0 <= level <= 3 else 2, status.message, values, time.monotonic())


def weights_of(text: str) -> dict[str, dict[str, float]]:
    """Return the weights of P, NP and SP by output, from the text "force.x: P 0.10 NP 0.20 SP 0.70; force.y: ..."."""
    found = {}
    for part in text.split(";"):
        output, separator, weights = part.partition(":")
        entries = {kind: float(value) for kind, value in WEIGHT.findall(weights)}
        if separator and entries:
            found[output.strip()] = entries
    return found
