"""Priority, processor cores, locked and returned memory: what a node requests of the system, where permitted."""

import contextlib
import ctypes
import os
import struct
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from icub_learning.recursive._cholesky import LENT_PRIORITY
from icub_learning.settings import setting

HELP = "rtprio and memlock in /etc/security/limits.conf, or CAP_SYS_NICE and CAP_IPC_LOCK, permit it"
# Increase of a learning thread's nice value beside a predicting one without real-time priority. On two cores, 1 kHz,
# the 99th percentile of round trips fell from 172 to 40 ms with 5, to 18 ms with 10; but beside two busy programs, at
# 200 Hz, a less urgent learner that holds the interpreter lock waits for its core, and predictions wait for the
# learner: 18 ms with 0, 12 with 5, 121 with 10 (2026-11-25).
NICENESS = 5
PRIORITY = 10  # real-time priority of nodes: any goes before ordinary programs; below 50, ros2_control's for drivers
REAL_TIME = (os.SCHED_FIFO, os.SCHED_RR)  # policies of a thread that has a real-time priority
SLICE = 100_000  # [ns] time slice of a thread that must answer soon: the shortest that Linux grants
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}  # number of this system call, for which Python has no function
_ALL_CORES = os.sched_getaffinity(0)  # cores on which the process may run, as it was started
LARGE = 1 << 20  # [bytes] size from which freed blocks are returned to the system
_M_MMAP_THRESHOLD = -3  # parameter of glibc's mallopt


@dataclass(frozen=True)
class SchedulingSettings:
    """What a node asks of the operating system's scheduler."""

    realtime_priority: int = setting(
        PRIORITY,
        "SCHED_RR priority once activated, where permitted, of all threads except a learning thread, which has"
        f" ordinary scheduling, or priority {LENT_PRIORITY} between its compiled steps; 0: ordinary scheduling of all",
        low=0, high=99,
    )  # fmt: skip
    cpu_affinity: Sequence[int] = setting(
        (-1,), "numbers of the cores to run on, of which inverse_dynamics uses one; -1: all cores", low=-1, high=4095
    )
    lock_memory: bool = setting(False, "keep all memory of the process in RAM, where permitted")


def apply(settings: dict[str, Any], learner: int | None = None) -> list[str]:
    """Request what the values of SchedulingSettings name; return the result of each request, in words."""
    results = [ask_for_real_time(settings["realtime_priority"], learner)]
    if learner is not None:
        favour_others(learner)
    cores = cores_of(settings)
    if os.sched_getaffinity(0) != set(cores):
        results.append(ask_for_cores(cores))
    if settings["lock_memory"]:
        results.append(ask_for_locked_memory())
    return results


def cores_of(settings: dict[str, Any]) -> list[int]:
    """Return the numbers of the cores that the values of SchedulingSettings name."""
    return [core for core in settings["cpu_affinity"] if core >= 0] or sorted(_ALL_CORES)


def ask_for_real_time(priority: int = PRIORITY, learner: int | None = None, but: Container[int] = ()) -> str:
    """Have the system run all threads of this process before ordinary ones (SCHED_RR); return the result in words.

    They take turns (round robin): some of the middleware's threads wait for others in a loop, and would keep these from
    the core for ever. Threads that are started later inherit the priority, 1 to 99; with 0 all return to ordinary
    scheduling. Without permission nothing changes. The thread of native id `learner` gets ordinary scheduling: under
    overload it takes all the time there is, and the system would suspend all real-time threads of its core for 50 ms of
    each second. Threads with the native ids `but` stay as they are.
    """
    try:
        for thread in (one for one in threads() if one not in but):
            with contextlib.suppress(ProcessLookupError):  # the thread has ended meanwhile
                if priority and thread != learner:
                    os.sched_setscheduler(thread, os.SCHED_RR, os.sched_param(priority))
                elif os.sched_getscheduler(thread) in REAL_TIME:  # its priority was set before, or inherited
                    os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
    except (AttributeError, OSError) as error:
        return f"ordinary scheduling: no real-time priority here ({error}); {HELP}"
    return f"real-time priority {priority}" if priority else "ordinary scheduling"


