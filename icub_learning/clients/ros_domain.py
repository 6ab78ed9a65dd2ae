"""A ROS domain of one's own, so that demonstrations and robots on one machine do not hear each other."""

import random
import socket
from contextlib import ExitStack

from icub_learning.errors import IcubLearningError

DOMAINS = range(1, 102)  # their ports lie below those that Linux gives away
PARTICIPANTS = 10  # of a domain, that are looked for
# Ports of DDS (DDSI-RTPS 2.2, 9.6.1.1): those at which a domain's participants are told of each other.
_BASE, _PER_DOMAIN, _UNICAST, _PER_PARTICIPANT = 7400, 250, 10, 2


class RosDomain:
    """A domain in which no one on this machine takes part; a context that keeps others like it out.

    It holds the port of the domain's first participant: DDS gives later participants the next ports.

    Attributes:
        number: the ROS_DOMAIN_ID.
    """

    def __init__(self) -> None:
        """Find a domain. Raises IcubLearningError if there is none."""
        for domain in random.sample(DOMAINS, len(DOMAINS)):
            if holder := hold(domain):
                self.number, self._holder = domain, holder
                return
        raise IcubLearningError("every ROS domain from 1 to 101 is in use on this machine", name="ROS_DOMAIN_ID")

    def __enter__(self) -> "RosDomain":
        return self

    def __exit__(self, *_: object) -> None:
        self._holder.close()


def hold(domain: int) -> socket.socket | None:
    """A socket at the port of a domain's first participant, None if a participant is there."""
    with ExitStack() as tried:
        holders = [tried.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(PARTICIPANTS)]
        try:
            for participant, holder in enumerate(holders):
                holder.bind(("", _BASE + _PER_DOMAIN * domain + _UNICAST + _PER_PARTICIPANT * participant))
        except OSError:
            return None
        kept = holders[0].dup()
    return kept
