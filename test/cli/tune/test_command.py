"""`icub-learning tune` as a user runs it: surface, parameter file, verdict, and a kill in its midst."""

import json
import os
import re
import signal
import sys
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import yaml
from helpers.recordings import JOINTS, rigid_recording
from helpers.robots import UR10_JOINTS
from PIL import Image

from icub_learning.cli.main import main
from icub_learning.cli.tune.progress import Progress, fingerprint
from icub_learning.kernel_methods.tuning import Fold
from icub_learning.recording import write
from icub_learning.simulation.arm.recordings import simulate

UR10 = ["--urdf", "ur10", "--output", "joint_torque", "--joints", *JOINTS]
SMALL = ["--sizes", "20", "40", "--length-scales", "2.5", "5", "--n-warm-up", "50", "--folds", "3"]
LAMBDAS = ["--regularizations", "0.001", "0.1", "10"]


def run(capsys, *arguments):
    code = main(["tune", *map(str, arguments)])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.fixture
def recorded(tmp_path):
    """A rigid body with a spring at its first joint that no rigid body has."""
    recording = rigid_recording(1200, noise=0.3)
    extra = np.zeros_like(recording.effort)
    extra[:, 0] = 40 * np.sin(4 * recording.position[:, 1])
    path = tmp_path / "arm.npz"
    write(replace(recording, effort=recording.effort + extra), path)
    return path


def check_parameters(path, node):
    """The file is one that the node takes: names, types and ranges."""
    pytest.importorskip("rclpy")
    from helpers.node_settings import PARAMETERS

    from icub_learning.nodes.common.parameters import ros_default

    settings = {setting.name: setting for setting in PARAMETERS[node]}
    values = yaml.safe_load(path.read_text())[node]["ros__parameters"]
    for key, value in values.items():
        assert type(value) is type(ros_default(settings[key])), key
        settings[key].validate(value)
    lines = path.read_text().splitlines()
    explained = [above.strip().startswith("# ") for above, line in pairwise(lines) if re.match(r"    \w+:", line)]
    assert len(explained) == len(values) and all(explained)
    return values


def test_tunes_writes_and_says_what_it_is_worth(recorded, tmp_path, capsys):
    parameters, figures, picture = tmp_path / "tuned.yaml", tmp_path / "tuned.json", tmp_path / "tuned.png"
    options = ["--parameters", parameters, "--json", figures, "--plot", picture, "--velocity-delay", "0.001"]
    code, out, err = run(capsys, recorded, *UR10, *SMALL, *LAMBDAS, *options)
    assert (code, err) == (0, "")
    report = json.loads(figures.read_text())
    errors = np.array(report["errors"])
    assert errors.shape == (2, 3, 2)
    chosen = report["chosen"]
    assert chosen["error"] <= 1.01 * errors.min()
    assert out.count("*") >= 2  # in the table, and where it is explained
    ours, shipped = (report["check"]["learning on"][name]["overall nMSE"] for name in ("tuned", "defaults"))
    assert report["beats_defaults"] == (ours < shipped)
    assert ("do NOT beat" in out) == (ours >= shipped)
    assert f"{ours:.3g}"[:4] in out
    values = check_parameters(parameters, "inverse_dynamics")
    assert values["joints"] == list(JOINTS) and values["urdf"] == "ur10" and values["velocity_delay"] == 0.001
    assert values["n_random_features"] == chosen["size"] and values["length_scale"] == chosen["length_scale"]
    assert picture.stat().st_size > 20_000
    assert not list(tmp_path.glob("*progress*"))


def test_beats_bad_settings_of_a_recording_that_needs_others(recorded, tmp_path, capsys):
    """The spring is steep: with the right length scale features explain it, far ahead in time too."""
    figures = tmp_path / "tuned.json"
    options = ["--length-scales", "3", "--sizes", "300", "--regularizations", "0.0001", "0.001", "--n-warm-up", "50"]
    code, _, _ = run(
        capsys, recorded, *UR10, *options, "--folds", "2", "--parameters", tmp_path / "x.yaml", "--json", figures
    )
    assert code == 0
    on = json.loads(figures.read_text())["check"]["learning on"]
    assert on["tuned"]["nmse"][JOINTS[0]] < 0.5
    assert on["tuned"]["overall nMSE"] == pytest.approx(
        np.exp(np.mean(np.log(list(on["tuned"]["nmse"].values())))), rel=1e-9
    )