def favour_others(learner: int) -> None:
    """Have the other threads of this process run before a learning one where they have no real-time priority.

    The nice value of the thread with native id `learner` increases by NICENESS. The others get a time SLICE so short
    that they preempt it when they wake, which Linux permits to all programs from 6.12 on.
    """
    with contextlib.suppress(AttributeError, OSError):
        if os.sched_getscheduler(0) in REAL_TIME:
            return
        usual = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, learner, min(usual + NICENESS, 19))
        call = _SCHED_SETATTR.get(os.uname().machine)
        # struct sched_attr: its size, policy, flags, nice value, priority, runtime (the time slice); what follows is 0.
        wanted = struct.pack("=IIQiIQQQII", 56, os.SCHED_OTHER, 0, usual, 0, SLICE, 0, 0, 0, 0)
        library = ctypes.CDLL(None)
        for thread in threads() if call else []:
            if thread != learner:
                library.syscall(call, thread, wanted, 0)


def lend_priority(learner: int, lend: bool) -> None:
    """Lend the thread of native id `learner` the lowest real-time priority, or take that back.

    While it holds the interpreter's lock, threads of higher priority wait for it, so it must not wait for a core. In
    compiled steps, which need no lock, it gives up the priority too (recursive/_learning.h).
    """
    priority = os.sched_param(LENT_PRIORITY if lend else 0)
    with contextlib.suppress(OSError):  # the thread has ended meanwhile
        os.sched_setscheduler(learner, os.SCHED_RR if lend else os.SCHED_OTHER, priority)


def times_of(thread: int) -> tuple[float, float]:
    """Return the times [s] for which a thread of this process has run, and has waited for a core; 0 if not known."""
    try:
        with open(f"/proc/self/task/{thread}/schedstat", encoding="ascii") as file:
            ran, waited, _ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0.0, 0.0
    return ran * 1e-9, waited * 1e-9


def ask_for_cores(cores: Sequence[int], but: Container[int] = ()) -> str:
    """Keep threads of this process to these cores, except those with native ids `but`; return the result in words."""
    try:
        for thread in (one for one in threads() if one not in but):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(thread, cores)
    except (AttributeError, OSError) as error:
        return f"any core: cpu_affinity {list(cores)} was refused ({error})"
    return f"on cores {', '.join(map(str, cores))}"


@contextlib.contextmanager
def giving_way(but: Container[int] = ()) -> Iterator[None]:
    """Let the other threads, except those with native ids `but`, go before this one, on one core, in this context.

    It is for ending the middleware: Fast DDS waits until no thread handles a discovery. Built for an old C library, it
    does not sleep meanwhile but takes, again and again, the lock that such a thread waits for on another core.
    """
    cores, policy, priority = os.sched_getaffinity(0), os.sched_getscheduler(0), os.sched_getparam(0)
    ask_for_cores([min(cores)], but)
    with contextlib.suppress(OSError):  # not permitted
        os.sched_setaffinity(0, [min(cores)])
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, cores)
            os.sched_setscheduler(0, policy, priority)


def ask_for_locked_memory() -> str:
    """Keep all present and later memory of this process in RAM; return the result in words."""
    try:
        failed = ctypes.CDLL(None, use_errno=True).mlockall(1 | 2)  # MCL_CURRENT, MCL_FUTURE
    except (AttributeError, OSError) as error:
        return f"memory not locked ({error})"
    return f"memory not locked ({os.strerror(ctypes.get_errno())}); {HELP}" if failed else "memory locked"


def return_large_blocks() -> bool:
    """Have freed blocks of at least 1 MiB go back to the system at once; return whether the C library can do that.

    By default glibc keeps ever larger freed blocks for itself, up to 32 MiB each, so that a process that saves models
    now and then seems to grow for hours.
    """
    if "MALLOC_MMAP_THRESHOLD_" in os.environ:  # by which a user may choose another size
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return bool(mallopt is not None and mallopt(_M_MMAP_THRESHOLD, LARGE))


def threads() -> list[int]:
    """Return the native ids of the threads of this process."""
    return [int(thread) for thread in os.listdir("/proc/self/task")]
