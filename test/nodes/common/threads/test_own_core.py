"""A node runs on one core, moves to one that others use less, and takes all where one is not enough."""

import os
import time
from types import SimpleNamespace

import numpy as np
import pytest

from icub_learning.nodes.common.threads import own_core
from icub_learning.nodes.common.threads.own_core import IDLE, MARGIN, WAITS, OwnCore

CORES = (3, 5, 8)


@pytest.fixture
def machine(monkeypatch):
    """Return a machine on which seconds pass, each with shares of the cores taken, 0.3 of one by the node itself."""
    busy = dict.fromkeys(CORES, 0.0)
    now = SimpleNamespace(clock=0.0, own=0.0, ran=0.0, waited=0.0, policy=os.SCHED_RR, moves=[], learner=[], lent=[])

    def passes(*shares, waited=0.0):
        now.clock, now.own, now.ran, now.waited = now.clock + 1.0, now.own + 0.3, now.ran + 0.2, now.waited + waited
        busy.update({core: busy[core] + share for core, share in zip(CORES, shares, strict=True)})

    monkeypatch.setattr(own_core, "idle_times", lambda cores: [now.clock - busy[core] for core in cores])
    monkeypatch.setattr(own_core, "lend_priority", lambda thread, lend: now.lent.append((thread, lend)))
    monkeypatch.setattr(own_core, "ask_for_cores", lambda cores: now.moves.append(cores) or f"on cores {cores}")
    monkeypatch.setattr(own_core, "times_of", lambda _: (now.ran, now.waited))
    monkeypatch.setattr(own_core.ctypes, "CDLL", lambda _: SimpleNamespace(sched_getcpu=lambda: 3))
    monkeypatch.setattr(os, "sched_getscheduler", lambda _: now.policy)
    monkeypatch.setattr(os, "sched_setaffinity", lambda thread, cores: now.learner.append((thread, cores)))
    monkeypatch.setattr(own_core, "time", SimpleNamespace(monotonic=lambda: now.clock, process_time=lambda: now.own))
    now.passes = passes
    return now


def test_moves_where_others_use_a_core_less_and_not_for_what_it_uses_itself(machine):
    node = OwnCore(CORES, 7)
    assert node.follow() == "on cores [3]"
    for shares in 20 * [(0.3 + MARGIN - 0.01, 0.0, 0.5)] + 3 * [(9.0, np.nan, 0.0)]:  # a container may hide cores
        machine.passes(*shares)
        assert node.follow() == ""
    assert machine.lent == 20 * [(7, False)] + 3 * [(7, True)]  # to the learning thread, while others use its core
    node = OwnCore(CORES[::2], 7)
    while len(machine.moves) < 3:
        node.follow()
        machine.passes(0.3 + MARGIN + 0.02, 0.0, 0.0)
    assert machine.moves == [[3], [3], [8]]


def test_two_nodes_on_one_core_do_not_follow_each_other_for_long(machine, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", iter((1, 2)).__next__)  # seeds of their random moves
        nodes, places = [OwnCore(CORES[:2], 7), OwnCore(CORES[:2], 7)], [3, 3]
    for _ in range(30):
        for index, node in enumerate(nodes):
            places[index] = machine.moves[-1][0] if node.follow() else places[index]
        machine.passes(*(0.3 * places.count(core) for core in CORES))
    assert sorted(places) == [3, 5]


def test_without_real_time_priority_takes_all_cores_while_none_is_free(machine):
    machine.policy, node = os.SCHED_OTHER, OwnCore(CORES, 7)
    assert node.follow() == ""  # nothing is known of the cores yet
    machine.passes(1.0, 1.0, 1.0 - IDLE + 0.01)
    assert (node.follow(), machine.learner) == ("", [(7, {3})])  # the learning thread stays with the predicting one
    idle, waiting = (1.0, 1.0 - IDLE - 0.01, 0.9), (0.8, 0.6, 0.9)
    seconds = 3 * [(idle, 2.0)] + [(idle, 0.0)] + 4 * [(waiting, WAITS * 0.2 + 0.01)]
    found = [machine.passes(*shares, waited=waited) or node.follow() for shares, waited in seconds]
    # That it waited on cores that it has left does not count.
    assert found == ["", "", "on cores [5]", "", "", "", "on cores [3, 5, 8]", ""] and not machine.lent
    machine.policy = os.SCHED_RR
    machine.passes(*waiting)
    assert (node.follow(), machine.lent) == ("", [(7, True)])


def test_slow_cores_of_a_processor_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(own_core, "FREQUENCY", f"{tmp_path}/{{}}")
    assert own_core.fast_cores(CORES) == list(CORES)
    for core, frequency in zip(CORES, (5_200_000, 3_900_000, 5_400_000), strict=True):
        (tmp_path / str(core)).write_text(f"{frequency}\n")
    assert own_core.fast_cores(CORES) == [3, 8]


def test_idle_times_are_those_of_every_core_and_do_not_grow_with_work():
    cores, until = [*sorted(os.sched_getaffinity(0)), 10_000], time.process_time() + 0.1
    start, before = time.monotonic(), own_core.idle_times(cores)
    while time.process_time() < until:
        pass
    *grown, unknown = np.subtract(own_core.idle_times(cores), before)
    passed = len(grown) * (time.monotonic() - start)
    assert sum(before[:-1]) > 1.0  # since the system was started
    assert np.isnan(unknown) and min(grown) >= 0.0 and sum(grown) <= passed - 0.05