def test_killed_it_goes_on(recorded, tmp_path, capsys, start_process):
    """kill -9 in its midst: the same command reports what it knows, and ends where an unbroken run ends."""
    grid = ["--sizes", "150", "300", "--length-scales", "1", "2", "4", "--regularizations", "0.001", "0.01", "0.1",
            "--n-warm-up", "50", "--folds", "4"]  # fmt: skip
    parameters, progress = tmp_path / "killed.yaml", tmp_path / "killed.progress.json"
    command = [str(recorded), *UR10, *grid, "--parameters", str(parameters)]
    process = start_process(sys.executable, "-m", "icub_learning.cli", "tune", *command)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (progress.exists() and len(found(progress)) >= 8):
        time.sleep(0.01)
    assert process.running, process.output
    os.kill(process.pid, signal.SIGKILL)
    process.wait(10)
    known = found(progress)
    assert 8 <= len(known) < 72 and not parameters.exists()
    figures = tmp_path / "killed.json"
    code, out, err = run(capsys, *command, "--json", figures)
    assert (code, err) == (0, "")
    assert f"resumed: {len(known)} of " in out
    assert parameters.exists() and not progress.exists()
    unbroken = tmp_path / "unbroken.json"
    run(capsys, *command[:-1], tmp_path / "unbroken.yaml", "--json", unbroken)
    assert json.loads(figures.read_text())["errors"] == json.loads(unbroken.read_text())["errors"]
    assert parameters.read_text() == (tmp_path / "unbroken.yaml").read_text()


def found(path):
    return json.loads(path.read_text())["results"]  # whole at any moment, or this fails


def test_progress_of_other_data_is_not_used(recorded, tmp_path, capsys):
    progress = tmp_path / "x.progress.json"
    for text in ("{", '{"identity": "another", "results": {"0 2.5 0.1": [[0.0], [0.0]]}}', "[]"):
        progress.write_text(text)
        code, out, _ = run(capsys, recorded, *UR10, *SMALL, *LAMBDAS, "--parameters", tmp_path / "x.yaml")
        assert code == 0 and "started anew" in out and "resumed" not in out


def test_progress_keeps_infinity_and_leaves_one_file(tmp_path):
    path = tmp_path / "p.json"
    one = Progress(path, "me")
    one.add("a", [[np.inf, 0.5], [1.0, 2.0]])
    assert Progress(path, "me").results == {"a": [[np.inf, 0.5], [1.0, 2.0]]}
    assert Progress(path, "you").results == {}
    one.add("b", [[1.0], [1.0]])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["p.json"]
    three, column = (Fold(*[array] * 4) for array in (np.ones(3), np.ones((3, 1))))
    assert len({fingerprint([three], 1), fingerprint([three], 2), fingerprint([column], 2)}) == 3


