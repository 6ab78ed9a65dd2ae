"""The seconds that commands wait for what nodes do: minutes, where a test expects it to come."""

from collections.abc import Callable
from typing import Any

from helpers.waiting import PATIENCE

from icub_learning.cli import latency
from icub_learning.cli.check import command as check
from icub_learning.cli.teach import dialogue
from icub_learning.clients import arm_session, services
from icub_learning.launching import children
from icub_learning.view.live import services as of_page

LIMITS = (
    (arm_session, ("START_LIMIT", "ANSWER_LIMIT", "SPARE")), (check, ("PATIENCE",)), (children, ("GRACE",)),
    (dialogue, ("IMAGE_LIMIT", "RECOGNITION_LIMIT")), (latency, ("PATIENCE",)), (of_page, ("FIND_LIMIT", "SPARE")),
    (services, ("SPARE",)),
)  # fmt: skip
FINDING = [getattr(services.Services, name) for name in ("find", "find_all", "ask", "call")]  # FIND_LIMIT by default


def set_limits(seconds: float = PATIENCE, assign: Callable[[Any, str, Any], None] = setattr) -> None:
    """Set all of them, with `assign(where, name, value)`: pytest's `monkeypatch.setattr` takes it back."""
    for module, names in LIMITS:
        for name in names:
            assign(module, name, seconds)
    for method in FINDING:
        assign(method, "__defaults__", (*method.__defaults__[:-1], seconds))
