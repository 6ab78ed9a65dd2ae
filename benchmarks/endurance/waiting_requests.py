"""Requests to services that wait for their answers, until these come or are given up."""

from collections import Counter
from typing import Any

LONGEST_ANSWER = 15.0  # [s] answer_timeout of the nodes, and what a busy machine adds
LONGEST_LOOK = 1.0  # [s] between two looks that count at most: in longer ones this process was not scheduled
# DDS resends a request or an answer that got lost as long as it is among the newest KEPT of its service: the depth of
# rmw_qos_profile_services_default.
KEPT = 10


class WaitingRequests:
    """Keeps count of requests and answers.

    Args:
        now: the time [s].

    Attributes:
        answered: number of answers.
        accepted: number of answers with success, or without such a field, by service.
        slowest: longest time until an answer [s].
        mute: services of the requests that were given up.
    """

    def __init__(self, now: float) -> None:
        self.answered, self.slowest = 0, 0.0
        self.accepted: Counter[str] = Counter()
        self.mute: list[str] = []
        self._waiting: dict[Any, tuple[str, float, int]] = {}  # service, when it was sent [s], its number there
        self._sent: Counter[str] = Counter()
        self._clock, self._looked = 0.0, now

    def __len__(self) -> int:
        return len(self._waiting)

    def may_send(self, service: str) -> bool:
        """Return whether DDS still keeps all waiting requests to a service if one more is sent."""
        oldest = min((number for one, _, number in self._waiting.values() if one == service), default=None)
        return oldest is None or self._sent[service] - oldest < KEPT

    def add(self, service: str, future: Any) -> None:
        """Note a request that has just been sent, and the future of its answer."""
        self._waiting[future] = service, self._clock, self._sent[service]
        self._sent[service] += 1

    def look(self, now: float) -> None:
        """Take the answers that have come; give up the requests that have waited for too long at `now` [s]."""
        self._clock += min(now - self._looked, LONGEST_LOOK)
        self._looked = now
        for future in [one for one in self._waiting if one.done()]:
            service, sent, _ = self._waiting.pop(future)
            self.answered += 1
            self.slowest = max(self.slowest, self._clock - sent)
            self.accepted[service] += bool(getattr(future.result(), "success", True))
        for future in [one for one, (_, sent, _) in self._waiting.items() if self._clock - sent > LONGEST_ANSWER]:
            self.mute.append(self._waiting.pop(future)[0])
