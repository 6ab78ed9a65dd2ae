"""`icub-learning evaluate` as a user runs it: tables, JSON and picture, on data with known answers and real data."""

import importlib
import json
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from helpers.recordings import JOINTS, rigid_recording
from helpers.robots import RIGHT_ARM, UR10_JOINTS
from PIL import Image

from icub_learning.cli.evaluate import picture
from icub_learning.cli.main import main
from icub_learning.recording import read, write
from icub_learning.simulation.arm.recordings import simulate

UR10 = ["--urdf", "ur10", "--output", "joint_torque", "--joints", *JOINTS]
SMALL = ["--n-random-features", "100"]


@pytest.fixture
def evaluate(tmp_path, capsys):
    """Run the command; return what it printed, and its figures."""

    def run(*arguments, code=0):
        figures = tmp_path / "figures.json"
        assert main(["evaluate", *map(str, arguments), "--json", str(figures)]) == code
        shown = capsys.readouterr()
        assert bool(shown.err) == bool(code)
        return shown.out + shown.err, json.loads(figures.read_text())

    return run


@pytest.fixture
def rigid(tmp_path):
    write(rigid_recording(400), path := tmp_path / "rigid.npz")
    return path


def test_known_answer(rigid, evaluate):
    """With exact accelerations P explains a rigid body, ten samples ahead too; the JSON holds what the table shows."""
    options = ["--derivatives", "recorded", "--parametric-regularization", "1e-8", "--no-friction", "--horizon", "0.08"]
    out, report = evaluate(rigid, *UR10, *SMALL, *options)
    results = report["results"]["recorded"]
    assert max(results["P"]["steady"]["nmse"].values()) < 1e-9
    assert [results["P"][part]["samples"] for part in ("transient", "steady")] == [280, 120]
    effort = read(rigid).effort
    expected = np.sqrt(np.mean((effort[-120:] - effort[-130:-10]) ** 2, axis=0))
    np.testing.assert_allclose(list(results["hold"]["steady"]["rmse"].values()), expected, rtol=1e-9)
    assert f"{expected[0]:#.3g}" in out and "no message refused" in out
    assert report["samples"] == {
        "joint_states": 400, "wrenches": 0, "predicted": 400, "compared": 400, "without_measurement": 0, "refused": {},
        "last_refusal": "",
    }  # fmt: skip


def test_causal_and_smoothed_stand_side_by_side(rigid, evaluate, tmp_path, monkeypatch):
    drawn = Mock(side_effect=lambda path, *_: Image.new("L", (4, 4)).save(path, "PNG"))
    monkeypatch.setattr(picture, "draw", drawn)
    files = ("--plot", tmp_path / "whole.svg", "--report", tmp_path / "whole.html")
    out, report = evaluate(rigid, *UR10, *SMALL, *files, "--steady-from", "0.75")
    _, shown, *how = drawn.call_args.args
    assert how == ["joint_torque", 0.75, "rigid.npz, causal derivatives"] and "smoothed (non-causal)" in out
    rmse = np.sqrt(np.mean(shown["SP"].errors[300:] ** 2, axis=0))
    np.testing.assert_allclose(rmse, list(report["results"]["causal"]["SP"]["steady"]["rmse"].values()))
    heads = [line.split() for line in out.splitlines() if line.startswith("output")]
    both = ["output", "P", "NP", "SP", "P", "NP", "SP"]
    assert heads == [[*both, "hold"]] * 2 + [[*both, "off-line", "hold"]] * 2
    write(rigid_recording(18), tmp_path / "few.npz")
    files = ("--plot", tmp_path / "few.png", "--report", tmp_path / "few.html")
    few, report = evaluate(tmp_path / "few.npz", *UR10, *SMALL, *files, "--derivatives", "causal")
    assert report["judgement"] is None and "SP: nMSE" in out and "SP: nMSE" not in few and "off-line: none: " in few
    assert [call.args[0].name for call in drawn.call_args_list] == ["whole.svg", "picture.png", "few.png"]
    assert 'alt="few"' in (tmp_path / "few.html").read_text() and (tmp_path / "whole.html").is_file()


def test_bad_messages_and_samples_too_far_apart_are_explained(tmp_path, evaluate):
    recording = replace(rigid_recording(200), acceleration=None)
    times, position = recording.joint_stamps * 50, recording.position.copy()
    stamps = times.copy()
    position[[5, 6, 50], 0], stamps[80] = np.nan, stamps[79]
    write(replace(recording, position=position, joint_stamps=stamps, joint_arrivals=times), tmp_path / "bad.mcap")
    out, _ = evaluate(tmp_path / "bad.mcap", *UR10, *SMALL, "--derivatives", "causal", "--max-gap", "0.1")
    assert [line.split() for line in out.splitlines() if line.split()[:1] == ["not_finite"]] == [["not_finite", "3"]]
    for part in ("4 messages or efforts refused", "stamp_repeated", "Nothing was learned", "--max-gap"):
        assert part in out


