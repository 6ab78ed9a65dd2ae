"""The command that writes what was learned into a URDF."""

import numpy as np
import pytest
from helpers.robots import RIGHT_ARM

from icub_learning.cli.main import main
from icub_learning.dynamics import ParametricEstimator, WrenchRegressor
from icub_learning.dynamics.changes.consistency import bodies_of, is_consistent
from icub_learning.models import save_state


def test_the_whole_robot_is_written(regressor, tmp_path, capsys):
    estimator, rng = ParametricEstimator(regressor), np.random.default_rng(0)
    for _ in range(50):
        motion = rng.uniform(-1, 1, 7), rng.normal(size=7), 3 * rng.normal(size=7)
        estimator.update(*motion, regressor(*motion) @ (1.2 * regressor.nominal_parameters))
    model, path = save_state(tmp_path / "arm.npz", estimator.state()), tmp_path / "learned.urdf"
    assert main(["export-urdf", str(model), str(path), "--urdf", "icub"]) == 0
    assert "learned from 50 samples" in capsys.readouterr().out
    again = WrenchRegressor.from_urdf(path, RIGHT_ARM, "r_arm_ft_sensor")
    assert all(is_consistent(again.nominal_parameters[body]) for body in bodies_of(again.parameter_names))
    masses = [index for index, name in enumerate(again.parameter_names) if name.endswith(".m")]
    expected = 1.2 * regressor.nominal_parameters[masses].sum()
    assert again.nominal_parameters[masses].sum() == pytest.approx(expected, rel=0.15) and "<mesh" in path.read_text()
