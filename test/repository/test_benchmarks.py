"""The benchmarks compare like with like, and measure what they name."""

import numpy as np
import pytest
from helpers.local_polynomials import newest_by_window

from benchmarks import core, kernel_methods, motion, parts
from benchmarks.contestants import CONTESTANTS, MISSING
from benchmarks.endurance import files, soak
from benchmarks.scenarios import SCENARIOS
from benchmarks.timing import time_in_turns
from icub_learning.recursive import _cholesky
from icub_learning.simulation.zoo import ZOO


def test_one_size_is_measured_by_all_whose_weights_are_those_of_the_batch_solution(monkeypatch):
    before, rows = _cholesky.use("portable"), core.time_one_size(16, 3, 0.02)
    assert {f"ours/{name}" for name in _cholesky.available()} < set(CONTESTANTS) - set(MISSING)
    assert _cholesky.use(before) == "portable"  # the update kernel was put back
    assert {row["method"] for row in rows} == {*CONTESTANTS, core.FLOOR}
    assert next(row for row in rows if row["method"] == "Sherman-Morrison")["x S-M"] == 1.0
    idle = type("Idle", (CONTESTANTS["Sherman-Morrison"],), {"step": lambda *_: None})
    monkeypatch.setitem(CONTESTANTS, "idle", idle)
    with pytest.raises(AssertionError, match="idle"):
        core.time_one_size(16, 3, 0.02)
    monkeypatch.setattr(kernel_methods.NYTRO, "predict", lambda _, x: np.zeros(len(x)))
    with pytest.raises(AssertionError, match="NYTRO, m = 100: error"):
        kernel_methods.run_nytro(True)


@pytest.mark.parametrize("name", files.TARGETS)
def test_what_is_fuzzed_takes_or_refuses_what_it_begins_with(name):
    target, seeds = files.TARGETS[name]()
    for seed in seeds:
        files.checked(target)(seed)


def test_each_part_of_a_cycle_is_measured(monkeypatch):
    monkeypatch.setattr(parts, "time_in_turns", lambda steps, *_: time_in_turns(steps, 10.0, 5))  # keeps slow steps
    found = {row["part"]: row["µs"] for row in parts.run(quick=True).rows}
    assert min(found.values()) > 0.0 and "a joint state to its prediction, irregular stamps" in found


def test_a_soak_tells_growth_from_what_goes_up_and_down_with_its_events():
    seconds, round_of_events = np.arange(1800), 1800 * len(soak.EVENTS) / soak.MOST_EVENTS
    saw = 200.0 + 12.0 * (seconds % round_of_events > 0.7 * round_of_events) + 5.0 * np.sin(seconds / 3.0)
    assert abs(soak.growth_of(saw.tolist())) < 0.002
    assert soak.growth_of((saw * (1.0 + 0.03 * seconds / 1800)).tolist()) == pytest.approx(0.022, abs=0.004)


@pytest.mark.parametrize("weight", [0.0, 0.05])
def test_windows_beside_the_motion_filter_are_those_beside_it_in_tests(weight):
    found, places = ZOO["ur10_currents_125hz"].record(3.0), np.array([30, 70, 200])
    stamps, position, velocity = (getattr(found.recording, name) for name in ("joint_stamps", "position", "velocity"))
    values = motion.window(found, places, 15, 3, weight)
    rival = newest_by_window(stamps, position, velocity, 15, 3, weight)[places]
    np.testing.assert_allclose(values, rival, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["core-history", "kernel-nytro", "objects-learn", "polk-step", "tensor-layout"])
def test_quick_forms_run(name):
    assert SCENARIOS[name].run(True).rows
