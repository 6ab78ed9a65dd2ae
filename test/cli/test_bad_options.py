"""Invalid options and absent robots: the error is one line that names them, and the exit code is 2."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.limits import set_limits
from helpers.recordings import JOINTS, rigid_recording

from icub_learning.cli.common.image_sources import write_image
from icub_learning.cli.main import main
from icub_learning.experiments.data import images
from icub_learning.recording import write

load_mnist_once = cache(images.load_mnist)
ARM, EFFORT = "--urdf ur10 --output joint_torque --joints a", "{arm} --output effort.elbow_joint"
UR10 = f"{{arm}} --urdf ur10 --output joint_torque --joints {','.join(JOINTS)} --n-random-features 100"
TEXT = Path(__file__).with_name("bad_options.txt").read_text()
for name, given in (("{ARM}", ARM), ("{EFFORT}", EFFORT), ("{UR10}", UR10)):
    TEXT = TEXT.replace(name, given)
CASES, ALONE = (part.splitlines()[1:] for part in re.split("(?m)^(?=#)", TEXT)[1:])


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """Write a valid recording of an arm into a folder with a picture and an .mcap file, as in a rosbag2 folder."""
    write(rigid_recording(600), path := tmp_path_factory.mktemp("recordings") / "arm.npz")
    path.with_name("bag_0.mcap").touch()
    (bag := path.with_name("bag")).mkdir()
    (bag / "metadata.yaml").touch()
    text = "inverse_dynamics: {ros_parameters: {urdf: ur10}}\nright_arm_dynamics:\ncnn_features:\nobject_recogniton:\n"
    path.with_name("arm.npz.yaml").write_text(text)
    write_image(path.with_name("mug.png"), np.zeros((24, 32, 3), np.uint8))
    return path


@pytest.mark.parametrize("case", CASES + ALONE)
def test_bad_options_and_absent_robots_are_one_line(case, arm, tmp_path, monkeypatch, capfd, request):
    monkeypatch.setattr(images, "load_mnist", load_mnist_once)
    monkeypatch.chdir(tmp_path)
    if alone := case in ALONE:
        request.getfixturevalue("ros_domain")
        set_limits(0.2, monkeypatch.setattr)
    line, _, expected = case.partition("| ")
    assert main(line.format(arm=arm).split()) == 2
    shown = capfd.readouterr()
    assert shown.err.count("\n") == 1 and all(part in shown.err for part in expected.split(" * "))
    assert alone or (shown.out == "" and not list(tmp_path.iterdir()))
