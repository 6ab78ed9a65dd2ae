"""Child processes that write to log files and end with the program, and a ROS domain of their own."""

import random
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from icub_learning.errors import IcubLearningError
from icub_learning.launching import children

LAST_LINES = 15  # lines of an ended process's log that are printed
DOMAINS = range(1, 102)  # domain numbers whose UDP ports lie below Linux's ephemeral ports
PARTICIPANTS = 10  # participants of a domain whose ports are checked
# Discovery port of a participant: base, gain per domain, unicast offset, gain per participant (DDSI-RTPS 2.2, 9.6.1.1).
_BASE, _PER_DOMAIN, _UNICAST, _PER_PARTICIPANT = 7400, 250, 10, 2


class Processes(ExitStack):
    """Starts processes, each with a file NAME.log in a folder, and ends all of them at the end of its context."""

    def __init__(self, log_folder: Path) -> None:
        super().__init__()
        self._log_folder = log_folder
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self.callback(self.stop)

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start one process; see `icub_learning.launching.children.start`."""
        self._log_folder.mkdir(parents=True, exist_ok=True)
        with self._log(name).open("wb") as log:
            self._children[name] = children.start(command, environment, log)

    def pid(self, name: str) -> int:
        return self._children[name].pid

    def check(self) -> None:
        """Raise IcubLearningError if a process has ended, with the last lines of its log."""
        for name, child in self._children.items():
            if (code := child.poll()) is not None:
                for line in self._log(name).read_text(errors="replace").splitlines()[-LAST_LINES:]:
                    print(f"  {name} | {line}", file=sys.stderr)
                text = f"{name} ended by itself: {children.describe(code)}; its log: {self._log(name)}"
                raise IcubLearningError(text, name=name, value=code, bound="a running process")

    def stop(self) -> None:
        """End all processes with SIGTERM; kill those that do not end in time."""
        children.end(list(self._children.values()))

    def _log(self, name: str) -> Path:
        return self._log_folder / f"{name}.log"


class RosDomain(ExitStack):
    """Reserves a domain (`number`) without participants on this machine against other RosDomains; a context manager.

    It holds the port of the domain's first participant: DDS gives later participants the next ports. Raises
    IcubLearningError: no domain is free.
    """

    def __init__(self) -> None:
        super().__init__()
        for domain in random.sample(DOMAINS, len(DOMAINS)):
            if holder := reserve(domain):
                self.enter_context(holder)
                self.number = domain
                first = holder.getsockname()[1]
                self.ports = range(first + 1, first + _PER_DOMAIN - _UNICAST)
                return
        raise IcubLearningError("every ROS domain from 1 to 101 is in use on this machine", name="ROS_DOMAIN_ID")


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
