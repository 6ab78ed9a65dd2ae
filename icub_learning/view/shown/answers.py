"""What services are asked, and what they answer, as the page needs it."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Answer:
    """Whether a service did what was asked, and what it said."""

    success: bool
    message: str


class Ask(Protocol):
    """Calls services of nodes; blocks until they answer, so not from the thread that handles messages."""

    def __call__(self, node: str, service: str, takes: float = 0.0, **fields: object) -> Answer:
        """Call a service of a node, one of `icub_learning.view.live.services.KINDS`, which may itself take some time
        [s].

        Returns its answer; if there is none, the reason.
        """
