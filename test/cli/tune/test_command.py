"""`icub-learning tune` as a user runs it: surface, parameter file, verdict, and a kill in its midst."""

import contextlib
import json
import re
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import yaml
from helpers.recordings import JOINTS, rigid_recording
from helpers.robots import UR10_JOINTS
from PIL import Image

from icub_learning.cli.main import main
from icub_learning.cli.tune.progress import Progress, complete, fingerprint
from icub_learning.kernel_methods.tuning import Fold
from icub_learning.recording import write
from icub_learning.simulation.arm.recordings import simulate

UR10 = ["--urdf", "ur10", "--output", "joint_torque", "--joints", *JOINTS]
SMALL = ["--sizes", "20", "40", "--length-scales", "2.5", "5", "--n-warm-up", "50", "--folds", "2",
         "--regularizations", "0.001", "0.1", "10", "--velocity-delay", "0.001"]  # fmt: skip
KILLED_AFTER = 5  # of 12 results
KILLED = f"""
import os, signal, sys
from icub_learning.cli.main import main
from icub_learning.cli.tune.progress import Progress

def add(self, key, result, add=Progress.add):
    add(self, key, result)
    if len(self.results) == {KILLED_AFTER}:
        os.kill(os.getpid(), signal.SIGKILL)

Progress.add = add
main(sys.argv[1:])
"""


def run(capsys, *arguments):
    code = main(["tune", *map(str, arguments)])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A rigid body with a spring at its first joint that no rigid body has."""
    recording = rigid_recording(600, noise=0.3)
    extra = np.zeros_like(recording.effort)
    extra[:, 0] = 40 * np.sin(4 * recording.position[:, 1])
    path = tmp_path_factory.mktemp("recorded") / "arm.npz"
    write(replace(recording, effort=recording.effort + extra), path)
    return path


@pytest.fixture(scope="module")
def tuned(recorded, tmp_path_factory):
    """Folder with all that one run wrote, and the exit code of that run; what it printed is in tuned.out."""
    folder = tmp_path_factory.mktemp("tuned")
    options = ["--parameters", folder / "tuned.yaml", "--json", folder / "tuned.json", "--plot", folder / "tuned.png"]
    with (folder / "tuned.out").open("w") as out, contextlib.redirect_stdout(out):
        code = main(["tune", str(recorded), *UR10, *SMALL, *map(str, options)])
    return folder, code


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


def test_tunes_writes_and_says_what_it_is_worth(tuned):
    folder, code = tuned
    assert code == 0
    report, out = json.loads((folder / "tuned.json").read_text()), (folder / "tuned.out").read_text()
    errors = np.array(report["errors"])
    assert errors.shape == (2, 3, 2)
    chosen = report["chosen"]
    assert chosen["error"] <= 1.01 * errors.min()
    assert out.count("*") >= 2  # in the table, and where it is explained
    ours, shipped = (report["check"]["learning on"][name]["overall nMSE"] for name in ("tuned", "defaults"))
    assert report["beats_defaults"] == (ours < shipped)
    assert ("do NOT beat" in out) == (ours >= shipped)
    assert f"{ours:.3g}"[:4] in out
    values = check_parameters(folder / "tuned.yaml", "inverse_dynamics")
    assert values["joints"] == list(JOINTS) and values["urdf"] == "ur10" and values["velocity_delay"] == 0.001
    assert values["n_random_features"] == chosen["size"] and values["length_scale"] == chosen["length_scale"]
    assert (folder / "tuned.png").stat().st_size > 20_000
    assert sorted(file.name for file in folder.iterdir()) == ["tuned.json", "tuned.out", "tuned.png", "tuned.yaml"]


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


def test_killed_it_goes_on(recorded, tuned, tmp_path, capsys):
    """kill -9 in its midst: the same command reports what it knows, and ends where an unbroken run ends."""
    parameters, progress, figures = (tmp_path / name for name in ("x.yaml", "x.progress.json", "x.json"))
    command = [str(recorded), *UR10, *SMALL, "--parameters", str(parameters)]
    progress.write_text('{"identity": "another", "results": {"0 2.5 0.1": [[0.0], [0.0]]}}')
    done = subprocess.run([sys.executable, "-c", KILLED, "tune", *command], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert "of other data or settings: started anew" in done.stdout
    known = json.loads(progress.read_text())["results"]
    assert len(known) == KILLED_AFTER and not parameters.exists()
    code, out, err = run(capsys, *command, "--json", figures)
    assert (code, err) == (0, "")
    assert f"resumed: {KILLED_AFTER} of " in out
    assert parameters.exists() and not progress.exists()
    unbroken, _ = tuned
    assert json.loads(figures.read_text())["errors"] == json.loads((unbroken / "tuned.json").read_text())["errors"]
    assert parameters.read_text() == (unbroken / "tuned.yaml").read_text()


@pytest.mark.parametrize("text", ["{", "[]", '{"identity": "another", "results": {"0 2.5 0.1": [[0.0], [0.0]]}}'])
def test_progress_of_other_data_is_not_used(text, tmp_path, capsys):
    path = tmp_path / "x.progress.json"
    path.write_text(text)
    assert complete(Progress(path, "me"), ["0 2.5 0.1", "b"], float) == {"0 2.5 0.1": 0.0, "b": 1.0}
    shown = capsys.readouterr().out
    assert "started anew" in shown and "resumed" not in shown


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
    write(simulate([("circle_xy", 4.0)]), path)
    joints = ["r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow"]
    code, out, err = run(
        capsys, path, "--urdf", "icub", "--output", "wrench", "--joints", *joints, *SMALL,
        "--parameters", tmp_path / "arm.yaml", "--most-samples", "300", "--estimator", "nonparametric",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "every 2. sample" in out and "torque.z" in out
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
    parts = {"": 6} if layout == "flat" else {"train": 4, "test": 2}
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
    assert report["views_tuned_on"] == 12 and report["views_last"] == 6
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
