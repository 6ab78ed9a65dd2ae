"""`icub-learning simulate`: writes what was asked for, in every format, or says in one line why not."""

import json
from pathlib import Path

import numpy as np
import pytest

from icub_learning.cli.main import main
from icub_learning.recording import read
from icub_learning.simulation import SimulationSettings, simulate


@pytest.mark.parametrize("suffix", ["npz", "mcap"])
def test_file_holds_the_simulation(tmp_path: Path, suffix: str) -> None:
    path, figures = tmp_path / f"arm.{suffix}", tmp_path / "figures.json"
    options = [
        "--task", "circle_xz", "hold", "--duration", "0.3", "0.2", "--rate", "100", "--seed", "5", "--noise", "0",
    ]  # fmt: skip
    assert main(["simulate", "--output", str(path), "--json", str(figures), *options]) == 0
    expected = simulate([("circle_xz", 0.3), ("hold", 0.2)], 100.0, SimulationSettings(seed=5, noise=0.0))
    found = read(path)
    assert found.joint_names == expected.joint_names
    np.testing.assert_array_equal(found.joint_stamps, expected.joint_stamps)
    np.testing.assert_allclose(found.position, expected.position, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.effort, expected.effort, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.wrench, expected.wrench, rtol=0, atol=1e-9)
    assert json.loads(figures.read_text())["samples"] == 50
