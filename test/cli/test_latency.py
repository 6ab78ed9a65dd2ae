"""`icub-learning latency`: its figures on made-up messages, and a node measured from outside."""

import json
import signal
import sys

import numpy as np
import pytest
from helpers import records
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
    for earlier, known in ((3599 * 10**9, True), (3601 * 10**9, False), (10**18, False)):
        aged = latency.figures_of(*(times - [earlier, 0, 0] for times in (joint_states, predictions, echoes)))
        assert (aged["age_at_publication_s"] is not None) == known  # simulated timestamps do not tell the age
    records.check(__file__, "latency", [figures, *(latency.text(one).splitlines() for one in (figures, aged))])
    none = timing_of(np.array([[10, 11, 12], [20, 21, 22]]), np.array([[5, 6, 7]]))  # prediction for an earlier state
    assert none["predictions"] == none["joint_states_without_prediction"] == 0


@pytest.mark.check
def test_a_running_node_is_measured_from_outside(tmp_path, ros_domain, start_node, start_process, monkeypatch, capfd):
    set_limits(assign=monkeypatch.setattr)
    write(simulate([("circle_xy", 1.0)], 200.0), tmp_path / "arm.npz")
    joints = ["r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow"]
    node = start_node("inverse_dynamics", urdf="icub", output="wrench", joints=joints, n_random_features=20)
    replay = ("replay", str(tmp_path / "arm.npz"), "--loop", "--wait", "240")
    player, figures = start_process(sys.executable, "-m", "icub_learning.cli", *replay), {"predictions": 0}
    while not figures["predictions"]:  # a busy machine answers what came later than within this time
        assert main(["latency", "--seconds", "0.5", "--json", str(tmp_path / "found.json")]) == 0
        figures = json.loads((tmp_path / "found.json").read_text())
    assert player.stop(signal.SIGTERM) == 0 and node.stop(signal.SIGTERM) == 0
    assert figures["joint_states"] > 0 and figures["predicted_twice"] == 0
    assert 0 < figures["latency_to_publication_s"]["p50"] < figures["latency_to_arrival_s"]["max"]
    assert figures["echo"]["predictions"] > 0 and "latency, to publication" in capfd.readouterr().out
