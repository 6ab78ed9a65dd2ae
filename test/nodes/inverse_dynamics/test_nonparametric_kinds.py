"""The inverse dynamics node with each kind of nonparametric learner: it predicts, learns, saves and loads."""

import numpy as np
import pytest
from helpers.driven_arm import SETTINGS, Arm, drive, settle
from helpers.node_probe import PERIOD, START, NodeProbe
from helpers.robots import RIGHT_ARM

from icub_learning.dynamics import WrenchRegressor
from icub_learning.models import load_state
from icub_learning.robots import find_urdf
from icub_learning_msgs.srv import ModelFile

pytestmark = pytest.mark.ros

ROUND = 200  # samples in which the arm goes once through its motion; the node's warm-up sees all of it
MOTIONS = 60  # kept by POLK
# Learning lags half a second behind. With a wide kernel and long steps, POLK would follow what it learned last, half a
# round away, instead of remembering motions.
POLK = {"length_scale": 2.0, "step_size": 0.1}
# Largest RMSE over the deviation of each output, which is what predicting its mean would reach.
LARGEST = {"nystrom": 0.1, "polk": 0.5}


@pytest.mark.parametrize("kind", ["nystrom", "polk"])
def test_the_node_learns_a_repeated_motion_without_rigid_bodies(start_node, tmp_path, kind):
    settings = SETTINGS | {"n_warm_up": ROUND, "nonparametric": kind, "max_dictionary": MOTIONS}
    settings |= POLK if kind == "polk" else {}
    node = start_node("inverse_dynamics", estimator="nonparametric", **settings)
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
        assert np.all(errors < LARGEST[kind] * measured.std(axis=0))
        saved = probe.call(ModelFile, "save_model", path=str(file))
        assert saved.success, saved.message
        loaded = probe.call(ModelFile, "load_model", path=str(file))
        assert loaded.success, loaded.message
    assert node.stop() == 0
    assert "Traceback" not in node.output
    state = load_state(file)
    assert str(state["learner.kind"]) == kind
    if kind == "polk":
        assert 0 < int(state["learner.dictionary.n"]) <= MOTIONS
