"""The inverse dynamics node with each kind of nonparametric half: it predicts, learns, saves and loads."""

import numpy as np
import pytest
from helpers.driven_arm import SETTINGS, Arm, drive, settle
from helpers.node_probe import NodeProbe
from helpers.robots import RIGHT_ARM

from icub_learning.dynamics import WrenchRegressor
from icub_learning.models import load_state
from icub_learning.robots import find_urdf
from icub_learning_msgs.srv import ModelFile

pytestmark = pytest.mark.ros


@pytest.mark.parametrize("kind", ["nystrom", "polk"])
def test_the_node_learns_with_it(start_node, tmp_path, kind):
    node = start_node("inverse_dynamics", **SETTINGS, nonparametric=kind, max_dictionary=25)
    regressor = WrenchRegressor.from_urdf(find_urdf("icub"), SETTINGS["joints"], "r_arm_ft_sensor")
    file = tmp_path / "model.npz"
    with NodeProbe(RIGHT_ARM) as probe:
        probe.connect()
        drive(probe, Arm(regressor), range(200))
        settle(probe, 150)
        saved = probe.call(ModelFile, "save_model", path=str(file))
        assert saved.success, saved.message
        loaded = probe.call(ModelFile, "load_model", path=str(file))
        assert loaded.success, loaded.message
    assert node.stop() == 0
    state = load_state(file)
    assert str(state["learner.kind"]) == kind
    assert all(np.isfinite(value).all() for value in state.values() if value.dtype.kind == "f")
    if kind == "polk":
        assert 0 < int(state["learner.dictionary.n"]) <= 25
