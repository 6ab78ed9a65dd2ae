"""Child processes end: when asked, when one fails, and when their parent is killed."""

import os
import signal
import sys

import pytest
from helpers.processes import runs
from helpers.waiting import wait_until

from icub_learning.clients.processes import Processes
from icub_learning.errors import IcubLearningError

WAIT = "import time, pathlib, sys, os; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(3600)"


def pid_in(path):
    """Return the process id that a child writes, once it runs."""
    return int(wait_until(lambda: path.exists() and path.read_text(), "a child"))


def test_a_failure_shows_the_last_lines(tmp_path, capsys):
    fail = "import os; print(*range(20), os.environ['COLOUR'], 'is the reason', sep='\\n'); raise SystemExit(3)"
    with Processes(tmp_path / "log") as started:
        started.start("good", [sys.executable, "-c", WAIT, str(tmp_path / "good")], {})
        started.start("bad", [sys.executable, "-c", fail], {"COLOUR": "green"})
        pid = pid_in(tmp_path / "good")
        assert runs(pid) and os.getsid(pid) != os.getsid(0) and started.pid("good") == pid
        with pytest.raises(IcubLearningError, match=f"bad ended by itself: exit code 3; its log: {tmp_path}/log/bad"):
            wait_until(started.check, "the failure")
    shown = [f"  bad | {line}" for line in (*range(7, 20), "green", "is the reason")]  # the last 15 lines
    assert capsys.readouterr().err.splitlines() == shown and not runs(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="needs prctl")
def test_children_end_when_their_parent_is_killed(tmp_path, start_process):
    code = (
        "import sys, time; from pathlib import Path; from icub_learning.clients.processes import Processes;"
        f" children = Processes(Path({str(tmp_path)!r}));"
        f" children.start('a', [sys.executable, '-c', {WAIT!r}, {str(tmp_path / 'a')!r}], {{}}); time.sleep(3600)"
    )
    parent, pid = start_process(sys.executable, "-c", code), pid_in(tmp_path / "a")
    parent.stop(signal.SIGKILL)
    wait_until(lambda: not runs(pid), "the child's end")
