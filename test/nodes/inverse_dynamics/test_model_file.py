"""Models of the inverse dynamics node that outlive its process, and files that services may and may not touch."""

import os

import numpy as np
from helpers.driven_arm import SETTINGS, Arm, drive, settle
from helpers.node_probe import NodeProbe
from helpers.robots import RIGHT_ARM
from lifecycle_msgs.msg import Transition
from std_srvs.srv import Trigger

from icub_learning.models import ModelHeader, load_state, read_model, write_model
from icub_learning.testing import same_arrays
from icub_learning_msgs.srv import ModelFile

KEPT = SETTINGS | {"model_file": "arm", "autosave_period": 0.2, "keep_models": 3}


def samples_in(file):
    """Return how many samples the model of a file has learned, -1 without a file."""
    return read_model(file)[1].statistics["samples"] if file.exists() else -1


def taught(started, regressor, file):
    """Start a node, teach it until it has saved, teach it more and end it; return how many samples it has learned."""
    with started(NodeProbe(RIGHT_ARM), **KEPT) as probe:
        drive(probe, Arm(regressor), range(200))
        probe.until(file.exists, "the first file")
        drive(probe, Arm(regressor), range(200, 300))
        settle(probe, 300)
        return int(probe.diagnostics["samples learned"])


def test_a_node_goes_on_where_the_last_one_ended(started, regressor, tmp_path):
    learned = taught(started, regressor, tmp_path / "arm.npz")
    state, header = read_model(tmp_path / "arm.npz")
    origin = (header.kind, header.robot, header.joints, header.sensor, header.settings["seed"])
    assert origin == ("inverse_dynamics", "iCub", RIGHT_ARM, "r_arm_ft_sensor", 0)
    assert header.statistics["samples"] >= learned and len(list(tmp_path.glob("arm*.npz"))) <= 3
    with started(NodeProbe(RIGHT_ARM), **KEPT) as probe:
        probe.under_test.wait_for(r"loaded .*arm\.npz")
        probe.obtain(ModelFile, "save_model", path="again")
        assert same_arrays(load_state(tmp_path / "again.npz"), state)
        probe.spin(2 * KEPT["autosave_period"])  # nothing is learned, so nothing is saved
        assert read_model(tmp_path / "arm.npz")[1] == header and probe.call(Trigger, "reset").success
        probe.until(lambda: samples_in(tmp_path / "arm.npz") == 0, "an empty model")
    assert samples_in(tmp_path / "arm.npz") == 0


def test_deactivation_saves_and_a_node_of_other_settings_goes_on_with_the_model(started, regressor, tmp_path):
    with started(NodeProbe(RIGHT_ARM), **(KEPT | {"autosave_period": 3600.0, "n_random_features": 60})) as probe:
        drive(probe, Arm(regressor), range(300))
        settle(probe, 300)
        assert not (tmp_path / "arm.npz").exists() and probe.change(Transition.TRANSITION_DEACTIVATE)
        assert samples_in(tmp_path / "arm.npz") == int(probe.diagnostics["samples learned"]) > 0
    with started(NodeProbe(RIGHT_ARM), **KEPT) as probe:
        told = "the model keeps n_random_features 60 (here 100); ~/reset starts anew"
        assert "arm.npz" in probe.under_test.output and told in probe.under_test.output
        drive(probe, Arm(regressor), range(50))
        settle(probe, 50)
        assert told in probe.report()["model settings"]
        assert told in probe.obtain(ModelFile, "load_model", path="arm").message
        assert probe.call(Trigger, "reset").success and probe.report()["model settings"] == ""
        assert np.isfinite(probe.predictions[-1].total).all()


def test_the_newest_good_model_is_taken_and_foreign_ones_are_refused_with_both_names(started, regressor, tmp_path):
    taught(started, regressor, tmp_path / "arm.npz")
    state, header = read_model(tmp_path / "arm.npz")
    assert list(tmp_path.glob("arm.*.npz"))
    write_model(tmp_path / "arm.npz", state, ModelHeader(**{**vars(header), "robot": "iCubOther"}))
    with started(NodeProbe(RIGHT_ARM), **KEPT) as probe:
        probe.under_test.wait_for("iCubOther.*here: iCub")
        probe.under_test.wait_for(r"loaded .*arm\.\d+T")
        assert "iCubOther" in probe.report()["model problem"]
        write_model(tmp_path / "other.npz", state, ModelHeader(**{**vars(header), "sensor": "l_arm_ft_sensor"}))
        for service in ("load_model", "merge_model"):
            probe.declined("l_arm_ft_sensor", ModelFile, service, path="other")
        drive(probe, Arm(regressor), range(500, 700))
        settle(probe, 200)
    assert [read_model(path)[1].robot for path in tmp_path.glob("arm.*.refused.npz")] == ["iCubOther"]


def test_services_stay_in_their_folder_and_answer(started, tmp_path):
    """All other invalid names and files are tested in test/models."""
    outside = tmp_path / "outside.npz"
    with started(NodeProbe(RIGHT_ARM), **SETTINGS, models_folder=str(tmp_path / "models")) as probe:
        assert probe.call(ModelFile, "save_model", path="sub/arm").success
        os.rename(tmp_path / "models" / "sub" / "arm.npz", outside)
        os.symlink(outside, tmp_path / "models" / "link.npz")
        before = outside.read_bytes()
        os.mkfifo(tmp_path / "models" / "pipe.npz")
        for service in ("load_model", "merge_model", "save_model"):
            no_models = () if service == "save_model" else ("absent", "pipe")
            for path in ("../outside", str(outside), "link", "", *no_models):
                answer = probe.call(ModelFile, service, path=path)
                assert not answer.success, (service, path)
                assert answer.message and "in time" not in answer.message  # no request waited in vain for a file
        assert outside.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_told_and_predictions_go_on(started, regressor, tmp_path):
    (tmp_path / "models").write_text("a file where a folder should be")
    with started(NodeProbe(RIGHT_ARM), **(KEPT | {"models_folder": str(tmp_path / "models" / "below")})) as probe:
        drive(probe, Arm(regressor), range(200))
        probe.report(lambda told: "not saved" in told["model problem"] and "not saved" in probe.message, "of it")
        assert not probe.call(ModelFile, "save_model", path="arm").success
        probe.exit_code = 1