def test_a_simulated_arm_by_its_wrench(tmp_path, capsys):
    path = tmp_path / "arm.mcap"
    write(simulate([("circle_xy", 9.0)]), path)
    joints = ["r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow"]
    code, out, err = run(
        capsys, path, "--urdf", "icub", "--output", "wrench", "--joints", *joints, *SMALL, *LAMBDAS,
        "--parameters", tmp_path / "arm.yaml", "--most-samples", "400", "--estimator", "nonparametric",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "every 4. sample" in out and "torque.z" in out
    values = check_parameters(tmp_path / "arm.yaml", "inverse_dynamics")
    assert values["sensor"] == "r_arm_ft_sensor" and values["estimator"] == "nonparametric"


def draw(folder, colour, n, rng):
    folder.mkdir(parents=True)
    for number in range(n):
        pixels = np.clip(np.array(colour) + rng.normal(0, 60, (48, 48, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:04d}.png")


@pytest.mark.parametrize("layout", ["flat", "train and test"])
def test_pictures_of_objects(tmp_path, capsys, layout):
    rng = np.random.default_rng(0)
    parts = {"": 12} if layout == "flat" else {"train": 8, "test": 4}
    for part, n in parts.items():
        for label, colour in {"red": (200, 60, 60), "green": (60, 200, 60), "grey": (128, 128, 128)}.items():
            draw(tmp_path / "pictures" / part / label, colour, n, rng)
    figures = tmp_path / "o.json"
    code, out, err = run(
        capsys, tmp_path / "pictures", "--parameters", tmp_path / "o.yaml", "--json", figures,
        "--plot", tmp_path / "o.png", "--sizes", "3", "6", "--length-scales", "0.5", "1", "--folds", "2",
    )  # fmt: skip
    assert (code, err) == (0, "")
    report = json.loads(figures.read_text())
    assert report["labels"] == ["green", "grey", "red"]
    assert report["views_tuned_on"] == 24 and report["views_last"] == 12
    assert np.array(report["errors"]).shape == (2, 7, 2)
    assert report["check"]["tuned"] <= 0.1
    assert ("do NOT beat" in out) == (report["check"]["tuned"] >= report["check"]["defaults"])
    check_parameters(tmp_path / "o.yaml", "object_recognition")
    assert (tmp_path / "o.png").stat().st_size > 20_000


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--sizes", "7"], "--sizes is 7"),
        (["--sizes", "0"], "sizes"),
        (["--regularizations", "-1"], "regularizations"),
        (["--length-scales", "nan"], "length_scales"),
        (["--folds", "0"], "--folds"),
        (["--folds", "200"], "n_folds"),
        (["--tune-on", "1"], "--tune-on"),
        (["--tune-on", "0.01"], "samples are left"),
        (["--gap", "-1"], "--gap"),
        (["--horizon", "0"], "--horizon"),
        (["--most-samples", "2"], "--most-samples"),
        (["--plot", "x.docx"], "--plot"),
        (["--seed", "-1"], "--seed"),
        (["--forgetting", "0.9"], "forgetting"),
        (["--output", "wrench"], "no wrench"),
        (["--parameters", "/proc/none/x.yaml"], "--parameters"),
    ],
)
def test_bad_options_are_one_line(recorded, tmp_path, options, expected, capsys):
    code, _, err = run(capsys, recorded, *UR10, *SMALL, "--parameters", tmp_path / "x.yaml", *options)
    assert code == 2
    assert expected in err and err.count("\n") == 1


def test_bad_recordings_are_one_line(recorded, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    still = tmp_path / "still.npz"
    one = rigid_recording(1200)
    write(replace(one, effort=np.zeros_like(one.effort)), still)
    short = tmp_path / "short.npz"
    write(rigid_recording(60), short)
    for arguments, expected in (
        ([tmp_path / "nowhere.db3"], "does not exist"),
        ([tmp_path / "empty"], "0 folders"),
        ([recorded], "--urdf"),
        ([still, *UR10, *SMALL], "varies"),
        ([short, *UR10], "too few"),
    ):
        code, _, err = run(capsys, *arguments, "--parameters", tmp_path / "x.yaml")
        assert code == 2
        assert expected in err and err.count("\n") == 1, err


@pytest.mark.slow
def test_ur10_beats_the_shipped_defaults(shared_data, tmp_path, capsys):
    """On the real robot the tuned learner follows several times better, and extrapolates better too."""
    figures = tmp_path / "ur10.json"
    code, _, _ = run(
        capsys, shared_data / "ur10" / "ur10_exciting_trajectory.db3", "--urdf", "ur10", "--output", "joint_torque",
        "--joints", *UR10_JOINTS, "--parameters", tmp_path / "x.yaml", "--json", figures,
    )  # fmt: skip
    assert code == 0
    report = json.loads(figures.read_text())
    assert report["beats_defaults"]
    for kind in ("learning on", "learning stopped"):
        assert report["check"][kind]["tuned"]["overall nMSE"] < report["check"][kind]["defaults"]["overall nMSE"]
