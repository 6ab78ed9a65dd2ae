"""Real-time scheduling: joint states wait for 25 ms, and on a busy machine a process may wait longer for a core."""

import contextlib
import os


def ask_for_real_time(priority: int) -> str:
    """Have the system run all threads of this process before all ordinary ones (SCHED_RR).

    Threads that are started later inherit it. Without the right to it (CAP_SYS_NICE, or rtprio in limits.conf) and
    where there is no such thing, nothing changes.

    Args:
        priority: 1 to 99, 0 for ordinary scheduling.

    Returns:
        What came of it, in words.
    """
    if not priority:
        return "ordinary scheduling"
    try:
        for thread in os.listdir("/proc/self/task"):
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                os.sched_setscheduler(int(thread), os.SCHED_RR, os.sched_param(priority))
    except (AttributeError, OSError) as error:
        return f"ordinary scheduling: no real-time priority here ({error})"
    return f"real-time priority {priority}"
