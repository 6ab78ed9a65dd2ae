"""The inverse dynamics node without rigid bodies: it predicts, learns, saves and loads."""

import numpy as np
from helpers.driven_arm import SETTINGS, Arm, drive, settle
from helpers.node_probe import PERIOD, START, NodeProbe
from helpers.robots import RIGHT_ARM

from icub_learning.dynamics import NonparametricEstimator, WrenchRegressor
from icub_learning.models import load_state
from icub_learning.robots import find_urdf
from icub_learning_msgs.srv import ModelFile

ROUND = 200  # samples in which the arm goes once through its motion
LARGEST = 0.1  # RMSE over the deviation of each output, which is what predicting its mean would reach


def test_the_node_learns_a_repeated_motion_without_rigid_bodies(node_here, tmp_path):
    node = node_here("inverse_dynamics", estimator="nonparametric", **SETTINGS)
    regressor = WrenchRegressor.from_urdf(find_urdf("icub"), SETTINGS["joints"], "r_arm_ft_sensor")
    arm = Arm(regressor, 2 * np.pi / (ROUND * PERIOD * 1e-9))
    file = tmp_path / "model.npz"
    with NodeProbe(RIGHT_ARM) as probe:
        probe.connect()
        drive(probe, arm, range(5 * ROUND))
        settle(probe, 5 * ROUND)
        assert probe.stamps() == [START + k * PERIOD for k in range(5 * ROUND)]
        predicted = np.array([message.total for message in probe.predictions[-ROUND:]])
        measured = np.array([arm.sample(k)[2] for k in range(4 * ROUND, 5 * ROUND)])
        errors = np.sqrt(np.mean((predicted - measured) ** 2, axis=0))
        assert np.all(errors < LARGEST * measured.std(axis=0))
        saved = probe.call(ModelFile, "save_model", path=str(file))
        assert saved.success, saved.message
        loaded = probe.call(ModelFile, "load_model", path=str(file))
        assert loaded.success, loaded.message
    assert node.stop() == 0
    assert "Traceback" not in node.output
    learned = NonparametricEstimator.from_state(load_state(file))
    assert 4 * ROUND < learned.n_samples <= 5 * ROUND
