"""Priority, cores and locked memory where they are permitted, a plain answer where not; freed memory is returned."""

import ast
import io
import os
import re
import resource
import subprocess
import sys
from unittest.mock import Mock

import pytest

from icub_learning.nodes.common.threads import scheduling

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

LOOK = """
import os, threading
from icub_learning.nodes.common.threads import scheduling
leave = threading.Event()
learner = threading.Thread(target=leave.wait)
learner.start()
print(CALL)
threading.Thread(target=leave.wait).start()
threads = [int(thread) for thread in os.listdir("/proc/self/task")]
print(*sorted(f"{os.sched_getscheduler(thread)}/{os.sched_getparam(thread).sched_priority}" for thread in threads))
print(*({tuple(sorted(os.sched_getaffinity(thread))) for thread in threads}))
print([line.split()[1] for line in open("/proc/self/status") if line.startswith("VmLck")][0])
leave.set()
"""

LEARN = """
import os, sys, threading, time
import numpy as np
from icub_learning.nodes.common.threads import scheduling
from icub_learning.recursive import RecursiveLeastSquares

def learn():
    model = RecursiveLeastSquares(int(sys.argv[1]), 1)
    while not leave.is_set():
        model.update(np.ones(model.n_features), np.ones(1))

def policies(expected):
    found, end = set(), time.monotonic() + (float(sys.argv[2]) if expected else 0.2)
    while time.monotonic() < end and found != expected:
        found.add(os.sched_getscheduler(learner.native_id))
    return found

leave = threading.Event()
learner = threading.Thread(target=learn)
learner.start()
scheduling.lend_priority(learner.native_id, True)
print(sorted(policies({os.SCHED_RR, os.SCHED_BATCH})))
scheduling.lend_priority(learner.native_id, False)
print(sorted(policies(None)))
leave.set()
"""

MEMORY = """
import sys
import numpy as np
from icub_learning.nodes.common.threads.scheduling import return_large_blocks

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20

if sys.argv[1] == "returned" and not return_large_blocks():
    raise SystemExit(3)
for size in (8, 8, 8):  # [MiB]; having freed one, glibc keeps the next ones below this size
    np.ones(size * 2**17)
held = [np.ones(4 * 2**17) for _ in range(10)]
pin = [np.ones(2**13) for _ in range(1000)]  # smaller blocks behind them, more than all the holes before can take
before = resident()
del held
print(before - resident())
"""


