"""`icub-learning tune` as a user runs it: errors, parameter file and verdict."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from helpers.node_settings import PARAMETERS
from PIL import Image

from icub_learning.cli.main import main
from icub_learning.cli.tune import objects
from icub_learning.nodes.common.parameters import ros_default


def draw_objects(folder, parts):
    rng = np.random.default_rng(0)
    for part, n in parts.items():
        for label, colour in {"red": (200, 60, 60), "green": (60, 200, 60), "grey": (128, 128, 128)}.items():
            (folder / part / label).mkdir(parents=True)
            for number in range(n):
                pixels = np.clip(np.array(colour) + rng.normal(0, 60, (48, 48, 3)), 0, 255).astype(np.uint8)
                Image.fromarray(pixels).save(folder / part / label / f"{number:04d}.png")
    return folder


@pytest.fixture
def colours(monkeypatch):
    """Replace the features of the network, which take seconds, by mean colours."""
    made = SimpleNamespace(transform=lambda image: image.mean(axis=(0, 1)) / 255)
    monkeypatch.setattr(objects, "CNNFeatures", lambda: made)


@pytest.mark.parametrize("layout", ["flat", "train and test"])
def test_pictures_of_objects(tmp_path, capsys, layout, request):
    parts = {"": 6} if layout == "flat" else {"train": 4, "test": 2}
    if layout != "flat":
        request.getfixturevalue("colours")
    figures, parameters, picture = (tmp_path / f"o.{suffix}" for suffix in ("json", "yaml", "png"))
    pictures = draw_objects(tmp_path / "pictures", parts)
    outputs = ("--json", figures, "--parameters", parameters, "--plot", picture)
    assert main(["tune", *map(str, (pictures, *outputs)), "--folds", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    report = json.loads(figures.read_text())
    assert report["labels"] == ["green", "grey", "red"] and report["views_tuned_on"] == 12 and report["views_last"] == 6
    assert np.array(report["errors"]).shape == np.array(report["regularizations"]).shape == (13,)
    assert report["check"]["tuned"] <= 0.1
    assert ("do NOT beat" in out) == (report["check"]["tuned"] >= report["check"]["defaults"])
    text = parameters.read_text()  # names, types and ranges are those of the node
    declared = {setting.name: setting for setting in PARAMETERS["object_recognition"]}
    values = yaml.safe_load(text)["object_recognition"]["ros__parameters"]
    for key, value in values.items():
        assert type(value) is type(ros_default(declared[key])), key
        declared[key].validate(value)
    assert len(re.findall(r"^    # .*\n    \w+:", text, re.MULTILINE)) == len(values)  # each parameter has a comment
    assert picture.stat().st_size > 20_000


def test_a_file_that_cannot_be_written_is_one_line(colours, tmp_path, capsys):
    pictures = str(draw_objects(tmp_path, {"": 6}))
    assert main(["tune", pictures, "--folds", "2", "--parameters", "/proc/none/x.yaml"]) == 2
    assert "--parameters" in (err := capsys.readouterr().err) and err.count("\n") == 1
