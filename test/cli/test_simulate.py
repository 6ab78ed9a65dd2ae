"""`icub-learning simulate`: its file holds the simulation of the given tasks."""

import json
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from helpers import records

from icub_learning.cli.main import main
from icub_learning.recording import read
from icub_learning.simulation import SimulationSettings, simulate
from icub_learning.simulation.objects import image_folders


def test_file_holds_the_simulation(tmp_path, capsys):
    path, figures = tmp_path / "arm.mcap", tmp_path / "figures.json"
    tasks = "--task circle_xz hold --duration 0.3 0.2 --rate 100 --seed 5 --noise 0"
    assert main(f"simulate --output {path} --json {figures} {tasks}".split()) == 0
    assert f"\n50 joint states and wrenches of 0.5 s in {path}\n" in f"\n{capsys.readouterr().out}"
    expected = simulate([("circle_xz", 0.3), ("hold", 0.2)], 100.0, SimulationSettings(seed=5, noise=0.0))
    found = read(path)
    assert found.joint_names == expected.joint_names
    for name in ("joint_stamps", "position", "velocity", "effort", "wrench"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    assert json.loads(figures.read_text()) == {"output": str(path), "samples": 50, "duration": pytest.approx(0.49)}
    path = tmp_path / "again.npz"
    assert main(f"simulate --output {path} --task hold circle_xy --duration 0.1 --rate 50".split()) == 0
    assert len(read(path).joint_stamps) == 10  # one duration holds for each task


MORE = ("--images new --objects mug lego --views 3 --unseen 2", "--scenes new --size 64 48 --seed 4 --objects-folder a")


@pytest.mark.parametrize("line", ["--images new", "--scenes new", *MORE])
def test_images_are_written_as_the_options_say(line, tmp_path, monkeypatch, capsys):
    kind, other = ("images", "scenes") if "--images" in line else ("scenes", "images")
    monkeypatch.setattr(image_folders, f"write_{other}", None)
    monkeypatch.setattr(image_folders, f"write_{kind}", written := Mock(return_value={"train": 4, "test": 2}))
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", *line.split(), "--json", "found.json"]) == 0
    found = [written.call_args.args[:-1], capsys.readouterr().out, json.loads(Path("found.json").read_text())]
    records.check(__file__, f"simulate {line}", found)
