"""`icub-learning simulate`: its file holds the simulation of the given tasks."""

import json

import numpy as np

from icub_learning.cli.main import main
from icub_learning.recording import read
from icub_learning.simulation import SimulationSettings, simulate


def test_file_holds_the_simulation(tmp_path):
    path, figures = tmp_path / "arm.mcap", tmp_path / "figures.json"
    tasks = "--task circle_xz hold --duration 0.3 0.2 --rate 100 --seed 5 --noise 0"
    assert main(f"simulate --output {path} --json {figures} {tasks}".split()) == 0
    expected = simulate([("circle_xz", 0.3), ("hold", 0.2)], 100.0, SimulationSettings(seed=5, noise=0.0))
    found = read(path)
    assert found.joint_names == expected.joint_names
    for name in ("joint_stamps", "position", "velocity", "effort", "wrench"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    assert json.loads(figures.read_text())["samples"] == 50
