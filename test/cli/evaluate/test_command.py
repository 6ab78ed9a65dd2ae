"""`icub-learning evaluate` as a user runs it: tables, JSON and picture, on data with known answers and real data."""

import importlib
import json
import re
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from helpers import records
from helpers.recordings import JOINTS, rigid_recording
from helpers.robots import RIGHT_ARM, UR10_JOINTS
from PIL import Image

from icub_learning.cli.evaluate import picture
from icub_learning.cli.main import main
from icub_learning.evaluation import delayed, predict_then_learn
from icub_learning.recording import read, write
from icub_learning.robots import find_urdf
from icub_learning.simulation.arm.recordings import simulate

UR10 = ["--urdf", "ur10", "--output", "joint_torque", "--joints", *JOINTS]
SMALL = ["--n-random-features", "100"]


@pytest.fixture
def evaluate(tmp_path, capsys, monkeypatch, request):
    """Run the command with simulated clocks; return what it printed, and its figures, both as in their record."""
    readings, found = count(), []
    for module in (predict_then_learn, delayed):
        monkeypatch.setattr(module, "perf_counter_ns", lambda: round(100 * next(readings) ** 1.5))

    def run(*arguments, code=0):
        figures = tmp_path / "figures.json"
        assert main(["evaluate", *map(str, arguments), "--json", str(figures)]) == code
        shown = capsys.readouterr()
        assert bool(shown.err) == bool(code)
        report = json.loads(figures.read_text())
        out, kept = (re.sub(r"/\S*/|─+", "", text) for text in (shown.out, json.dumps({**report, "settings": ""})))
        found.append([out.splitlines(), json.loads(kept)])  # without folders, and rules as long as these
        return shown.out + shown.err, report

    yield run
    records.check(__file__, f"{request.node.name}, printed", found)


@pytest.fixture
def rigid(tmp_path):
    write(rigid_recording(400), path := tmp_path / "rigid.npz")
    return path


@pytest.mark.usefixtures("recorded")
def test_known_answer(rigid, tmp_path, evaluate):
    """With exact accelerations P explains a rigid body, ten samples ahead too; the JSON holds what the table shows."""
    options = ["--derivatives", "recorded", "--parametric-regularization", "1e-8", "--no-friction", "--horizon", "0.08"]
    results = evaluate(rigid, *UR10, *SMALL, *options, "--plot", tmp_path / "rigid.png")[1]["results"]["recorded"]
    assert max(results["P"]["steady"]["nmse"].values()) < 1e-9
    effort = read(rigid).effort
    expected = np.sqrt(np.mean((effort[-120:] - effort[-130:-10]) ** 2, axis=0))
    np.testing.assert_allclose(list(results["hold"]["steady"]["rmse"].values()), expected, rtol=1e-9)


def test_causal_and_smoothed_stand_side_by_side(rigid, evaluate, tmp_path, monkeypatch):
    drawn = Mock(side_effect=lambda path, *_: Image.new("L", (4, 4)).save(path, "PNG"))
    monkeypatch.setattr(picture, "draw", drawn)
    files = ("--plot", tmp_path / "whole.svg", "--report", tmp_path / "whole.html")
    out, report = evaluate(rigid, *UR10, *SMALL, *files, "--steady-from", "0.75")
    _, shown, *how = drawn.call_args.args
    assert how == ["joint_torque", 0.75, "rigid.npz, causal derivatives"] and "smoothed (non-causal)" in out
    rmse = np.sqrt(np.mean(shown["SP"].errors[300:] ** 2, axis=0))
    np.testing.assert_allclose(rmse, list(report["results"]["causal"]["SP"]["steady"]["rmse"].values()))
    write(rigid_recording(10), tmp_path / "few.npz")
    files = ("--plot", tmp_path / "few.png", "--report", tmp_path / "few.html")
    evaluate(tmp_path / "few.npz", *UR10, *SMALL, *files, "--derivatives", "causal", code=2)  # nothing was learned
    assert [call.args[0].name for call in drawn.call_args_list] == ["whole.svg", "picture.png", "few.png"]
    assert 'alt="few"' in (tmp_path / "few.html").read_text() and (tmp_path / "whole.html").is_file()


def test_bad_messages_and_samples_too_far_apart_are_explained(tmp_path, evaluate):
    recording = replace(rigid_recording(200), acceleration=None)
    times, position, stamps = recording.joint_stamps * 50, recording.position.copy(), recording.joint_stamps * 50
    position[[5, 6, 50], 0], stamps[80] = np.nan, stamps[79]
    write(replace(recording, position=position, joint_stamps=stamps, joint_arrivals=times), tmp_path / "bad.mcap")
    evaluate(tmp_path / "bad.mcap", *UR10, *SMALL, "--derivatives", "causal", "--max-gap", "0.1", code=2)
    effort = np.where(np.arange(200)[:, None] < 100, recording.effort, recording.effort[100])
    write(replace(recording, effort=effort, velocity=-recording.velocity), tmp_path / "frozen.npz")
    out, report = evaluate(tmp_path / "frozen.npz", *UR10, *SMALL, "--derivatives", "causal")
    count = report["samples"]["sensor_faults"]["sensor_frozen"]
    told = f"{count} samples not learned: sensor_frozen", "SP is not judged: no", "velocities are not those of the pos"
    assert all(one in out for one in told) and 0 < count < 100
    times = (recording := rigid_recording(600)).joint_stamps // 1000
    write(replace(recording, joint_stamps=times, joint_arrivals=times), tmp_path / "dense.npz")
    out, report = evaluate(tmp_path / "dense.npz", *UR10, *SMALL, "--joint-state-topic", "/states")
    assert report["results"]["causal"]["SP"]["learned"] and "be nanoseconds" in out and "/states is not used" in out


