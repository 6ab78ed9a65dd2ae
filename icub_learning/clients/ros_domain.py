"""A ROS domain of its own for a program, so that demonstrations and robots on one machine stay apart."""

import random
import socket
from contextlib import ExitStack

from icub_learning.errors import IcubLearningError

DOMAINS = range(1, 102)  # their UDP ports lie below Linux's ephemeral ports
PARTICIPANTS = 10  # of a domain, whose ports are checked
# Discovery ports of the participants of a domain (DDSI-RTPS 2.2, 9.6.1.1).
_BASE, _PER_DOMAIN, _UNICAST, _PER_PARTICIPANT = 7400, 250, 10, 2


class RosDomain:
    """A domain (`number`) without participants on this machine; a context manager that keeps other objects like it out.

    It holds the port of the domain's first participant: DDS gives later participants the next ports. Raises
    IcubLearningError: no domain is free.
    """

    def __init__(self) -> None:
        for domain in random.sample(DOMAINS, len(DOMAINS)):
            if holder := reserve(domain):
                self.number, self._holder = domain, holder
                first = holder.getsockname()[1]
                self.ports = range(first + 1, first + _PER_DOMAIN - _UNICAST)
                return
        raise IcubLearningError("every ROS domain from 1 to 101 is in use on this machine", name="ROS_DOMAIN_ID")

    def __enter__(self) -> "RosDomain":
        return self

    def __exit__(self, *_: object) -> None:
        self._holder.close()


def reserve(domain: int) -> socket.socket | None:
    """Return a socket at the port of a domain's first participant, or None if the domain has a participant."""
    with ExitStack() as probes:
        holders = [probes.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(PARTICIPANTS)]
        try:
            for participant, holder in enumerate(holders):
                holder.bind(("", _BASE + _PER_DOMAIN * domain + _UNICAST + _PER_PARTICIPANT * participant))
        except OSError:
            return None
        return holders[0].dup()
