"""Models of the inverse dynamics node that outlive its process, and files that services may and may not touch."""

import os
import signal

import numpy as np
import pytest
from helpers.driven_arm import SETTINGS, Arm, drive, settle
from helpers.node_probe import NodeProbe
from helpers.robots import RIGHT_ARM
from lifecycle_msgs.msg import Transition
from std_srvs.srv import Trigger

from icub_learning.dynamics import WrenchRegressor
from icub_learning.models import ModelHeader, load_state, read_model, write_model
from icub_learning.robots import find_urdf
from icub_learning.testing import same_arrays
from icub_learning_msgs.srv import ModelFile

KEPT = SETTINGS | {"model_file": "arm", "autosave_period": 0.2, "keep_models": 3}


@pytest.fixture(scope="module")
def regressor():
    return WrenchRegressor.from_urdf(find_urdf("icub"), RIGHT_ARM, "r_arm_ft_sensor")


def samples_in(file):
    """How many samples the model of a file has learned, -1 without a file."""
    return read_model(file)[1].statistics["samples"] if file.exists() else -1


def taught(node_here, regressor, file, **changes):
    """Start a node, teach it until it has saved, teach it more and end it; return how many samples it has learned."""
    node, arm = node_here("inverse_dynamics", **(KEPT | changes)), Arm(regressor)
    with NodeProbe(RIGHT_ARM) as probe:
        probe.connect()
        drive(probe, arm, range(200))
        probe.until(file.exists, "the first file")
        drive(probe, arm, range(200, 300))
        settle(probe, 300)
        learned = int(probe.diagnostics["samples learned"])
    assert node.stop(signal.SIGTERM) == 0
    return learned


def test_a_node_goes_on_where_the_last_one_ended(node_here, regressor, tmp_path):
    learned = taught(node_here, regressor, tmp_path / "arm.npz")
    state, header = read_model(tmp_path / "arm.npz")
    assert header.kind == "inverse_dynamics"
    assert header.robot == "iCub"
    assert header.joints == RIGHT_ARM
    assert header.sensor == "r_arm_ft_sensor"
    assert header.settings["seed"] == 0
    assert header.statistics["samples"] >= learned
    assert len(list(tmp_path.glob("arm*.npz"))) <= 3

    node = node_here("inverse_dynamics", **KEPT)
    node.wait_for(r"loaded .*arm\.npz")
    with NodeProbe(RIGHT_ARM) as probe:
        probe.connect()
        again = probe.call(ModelFile, "save_model", path="again")
        assert again.success, again.message
        assert same_arrays(load_state(tmp_path / "again.npz"), state)
        probe.spin(2 * KEPT["autosave_period"])  # nothing is learned, so nothing is saved
        assert read_model(tmp_path / "arm.npz")[1] == header
        assert probe.call(Trigger, "reset").success
        probe.until(lambda: samples_in(tmp_path / "arm.npz") == 0, "an empty model")
    assert node.stop() == 0
    assert samples_in(tmp_path / "arm.npz") == 0


def test_a_killed_node_has_saved_within_the_period(start_node, regressor, tmp_path):
    node = start_node("inverse_dynamics", **KEPT)
    with NodeProbe(RIGHT_ARM) as probe:
        probe.connect()
        drive(probe, Arm(regressor), range(400))
        settle(probe, 400)
        learned = int(probe.diagnostics["samples learned"])
        assert learned > 100
        probe.until(lambda: samples_in(tmp_path / "arm.npz") == learned, "all that was learned in the file")
        os.kill(node.pid, signal.SIGKILL)
    assert node.wait() == -signal.SIGKILL
    assert samples_in(tmp_path / "arm.npz") == learned


def test_deactivation_saves(node_here, regressor, tmp_path):
    node_here("inverse_dynamics", **(KEPT | {"autosave_period": 3600.0}))
    with NodeProbe(RIGHT_ARM) as probe:
        probe.connect()
        drive(probe, Arm(regressor), range(300))
        settle(probe, 300)
        assert not (tmp_path / "arm.npz").exists()
        assert probe.change(Transition.TRANSITION_DEACTIVATE)
        assert samples_in(tmp_path / "arm.npz") == int(probe.diagnostics["samples learned"]) > 0


