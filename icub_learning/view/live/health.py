"""/diagnostics as the page shows it, and the experts' weights that are told there."""

import re
import time
from typing import Any

from icub_learning.view.shown.state import Health

WEIGHT = re.compile(r"(P|NP|SP) (\d+(?:\.\d+)?)")


def health_of(status: Any) -> Health:
    """Return one DiagnosticStatus."""
    values = {pair.key: pair.value for pair in status.values}
    return Health(level_of(status.level), status.message, values, time.monotonic())


def level_of(level: bytes | int) -> int:
    """Return a level of DiagnosticStatus, which rclpy hands over as a byte, as a number from 0 to 3."""
    number = level[0] if isinstance(level, bytes) else int(level)
    return number if 0 <= number <= 3 else 2


def weights_of(text: str) -> dict[str, dict[str, float]]:
    """Return the weights of P, NP and SP by output, from the text "force.x: P 0.10 NP 0.20 SP 0.70; force.y: ..."."""
    found = {}
    for part in text.split(";"):
        output, separator, weights = part.partition(":")
        entries = {kind: float(value) for kind, value in WEIGHT.findall(weights)}
        if separator and entries:
            found[output.strip()] = entries
    return found
