"""`icub-learning latency`: its figures on made-up messages, and a node measured from outside."""

import json
import re
import signal
import sys

import numpy as np
import pytest
from helpers.limits import set_limits

from icub_learning.cli import latency
from icub_learning.cli.main import main
from icub_learning.clients.polling import timing_of
from icub_learning.recording import write
from icub_learning.simulation.arm.recordings import simulate

MILLISECOND = 1_000_000  # ns


def test_figures_are_those_of_the_messages():
    stamps = 10**18 + 5 * MILLISECOND * np.arange(1000)
    published = stamps + 2 * MILLISECOND
    published[500] += MILLISECOND  # one late message
    joint_states = np.column_stack([stamps, published, published + MILLISECOND // 2])
    answered = np.delete(np.arange(1000), [0, 1, 300, 301])  # states before the first prediction are not missing
    predictions = np.column_stack([stamps, published + MILLISECOND, published + 3 * MILLISECOND])[answered]
    predictions = np.concatenate([predictions, predictions[-1:]])
    echoes = np.column_stack([stamps, published + MILLISECOND // 2, published + MILLISECOND])[:-3]
    echoes = np.delete(echoes, [200, 201, 202], axis=0)
    figures = latency.figures_of(joint_states, predictions, echoes)
    assert figures["predictions_of_unknown_stamp"] == 0 and figures["rate_hz"] == pytest.approx(200.0, rel=0.05)
    shown = latency.text(figures)
    assert "2 joint states without a prediction, 1 predicted twice; 3 without an answer of the echo node" in shown
    rows = {name: numbers.split() for name, numbers in re.findall(r"^([^\d\n]+?)  +(\d.*)$", shown, re.MULTILINE)}
    assert rows.pop("latency, to arrival here") == ["3.000"] * 4
    assert rows.pop("the same of the echo node") == ["1.000"] * 4 and rows.pop("node over echo") == ["3.00"] * 4
    assert {name: (row[0], row[-1]) for name, row in rows.items()} == {
        "latency, to publication": ("1.000", "1.000"), "age at publication": ("3.000", "4.000"),
        "period of joint states": ("5.000", "6.000"), "jitter of joint states": ("0.000", "1.000"),
        "period of predictions": ("5.000", "15.000"), "jitter of predictions": ("0.000", "10.000"),  # two are missing
    }  # fmt: skip
    simulated = latency.figures_of(*(times - [10**18, 0, 0] for times in (joint_states, predictions, echoes)))
    assert simulated["age_at_publication_s"] is None  # simulated timestamps do not tell the age
    none = timing_of(np.array([[10, 11, 12], [20, 21, 22]]), np.array([[5, 6, 7]]))  # prediction for an earlier state
    assert none["predictions"] == none["joint_states_without_prediction"] == 0


@pytest.mark.check
def test_a_running_node_is_measured_from_outside(tmp_path, ros_domain, start_node, start_process, monkeypatch, capfd):
    set_limits(assign=monkeypatch.setattr)
    write(simulate([("circle_xy", 1.0)], 200.0), tmp_path / "arm.npz")
    joints = ["r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow"]
    node = start_node("inverse_dynamics", urdf="icub", output="wrench", joints=joints, n_random_features=20)
    replay = ("replay", str(tmp_path / "arm.npz"), "--loop", "--wait", "240")
    player = start_process(sys.executable, "-m", "icub_learning.cli", *replay)
    assert main(["latency", "--seconds", "0.5", "--json", str(tmp_path / "found.json")]) == 0
    assert player.stop(signal.SIGTERM) == 0 and node.stop(signal.SIGTERM) == 0
    figures = json.loads((tmp_path / "found.json").read_text())
    assert min(figures["joint_states"], figures["predictions"]) > 0 and figures["predicted_twice"] == 0
    assert 0 < figures["latency_to_publication_s"]["p50"] < figures["latency_to_arrival_s"]["max"]
    assert figures["echo"]["predictions"] > 0 and "latency, to publication" in capfd.readouterr().out
