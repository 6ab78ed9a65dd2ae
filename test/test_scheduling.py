"""Real-time scheduling where it is permitted, and a plain answer where it is not."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("rclpy")
from icub_learning.nodes.scheduling import ask_for_real_time

LOOK = """
import os, threading
from icub_learning.nodes.scheduling import ask_for_real_time
leave = threading.Event()
threading.Thread(target=leave.wait).start()
print(ask_for_real_time(PRIORITY))
threading.Thread(target=leave.wait).start()
print(*(os.sched_getscheduler(int(thread)) for thread in os.listdir("/proc/self/task")))
leave.set()
"""


def look(priority: int) -> list[str]:
    script = LOOK.replace("PRIORITY", str(priority))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_all_threads_or_none():
    answer, policies = look(5)
    expected = os.SCHED_RR if answer == "real-time priority 5" else os.SCHED_OTHER
    assert [int(policy) for policy in policies.split()] == [expected] * 3
    assert look(0) == ["ordinary scheduling", " ".join([str(os.SCHED_OTHER)] * 3)]


def test_what_is_not_permitted_is_said(monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refuse, raising=False)
    answer = ask_for_real_time(5)
    assert answer.startswith("ordinary scheduling")
    assert "not permitted" in answer
