"""Keeps a node on one core, the one that others use least, as long as one is enough."""

import contextlib
import ctypes
import math
import os
import random
import threading
import time
from collections import deque
from collections.abc import Sequence

import numpy as np

from icub_learning.arrays import Array
from icub_learning.nodes.common.threads.scheduling import REAL_TIME, ask_for_cores, lend_priority, times_of

# A driver at 200 Hz takes a tenth of a core, and what the system does itself a hundredth; a needless move is cheap.
MARGIN = 0.05  # share of a core by which another one must be less busy for a node to move, or that others really use
SECONDS = 3  # calls of `follow`, one a second, over which shares are counted
# A thread that waits for its core more than half as long as it runs, and for MARGIN of the time or more, shares it with
# one that never rests, or with nodes of the same priority: it then takes all cores, until one of them is idle for half
# of the time. A node that stayed on such a core got half of it, and at 1 kHz fell behind for ever (2026-11-28).
WAITS = IDLE = 0.5
FREQUENCY = "/sys/devices/system/cpu/cpu{}/cpufreq/cpuinfo_max_freq"  # where Linux says how fast a core may run
_TICK = 1.0 / os.sysconf("SC_CLK_TCK")  # [s] unit of the times in /proc/stat


class OwnCore:
    """Keeps all threads of this process on one core of several, and moves them to another that others use less.

    The interpreter lets one thread run at a time, so a second core gains little, and it costs more: a thread of
    real-time priority that wakes up on the core of another program pushes that one aside, often the very one that waits
    for the answer, until the system balances its cores some milliseconds later. Of several nodes that see the same
    cores, each moves in every second case at random, lest they all move at once. Where one core is not enough, the
    process runs on all of them, but the thread with native id `learner` stays with the predicting one: if it waited for
    another core, it might hold the interpreter's lock. For the same reason a priority is lent to it while others use
    its core, where predictions have one; on a core of their own that would only hold up the programs they answer.
    """

    def __init__(self, cores: Sequence[int], learner: int) -> None:
        self._cores, self._learner = fast_cores(cores), learner
        self._chance = random.Random(os.getpid())
        self._core: int | None = None  # the chosen one; None: all
        self._seen: deque[Array] = deque(maxlen=SECONDS + 1)  # what earlier calls saw

    def follow(self) -> str:
        """Choose by what has run since earlier calls, one a second; return what was changed in words, "" for nothing.

        To be called by the predicting thread. The first call can only choose the present core, and does so with
        real-time priority: without, that core may be crowded.
        """
        present, ran_and_waited = ctypes.CDLL(None).sched_getcpu(), times_of(threading.get_native_id())
        times = time.monotonic(), time.process_time(), *ran_and_waited, *idle_times(self._cores)
        self._seen.append(np.array(times))
        real_time = os.sched_getscheduler(0) in REAL_TIME
        if len(self._seen) == 1:
            return self._move(present) if real_time and present in self._cores else ""
        seconds, own, ran, waited, *idle = self._seen[-1] - self._seen[0]
        shares, place = 1.0 - np.array(idle) / seconds, None if self._core is None else self._cores.index(self._core)
        if place is not None:
            shares[place] -= own / seconds  # what others use
        if real_time:
            lend_priority(self._learner, place is None or shares[place] > MARGIN)
        if place is None and shares.min() <= 1.0 - IDLE:
            return self._move(self._cores[int(shares.argmin())])
        if place is None:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(self._learner, {present})
        elif waited > max(WAITS * ran, MARGIN * seconds):
            return self._move(None)
        else:
            shares[place] -= MARGIN
            best = self._cores[int(shares.argmin())]
            if np.isfinite(shares).all() and best != self._core and self._chance.random() < 0.5:
                return self._move(best)
        return ""

    def _move(self, core: int | None) -> str:
        self._core = core
        self._seen = deque([self._seen[-1]], self._seen.maxlen)
        return ask_for_cores(self._cores if core is None else [core])


def fast_cores(cores: Sequence[int]) -> list[int]:
    """Return the cores that may run at nine tenths of the highest frequency of all, without a processor's slow ones."""
    highest = dict.fromkeys(cores, 0)  # [kHz]
    for core in cores:
        with contextlib.suppress(OSError, ValueError), open(FREQUENCY.format(core), encoding="ascii") as file:
            highest[core] = int(file.read())
    return [core for core in cores if highest[core] >= 0.9 * max(highest.values())]


def idle_times(cores: Sequence[int]) -> list[float]:
    """Return for how long each core has been idle since the system started [s]; nan where a container hides it.

    Linux measures these. The busy times beside them count the core's state at every tick of some 4 ms, which misses or
    doubles the work of a node that runs in step with the ticks: at 1 kHz the columns of a second added up to 0.7 s.
    """
    found: dict[str, float] = {}
    with contextlib.suppress(OSError), open("/proc/stat", encoding="ascii") as file:
        for line in file:
            name, *columns = line.split()
            if name.startswith("cpu"):  # columns: user, nice, system, idle, waiting for a disk, and more
                found[name] = _TICK * (int(columns[3]) + int(columns[4]))
    return [found.get(f"cpu{core}", math.nan) for core in cores]