@pytest.mark.usefixtures("recorded")
def test_picture_of_a_wrench(tmp_path, evaluate):
    write(simulate([("circle_xy", 2.5)], 100.0), tmp_path / "arm")  # a rosbag2 folder
    options = ["--urdf", "icub", "--output", "wrench", "--joints", ",".join(RIGHT_ARM), "--derivatives", "causal"]
    evaluate(tmp_path / "arm", *options, *SMALL, "--plot", tmp_path / "out" / "arm.png")
    pixels = np.asarray(Image.open(tmp_path / "out" / "arm.png").convert("RGB")).reshape(-1, 3)
    colours = (0xD1, 0x49, 0x5B), (0x3D, 0x7E, 0xA6), (0x2A, 0x9D, 0x5C)
    assert all((pixels == colour).all(axis=1).sum() > 100 for colour in colours)


def test_real_ur10(shared_data, evaluate):
    """A real robot, sample by sample from zero: SP explains 99.9 % of each joint and is no worse than its parts."""
    options = ["--urdf", "ur10", "--output", "joint_torque", "--derivatives", "causal", "--joints", *UR10_JOINTS]
    results = evaluate(shared_data / "ur10" / "ur10_exciting_trajectory.db3", *options)[1]["results"]["causal"]
    nmse = {short: np.array([*results[short]["steady"]["nmse"].values()]) for short in ("P", "NP", "SP")}
    assert max(nmse["SP"]) <= 0.001
    ratios = nmse["SP"] / np.minimum(nmse["P"], nmse["NP"])
    assert max(ratios) <= 1.15 and np.exp(np.mean(np.log(ratios))) <= 1.05


def test_a_class_of_ones_own_is_evaluated_beside_the_others(own_package, rigid, tmp_path, evaluate):
    """Its errors equal those of the same class taught sample by sample; those of the other estimators do not change."""
    options, own = [*UR10, *SMALL, "--derivatives", "recorded"], ("--estimator", "my_package.learner.SineLearner")
    before, after = (evaluate(rigid, *options, *more)[1]["results"]["recorded"] for more in ((), own))
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


def test_another_recording_with_learning_off(rigid, tmp_path, evaluate, monkeypatch):
    """Joints that recording and URDF share are used; those of the other one have a prefix and come in another order."""
    other = rigid_recording(400, seed=1)
    turned = {name: getattr(other, name)[:, ::-1] for name in ("position", "velocity", "acceleration", "effort")}
    other = replace(other, joint_names=tuple(f"left/{name}" for name in JOINTS[::-1]), **turned)
    write(other, tmp_path / "other.npz")
    options = ["--urdf", "ur10", "--derivatives", "causal", "--test", tmp_path / "other.npz"]
    monkeypatch.setattr(picture, "draw", drawn := Mock())
    _, report = evaluate(rigid, *options, *SMALL, "--plot", tmp_path / "turned.png")
    assert drawn.call_args.args[2:] == ("joint_torque", 0.0, "other.npz, causal derivatives")
    assert max(report["results"]["causal"]["P"]["test"]["nmse"].values()) < 0.1


def test_a_table_over_recordings(rigid, tmp_path, evaluate):
    own = tmp_path / "other.yaml"
    own.write_text("{recording: rigid.npz, urdf: mine.urdf, output: joint_torque, joints: [elbow_joint]}")
    (tmp_path / "mine.urdf").symlink_to(find_urdf("ur10"))
    write(rigid_recording(18), tmp_path / "few.npz")
    write(rigid_recording(10), tmp_path / "fewer.npz")  # of which nothing is learned
    bad = {"a.yaml": "[1", "b.json": "{urdf: ur10}", "c.yml": "{recording: rigid.npz, kind: 1}", "d.yml": "[1]"}
    bad["e.csv"] = "time,position.elbow_joint,effort.elbow_joint\n"
    for name, text in bad.items():
        (tmp_path / name).write_text(text)
    files = [rigid, own, *(tmp_path / name for name in ("absent.csv", "few.npz", "fewer.npz", *bad))]
    out, report = evaluate("--table", *files, *UR10, *SMALL, "--report", tmp_path / "table.html", code=2)
    assert all(one in out for one in ("7 of 10 recordings", "absent.csv", "fewer.npz: nothing", "e.csv holds no joint"))
    whole, elbow, few = report["recordings"]
    assert whole["SP"] == pytest.approx(np.prod([output["SP"] for output in whole["outputs"].values()]) ** (1 / 3))
    assert report["geometric_mean"]["SP"] == pytest.approx(np.cbrt(whole["SP"] * elbow["SP"] * few["SP"]))
