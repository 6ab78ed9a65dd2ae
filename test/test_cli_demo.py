"""The demonstration: its figures against loops, and the whole of it in short, over DDS."""

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from icub_learning.cli import demo, demo_report

DEMO = (sys.executable, "-m", "icub_learning.cli", "demo")
SECOND = 10**9


def test_parts_of_the_run():
    stamps = np.arange(1, 201) * SECOND // 10  # 20 s at 10 Hz
    found = demo_report.parts(stamps, 10 * SECOND)
    seconds = {part: (stamps[mask].min() / SECOND, stamps[mask].max() / SECOND) for part, mask in found.items()}
    assert seconds["transient"] == (10.1, 13.0)
    assert found["transient"].sum() == 30
    assert seconds["steady_before"] == pytest.approx((7.1, 10.0))
    assert seconds["steady_after"] == pytest.approx((17.1, 20.0))


def test_errors_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    stamps, errors = np.arange(1, 201) * SECOND // 10, rng.normal(size=(200, 6))
    found = demo_report.errors_of(stamps, errors, 10 * SECOND)
    squares = [e**2 for s, row in zip(stamps, errors, strict=True) if 10 < s / SECOND <= 13 for e in row[3:]]
    assert found["transient"]["torque"] == pytest.approx(np.sqrt(np.mean(squares)))
    assert found["transient"]["samples"] == 30


def test_timing_counts_what_is_missing_and_what_is_double():
    stamps = np.arange(1, 101) * 5_000_000
    joint_states = np.column_stack([stamps, stamps + 7, stamps + 9])
    kept = np.delete(stamps, [0, 1, 40, 41, 70])  # before its first prediction nothing is missing
    predictions = np.column_stack([kept, kept + 2_000_007, kept + 3_000_007])
    predictions = np.concatenate([predictions, predictions[10:12]])
    found = demo_report.timing_of(joint_states, predictions)
    assert found["joint_states_without_prediction"] == 3
    assert found["predicted_twice"] == 2
    assert found["predictions_of_unknown_stamp"] == 0
    assert found["latency_to_publication_s"]["p50"] == pytest.approx(0.002)
    assert found["latency_to_arrival_s"]["max"] == pytest.approx(0.003)
    assert found["rate_hz"] == pytest.approx(200.0, rel=0.05)


def test_lost_messages_show_as_gaps():
    stamps = np.delete(np.arange(1, 101) * 5_000_000, [10, 50, 51])
    found = demo_report.stream_of(np.column_stack([stamps, stamps, stamps]))
    assert (found["messages"], found["lost"]) == (97, 3)
    assert found["rate_hz"] == pytest.approx(96 / 0.495)


def test_every_estimator_has_a_node():
    lines = demo.commands()
    assert set(lines) == {demo.SIMULATION, *demo.NODES.values()}
    given = {name: dict(part.split(":=", 1) for part in line if ":=" in part) for name, line in lines.items()}
    assert [json.loads(given[name]["estimator"]) for name in demo.NODES.values()] == list(demo.ESTIMATORS.values())
    assert len({given[name]["joints"] for name in demo.NODES.values()}) == 1


def children_of(pid: int) -> list[int]:
    """Ids of the processes that `pid` has started and that still run."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.ros
@pytest.mark.slow
def test_the_whole_of_it(tmp_path, start_process, ros_domain):
    process = start_process(*DEMO, "--seconds", "12", "--output", str(tmp_path / "out"), "--domain", str(ros_domain))
    assert process.wait(100) == 0, process.output
    assert "SIMULATED" in process.output
    assert "circle_xz" in process.output
    figures = json.loads((tmp_path / "out" / "demo.json").read_text())
    assert set(figures["rmse"]) == {"P", "NP", "SP"}
    assert figures["rmse"]["SP"]["steady_before"]["force"] < figures["rmse"]["P"]["steady_before"]["force"]
    assert figures["joint_states"]["messages"] > 4000
    assert all(
        node["predicted_twice"] == node["predictions_of_unknown_stamp"] == 0 for node in figures["nodes"].values()
    )
    assert (tmp_path / "out" / "demo.png").stat().st_size > 20_000


@pytest.mark.ros
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", ["interrupt", "terminate", "a child dies"])
def test_whatever_ends_it_ends_its_processes(how, tmp_path, start_process, ros_domain):
    process = start_process(*DEMO, "--output", str(tmp_path / "out"), "--domain", str(ros_domain))
    process.wait_for("waiting for|circle_xy", 30)
    pid = process._popen.pid
    children = children_of(pid)
    assert len(children) == 4
    if how == "a child dies":
        os.kill(children[1], signal.SIGKILL)
        assert process.wait(30) == 2
        assert re.search(
            r"inverse_dynamics_p ended with exit code -9; its log: .*inverse_dynamics_p\.log", process.output
        )
    else:
        os.kill(pid, signal.SIGINT if how == "interrupt" else signal.SIGTERM)
        assert process.wait(30) == 130
        assert "interrupted" in process.output
    assert "Traceback" not in process.output
    time.sleep(0.1)
    assert not [child for child in children if alive(child)]


@pytest.mark.parametrize("arguments", [["--seconds", "1"], ["--seconds", "nan"], ["--domain", "500"]])
def test_bad_options_are_one_line(arguments, tmp_path, start_process):
    process = start_process(*DEMO, *arguments, "--output", str(tmp_path / "out"))
    assert process.wait(30) == 2
    assert process.output.count("\n") == 1
    assert arguments[0] in process.output
