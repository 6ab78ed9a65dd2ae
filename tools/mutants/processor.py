"""How much processor time a process takes, with all that it started, and whether it computes at all."""

import os
import subprocess
from collections import deque
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")  # ticks of /proc in a second
INTERVAL = 1.0  # [s] between looks
# Looks: five minutes. Tests that only wait do so for events, each for four minutes at most (test/helpers/waiting.py).
HUNG = 300
# Least share of the looks that find a computing program. Programs that wait wake up now and then, e.g. for ROS timers;
# those that compute never rest, and want the processor where they do not have it.
LEAST_SHARE = 0.05


def family(pid: int) -> list[int]:
    """Return a process and all that descend from it and live."""
    try:
        children = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # it has just ended
        children = []
    return [pid, *(one for some in children for child in some for one in family(int(child)))]


def processor_seconds(pids: list[int]) -> float:
    """Return the processor time of processes and of their children that have ended, of user and system [s]."""
    return sum(int(field) for pid in pids for field in _fields(Path(f"/proc/{pid}/stat"))[11:15]) / TICKS


def want_the_processor(pids: list[int]) -> bool:
    """Return whether a thread of these processes runs, waits for the processor, or for a disk."""
    paths = [path for pid in pids for path in Path(f"/proc/{pid}/task").glob("*/stat")]
    return any(_fields(path)[:1] in (["R"], ["D"]) for path in paths)


def _fields(path: Path) -> list[str]:
    """Return the fields of a file of /proc from the state on; none if the process has ended."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def wait(run: subprocess.Popen[bytes], most: float, looks: int = HUNG, interval: float = INTERVAL) -> str:
    """Wait until a process ends, or its time is over.

    Args:
        run: the process; those that it starts count with it.
        most: processor time that they may take [s].
        looks: number of looks, `interval` seconds apart; the wait ends if next to nothing computes in them.

    Returns:
        "" if it ended, "processor time" if it took more, and "hung" if it waits without computing.
    """
    wanted = deque([True] * looks, looks)
    while True:
        try:
            run.wait(interval)
            return ""
        except subprocess.TimeoutExpired:
            pids = family(run.pid)
        if processor_seconds(pids) > most:
            return "processor time"
        wanted.append(want_the_processor(pids))
        if sum(wanted) < LEAST_SHARE * looks:
            return "hung"