def test_the_newest_good_model_is_taken_and_foreign_ones_are_refused_with_both_names(node_here, regressor, tmp_path):
    taught(node_here, regressor, tmp_path / "arm.npz")
    state, header = read_model(tmp_path / "arm.npz")
    assert list(tmp_path.glob("arm.*.npz"))
    changed = ModelHeader(**{**vars(header), "robot": "iCubOther"})
    write_model(tmp_path / "arm.npz", state, changed)
    node = node_here("inverse_dynamics", **KEPT)
    node.wait_for("iCubOther.*here: iCub")
    node.wait_for(r"loaded .*arm\.\d+T")
    with NodeProbe(RIGHT_ARM) as probe:
        probe.connect()
        assert "iCubOther" in probe.report()["model problem"]
        for change in ({"sensor": "l_arm_ft_sensor"}, {"kind": "object_recognition"}, {"joints": RIGHT_ARM[::-1]}):
            write_model(tmp_path / "other.npz", state, ModelHeader(**{**vars(header), **change}))
            for service in ("load_model", "merge_model"):
                refused = probe.call(ModelFile, service, path="other")
                assert not refused.success
                theirs = next(iter(change.values()))
                assert (theirs if isinstance(theirs, str) else theirs[0]) in refused.message
        drive(probe, Arm(regressor), range(500, 700))
        settle(probe, 200)
    assert node.stop() == 0
    aside = list(tmp_path.glob("arm.*.refused.npz"))
    assert [read_model(path)[1].robot for path in aside] == ["iCubOther"]


def test_services_stay_in_their_folder_and_answer(node_here, regressor, tmp_path):
    node = node_here("inverse_dynamics", **SETTINGS, models_folder=str(tmp_path / "models"))
    outside = tmp_path / "outside.npz"
    os.mkfifo(tmp_path / "pipe.npz")
    with NodeProbe(RIGHT_ARM) as probe:
        probe.connect()
        assert probe.call(ModelFile, "save_model", path="sub/arm").success
        os.rename(tmp_path / "models" / "sub" / "arm.npz", outside)
        os.symlink(outside, tmp_path / "models" / "link.npz")
        os.symlink(tmp_path, tmp_path / "models" / "up")
        before = outside.read_bytes()
        os.mkfifo(tmp_path / "models" / "pipe.npz")
        (tmp_path / "models" / "large.npz").write_bytes(large())
        paths = ["../outside", str(outside), "link", "up/outside", "up/pipe", "pipe", "large", "", "..", "a" * 400, "/"]
        for path in paths:
            for service in ("load_model", "merge_model", "save_model"):
                if service == "save_model" and path in ("pipe", "large"):
                    continue
                answer = probe.call(ModelFile, service, path=path)
                assert not answer.success, (service, path)
                assert answer.message
                assert "in time" not in answer.message  # none waited for what never comes
        assert outside.read_bytes() == before
    assert node.stop() == 0
    assert "Traceback" not in node.output


def large():
    """The bytes of an archive whose array claims 745 GiB."""
    import io
    import zipfile

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        text = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }"
        head = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + text.encode().ljust(117) + b"\n"
        archive.writestr("estimator.npy", head + bytes(80))
    return buffer.getvalue()


def test_a_folder_that_cannot_be_written_is_told_and_predictions_go_on(node_here, regressor, tmp_path):
    (tmp_path / "models").write_text("a file where a folder should be")
    node_here("inverse_dynamics", **(KEPT | {"models_folder": str(tmp_path / "models" / "below")}))
    with NodeProbe(RIGHT_ARM) as probe:
        probe.connect()
        drive(probe, Arm(regressor), range(200))
        probe.report(lambda values: "not saved" in values["model problem"], "of the file")
        assert "not saved" in probe.message
        assert not probe.call(ModelFile, "save_model", path="arm").success


def test_a_model_with_another_length_of_features_is_refused(node_here, regressor, tmp_path):
    taught(node_here, regressor, tmp_path / "arm.npz", n_random_features=60)
    node = node_here("inverse_dynamics", **KEPT)
    node.wait_for("starting with nothing learned|loaded")
    with NodeProbe(RIGHT_ARM) as probe:
        probe.connect()
        drive(probe, Arm(regressor), range(50))
        settle(probe, 50)
        assert np.isfinite(probe.predictions[-1].total).all()