@pytest.mark.usefixtures("recorded")
def test_picture_of_a_wrench(tmp_path, evaluate):
    write(simulate([("circle_xy", 2.5)], 100.0), tmp_path / "arm")  # a rosbag2 folder
    options = ["--urdf", "icub", "--output", "wrench", "--joints", ",".join(RIGHT_ARM), "--derivatives", "causal"]
    out, _ = evaluate(tmp_path / "arm", *options, *SMALL, "--plot", tmp_path / "out" / "arm.png")
    assert "force (3 axes)" in out
    pixels = np.asarray(Image.open(tmp_path / "out" / "arm.png").convert("RGB")).reshape(-1, 3)
    for colour in ((0xD1, 0x49, 0x5B), (0x3D, 0x7E, 0xA6), (0x2A, 0x9D, 0x5C)):
        assert (pixels == colour).all(axis=1).sum() > 100


def test_real_ur10(shared_data, evaluate):
    """A real robot, sample by sample from zero: SP explains 99.9 % of each joint and is no worse than its parts."""
    recording = shared_data / "ur10" / "ur10_exciting_trajectory.db3"
    options = ["--urdf", "ur10", "--output", "joint_torque", "--derivatives", "causal", "--joints", *UR10_JOINTS]
    results = evaluate(recording, *options)[1]["results"]["causal"]
    nmse = {short: np.array([*results[short]["steady"]["nmse"].values()]) for short in ("P", "NP", "SP")}
    assert max(nmse["SP"]) <= 0.001
    ratios = nmse["SP"] / np.minimum(nmse["P"], nmse["NP"])
    assert max(ratios) <= 1.15 and np.exp(np.mean(np.log(ratios))) <= 1.05


def test_a_class_of_ones_own_is_evaluated_beside_the_others(own_package, rigid, tmp_path, evaluate):
    """Its errors equal those of the same class taught sample by sample; those of the other estimators do not change."""
    options = [*UR10, *SMALL, "--derivatives", "recorded"]
    without = evaluate(rigid, *options)[1]
    out, including = evaluate(rigid, *options, "--estimator", "my_package.learner.SineLearner")
    assert "SineLearner recorded" in out
    before, after = (one["results"]["recorded"] for one in (without, including))
    assert list(after) == ["P", "NP", "SP", "SineLearner", "hold", "off-line"]
    assert all(after[short]["steady"] == before[short]["steady"] for short in ("P", "NP", "SP"))
    recording, kind = read(rigid), importlib.import_module("my_package.learner").SineLearner
    learner, errors = kind(SimpleNamespace(n_joints=3, n_outputs=3)), []
    columns = (recording.position, recording.velocity, recording.acceleration, recording.effort)
    for q, v, a, y in zip(*columns, strict=True):
        errors.append(learner.predict(q, v, a) - y)
        learner.update(q, v, a, y)
    expected = np.sqrt(np.mean(np.square(errors)[-120:], axis=0))
    np.testing.assert_allclose(list(after["SineLearner"]["steady"]["rmse"].values()), expected, rtol=1e-6)


def test_another_recording_with_learning_off(rigid, tmp_path, evaluate):
    """Joints that recording and URDF share are used; those of the other one have a prefix and come in another order."""
    other = rigid_recording(400, seed=1)
    turned = {name: getattr(other, name)[:, ::-1] for name in ("position", "velocity", "acceleration", "effort")}
    other = replace(other, joint_names=tuple(f"left/{name}" for name in JOINTS[::-1]), **turned)
    write(other, tmp_path / "other.npz")
    options = ["--urdf", "ur10", "--derivatives", "causal", "--test", tmp_path / "other.npz"]
    out, report = evaluate(rigid, *options, *SMALL)
    assert "prefix 'left/' in the recording" in out
    assert f"joints, all that the recording and the URDF share: {', '.join(JOINTS)}" in out
    assert report["test"].endswith("other.npz") and "Nothing was learned" not in out
    assert report["results"]["causal"]["SP"]["learned"] == 0
    assert report["results"]["causal"]["off-line"]["test"]["samples"] >= 399  # all samples up to the last grid point
    assert max(report["results"]["causal"]["P"]["test"]["nmse"].values()) < 0.1


def test_a_table_over_recordings(rigid, tmp_path, evaluate):
    own = tmp_path / "other.yaml"
    own.write_text("{recording: rigid.npz, urdf: ur10, output: joint_torque, joints: [elbow_joint]}")
    files = [rigid, own, tmp_path / "absent.csv"]
    out, report = evaluate("--table", *files, *UR10, *SMALL, code=2)
    assert "1 of 3 recordings were not evaluated" in out and "absent.csv" in out
    whole, elbow = report["recordings"]
    assert list(whole["outputs"]) == list(JOINTS) and list(elbow["outputs"]) == ["elbow_joint"]
    assert whole["SP"] == pytest.approx(np.prod([output["SP"] for output in whole["outputs"].values()]) ** (1 / 3))
    assert f"{whole['SP/off-line']:#.3g}"[:5] in out
    assert report["geometric_mean"]["SP"] == pytest.approx(np.sqrt(whole["SP"] * elbow["SP"]))
