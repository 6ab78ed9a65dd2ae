"""`icub-learning model` on files of all kinds, good and bad."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.arm_models import taught

from icub_learning.cli.main import main
from icub_learning.detection import saved_model as detection
from icub_learning.dynamics.saved_model import estimator_of
from icub_learning.models import load_state, read_model, write_model
from icub_learning.models.ledger import accounted
from icub_learning.recognition import assembly as objects


def arm_file(path, n_samples, seed=0, **header):
    estimator, description = taught(n_samples, seed)
    return str(write_model(path, estimator.state(), replace(description.header(n_samples), **header)))


def object_file(path, label, recognizer=None):
    recognizer, rng = recognizer or objects.make_recognizer(objects.Settings()), np.random.default_rng(0)
    recognizer.start_lesson(label, 3)
    for k in range(3):
        recognizer.recognize(k, "net/features", rng.normal(size=8))
        recognizer.learn()
    recognizer.end_lesson()
    header = objects.describe(objects.Settings(), recognizer, "net/features")
    return str(write_model(path, objects.state_of(recognizer), header))


def test_info_of_all_kinds(tmp_path, capsys):
    files = [arm_file(tmp_path / "arm", 5), object_file(tmp_path / "objects", "mug"), arm_file(tmp_path / "new", 0)]
    detector = detection.OnlineDetector()
    header = detection.describe(detection.Settings(n_proposals=70), detector)
    files.append(str(write_model(tmp_path / "boxes", detection.state_of(detector), header)))
    assert main(["model", "info", *files, "--json", str(tmp_path / "info.json")]) == 0
    shown = capsys.readouterr().out
    assert all(text in shown for text in ("iCub", "r_elbow", "r_arm_ft_sensor", "net/features", "setting forgetting"))
    arm, recognized, _, boxes = json.loads((tmp_path / "info.json").read_text()).values()
    assert (boxes["kind"], boxes["frames"], boxes["setting n_proposals"]) == ("object_detection", 0, 70)
    assert main(["model", "merge", files[3], files[3], "--to", str(tmp_path / "none")]) == 2
    assert "detectors are not pooled" in capsys.readouterr().err
    assert (arm["samples"], recognized["objects"], recognized["examples"]) == (5, 1, 3) and 0.0 < arm["size [MB]"] < 1.0


def test_models_of_an_own_class_are_read_where_it_is_named(own_package, tmp_path, capsys):
    learner, classifier = "my_package.learner.SineLearner", "my_package.classifier.NearestMean"
    arms = []
    for seed, name in enumerate(("monday", "friday")):
        estimator, description = taught(20, seed, learner)
        arms.append(str(write_model(tmp_path / name, accounted(estimator), description.header(20))))
    own = objects.make_recognizer(objects.Settings(classifier=classifier))
    files = {learner: arms[0], classifier: object_file(tmp_path / "objects", "mug", own)}
    for kind, file in files.items():
        assert main(["model", "check", file]) == 1 and "no file makes" in capsys.readouterr().out
        assert main(["model", "check", file, "--own", kind]) == 0 and main(["model", "info", file, "--own", kind]) == 0
        capsys.readouterr()
    assert main(["model", "diff", *arms, "--own", learner]) == 0 and "learner.weights" in capsys.readouterr().out
    assert main(["fleet", "gather", str(tmp_path / "fleet"), arms[0], "--own", learner]) == 0
    assert main(["fleet", "gather", str(tmp_path / "fleet"), arms[1], "--own", learner]) == 2
    assert "a class with the method merge" in capsys.readouterr().err
    assert main(["fleet", "gather", str(tmp_path / "fleet"), arms[1]]) == 2


def test_diff(tmp_path, capsys):
    one, other = arm_file(tmp_path / "one", 5), arm_file(tmp_path / "other", 9, seed=1)
    assert main(["model", "diff", one, other, "--json", str(tmp_path / "diff.json")]) == 0
    found = json.loads((tmp_path / "diff.json").read_text())
    assert found["facts"]["samples"] == ["5", "9"]
    assert found["arrays"]["rls.weights"] > 0 and "rls.regularization" not in found["arrays"]
    assert "all arrays are equal" not in capsys.readouterr().out and main(["model", "diff", one, one]) == 0
    assert "all arrays are equal" in capsys.readouterr().out


def test_merge_pools_what_both_have_seen(tmp_path):
    one, other = arm_file(tmp_path / "one", 30), arm_file(tmp_path / "other", 40, seed=1)
    assert main(["model", "merge", one, other, "--to", str(tmp_path / "both")]) == 0
    state, header = read_model(tmp_path / "both.npz")
    assert header.statistics == {"samples": 70}
    expected = taught(30)[0]
    expected.merge(taught(40, 1)[0])
    np.testing.assert_allclose(estimator_of(state).parameters, expected.parameters, rtol=1e-8, atol=1e-12)
    mug, duck = object_file(tmp_path / "mug", "mug"), object_file(tmp_path / "duck", "duck")
    assert main(["model", "merge", mug, duck, "--to", str(tmp_path / "objects")]) == 0
    assert read_model(tmp_path / "objects.npz")[1].statistics == {"objects": 2, "examples": 6}


@pytest.mark.parametrize("change", [{"robot": "other"}, {"sensor": "other"}, {"urdf_digest": "other"}])
def test_models_of_others_are_not_merged(tmp_path, change, capsys):
    one, other = arm_file(tmp_path / "one", 5), arm_file(tmp_path / "other", 5, **change)
    assert main(["model", "merge", one, other, "--to", str(tmp_path / "both")]) == 2
    assert "other" in capsys.readouterr().err and not (tmp_path / "both.npz").exists()
    allowed = main(["model", "merge", one, other, "--to", str(tmp_path / "both"), "--any-urdf"])
    assert allowed == (0 if "urdf_digest" in change else 2)


def test_check_finds_what_is_not_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good = arm_file(tmp_path / "good", 5)
    assert main(["model", "check", good]) == 0
    (cut := Path("whole_arm.npz")).write_bytes((tmp_path / "good.npz").read_bytes()[:-500])
    state = load_state(good)
    infinite = write_model(tmp_path / "infinite", {**state, "rls.weights": np.full_like(state["rls.weights"], np.inf)})
    plain, other = str(write_model(tmp_path / "plain", state)), write_model(tmp_path / "other", {"a": np.ones(2)})
    bad = map(str, (cut, infinite, other, tmp_path / "none.npz"))
    assert main(["model", "check", good, plain, *bad, "--json", str(tmp_path / "check.json")]) == 1
    found = json.loads((tmp_path / "check.json").read_text())
    assert [path for path, text in found["files"].items() if text.split(",")[0] == "whole"] == [good, plain]
    assert "earlier release" in found["files"][plain] and found["not whole"] == 4
