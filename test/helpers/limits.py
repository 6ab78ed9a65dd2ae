"""The time limits of commands that wait for nodes: raised to minutes in tests that expect the nodes to answer."""

from collections.abc import Callable
from typing import Any

from helpers.waiting import PATIENCE

from icub_learning.cli import latency
from icub_learning.cli.check import command as check
from icub_learning.cli.teach import dialogue
from icub_learning.clients import arm_session, services
from icub_learning.launching import children
from icub_learning.nodes.inverse_dynamics import learning_thread
from icub_learning.view.live import services as of_page

LIMITS = (
    (arm_session, ("START_LIMIT", "ANSWER_LIMIT", "SPARE")), (check, ("PATIENCE",)), (children, ("GRACE",)),
    (dialogue, ("IMAGE_LIMIT", "RECOGNITION_LIMIT")), (latency, ("PATIENCE",)), (of_page, ("FIND_LIMIT", "SPARE")),
    (services, ("SPARE",)), (learning_thread, ("LAST_SAMPLES", "LAST_WORK")),
)  # fmt: skip
FINDING = [getattr(services.Services, name) for name in ("find", "find_all", "ask", "call")]  # last default: FIND_LIMIT


def set_limits(seconds: float = PATIENCE, assign: Callable[[Any, str, Any], None] = setattr) -> None:
    """Set all limits with `assign(where, name, value)`; pytest's `monkeypatch.setattr` resets them after the test."""
    for module, names in LIMITS:
        for name in names:
            assign(module, name, seconds)
    for method in FINDING:
        assign(method, "__defaults__", (*method.__defaults__[:-1], seconds))