def look(call: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", LOOK.replace("CALL", call)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_all_threads_but_the_learning_one_get_priority_or_none_does():
    answer, policies, *_ = look("scheduling.ask_for_real_time(5, learner.native_id)")
    if answer == "real-time priority 5":
        first, *others = policies.split()
        assert (first, set(others)) == ("0/0", {f"{os.SCHED_RR}/5"})
        assert len(others) >= 2  # a library may have threads too
    else:
        assert answer.startswith("ordinary scheduling: no real-time priority here") and set(policies.split()) == {"0/0"}


def test_a_command_s_middleware_has_priority_and_its_other_threads_have_not(ros_domain):
    found = look("__import__('icub_learning.clients.topics', fromlist=['']).executed_node('one').__enter__() and ''")
    permitted = look("scheduling.ask_for_real_time()")[0] == "real-time priority 10"
    assert set(found[1].split()) == ({"0/0", f"{os.SCHED_RR}/10"} if permitted else {"0/0"})


def test_priority_is_given_back_by_a_learning_thread_that_inherited_it_and_then_by_all():
    ask, learner = "scheduling.ask_for_real_time", "learner.native_id"
    answers, policies, *_ = look(f"({ask}(5), {ask}(5, {learner}), os.sched_getscheduler({learner}), {ask}(0))")
    first, second, policy, last = ast.literal_eval(answers)
    assert (second, policy, last) == (first, os.SCHED_OTHER, "ordinary scheduling") and set(policies.split()) == {"0/0"}


def test_without_real_time_priority_the_learning_thread_is_less_urgent_and_others_have_short_slices():
    learner = "learner.native_id"
    slices = "[[line.split()[2] for line in open(f'/proc/{t}/sched') if '.slice' in line] for t in (os.getpid(), %s)]"
    read = f"os.path.exists('/proc/self/sched') and {slices % learner}"
    for priority in (0, 5):
        ask = f"scheduling.ask_for_real_time({priority}, {learner}), scheduling.favour_others({learner})"
        found = look(f"({ask}, os.getpriority(os.PRIO_PROCESS, {learner}), os.nice(0), {read})")[0]
        answer, _, niceness, usual, slices_ns = ast.literal_eval(found)
        real_time = answer == "real-time priority 5"
        assert niceness == min(19, usual + (0 if real_time else scheduling.NICENESS))
        if slices_ns and all(slices_ns) and tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (6, 12):
            (own,), (other,) = slices_ns
            assert (int(own) == scheduling.SLICE < int(other)) != real_time


def test_a_lent_priority_is_given_up_during_long_steps_and_not_taken_again_when_it_was_taken_away():
    permitted = look("scheduling.ask_for_real_time(5)")[0] == "real-time priority 5"
    lent = [os.SCHED_RR, os.SCHED_BATCH]  # before a long step, and during one
    for n_features, seconds, expected in ((8, 0.2, lent[:1]), (1024, 30.0 if permitted else 0.2, lent)):
        done = subprocess.run([sys.executable, "-c", LEARN, f"{n_features}", f"{seconds}"], capture_output=True)
        assert done.returncode == 0, done.stderr
        first, last = map(ast.literal_eval, done.stdout.decode().splitlines())
        assert (first, last) == (expected if permitted else [os.SCHED_OTHER], [os.SCHED_OTHER])


def test_a_thread_has_run_and_waited_for_a_core_for_some_time(monkeypatch):
    call = "(scheduling.times_of(os.getpid()), scheduling.times_of(learner.native_id), scheduling.times_of(1 << 30))"
    own, idle, unknown = ast.literal_eval(look(call)[0])
    assert 1e6 > own[0] > idle[0] > 0 == unknown[0] == unknown[1] <= min(own[1], idle[1])
    monkeypatch.setattr(scheduling, "open", lambda *_, **__: io.StringIO("2500000000 40000000 7\n"), raising=False)
    assert scheduling.times_of(1) == pytest.approx((2.5, 0.04))


def test_all_threads_run_on_the_chosen_cores():
    core = min(os.sched_getaffinity(0))
    answer, _, cores, _ = look(f"scheduling.ask_for_cores([{core}])")
    assert (answer, cores) == (f"on cores {core}", f"({core},)")
    giving_way = "scheduling.ask_for_real_time(5), way := scheduling.giving_way(), way.__enter__()"
    _, policies, cores, _ = look(f"({giving_way})")
    assert (cores, policies.split()[:2]) == (f"({core},)", ["0/0", "0/0"])  # its own, and of a thread that it started
    _, again, all_cores, _ = look(f"({giving_way}, way.__exit__(None, None, None))")
    assert str(tuple(sorted(os.sched_getaffinity(0)))) in all_cores and again.split()[1:] == [policies.split()[-1]] * 2


def test_threads_of_one_core_take_turns_so_that_one_that_waits_in_a_loop_does_not_wait_for_ever():
    """Two processes stand for two threads, since Python's threads take turns anyway."""
    code = (
        "import mmap, os, time; from icub_learning.nodes.common.threads import scheduling; told = mmap.mmap(-1, 1)\n"
        "scheduling.ask_for_cores([min(os.sched_getaffinity(0))]), scheduling.ask_for_real_time(5)\n"
        "if not os.fork(): told[0] = 1; os._exit(0)\n" "end = time.monotonic() + 20.0\n"
        "while not told[0] and time.monotonic() < end: pass\n" "os._exit(not told[0])"
    )  # fmt: skip
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_memory_is_locked_or_the_answer_says_how_to_get_there():
    answer, *_, locked = look("scheduling.ask_for_locked_memory()")
    if answer == "memory locked":
        assert int(locked) > 1000  # kB
    else:
        assert "limits.conf" in answer and resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] != resource.RLIM_INFINITY


def test_what_is_not_permitted_is_said(monkeypatch):
    for name in ("sched_setscheduler", "sched_setaffinity"):
        monkeypatch.setattr(os, name, Mock(side_effect=PermissionError(1, "Operation not permitted")), raising=False)
    monkeypatch.setattr(os, "sched_getscheduler", lambda _: os.SCHED_OTHER)  # the middleware's threads may have another
    words = scheduling.apply(asked := {"realtime_priority": 5, "cpu_affinity": [0], "lock_memory": False})
    assert [word.split(":")[0] for word in words] == ["ordinary scheduling", "any core"]
    assert all("not permitted" in word for word in words)
    assert scheduling.apply(asked | {"realtime_priority": 0, "cpu_affinity": [-1]}) == ["ordinary scheduling"]


def returned(how: str) -> float:
    """Return how many of 40 MiB a process gives back to the system when it frees them."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}  # Dask sets one
    done = subprocess.run([sys.executable, "-c", MEMORY, how], capture_output=True, text=True, check=False, env=plain)
    if done.returncode == 3:
        pytest.skip("the C library has no mallopt")
    assert not done.returncode, done.stderr
    return float(done.stdout)


def test_large_blocks_are_returned_at_once():
    assert returned("returned") > 38.0
    assert returned("as by default") < 20.0  # else return_large_blocks would have nothing to do
