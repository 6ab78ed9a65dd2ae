"""`icub-learning tune` as a user runs it: errors, parameter file and verdict."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from helpers import records
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
    (out, err), report = capsys.readouterr(), json.loads(figures.read_text())
    records.check(__file__, layout, [out.replace(str(tmp_path), "").splitlines(), report | {"pictures": ""}])
    assert not err and report["check"]["tuned"] <= 0.1
    text = parameters.read_text()  # names, types and ranges are those of the node
    declared = {setting.name: setting for setting in PARAMETERS["object_recognition"]}
    values = yaml.safe_load(text)["object_recognition"]["ros__parameters"]
    for key, value in values.items():
        assert type(value) is type(ros_default(declared[key])), key
        declared[key].validate(value)
    assert len(re.findall(r"^    # .*\n    \w+:", text, re.MULTILINE)) == len(values)  # each parameter has a comment
    assert picture.stat().st_size > 20_000


@pytest.mark.parametrize(("levels", "errors", "losses", "late", "last", "verdict"), [
    ("1 2 4", (0.5, 0.2, 0.2), (3, 1, 2), (0.0, 0.0), (0.5, 0.25), "0.500 against 0.500"),  # the defaults are kept
    ("1 2 4", (0.2, 0.5, 0.5), (3, 1, 2), (0.5, 0.0), (0.25, 0.5), "0.500 against 0.250"),
    ("4 1 2", (0.5, 0.2, 0.2), (3, 2, 1), (0.5, 0.0), (0.5, 0.25), "0.250 against 0.500"),
    ("1", (0.5,), (1,), (0.5, 0.0), (0.5, 0.0), "0 against 0.500"),
])  # fmt: skip
def test_fewer_late_errors_decide(levels, errors, losses, late, last, verdict, colours, tmp_path, capsys, monkeypatch):
    right = {0.0: [1, 1, 1, 1], 0.25: [1, 0, 1, 1], 0.5: [1, 0, 0, 1]}  # whether each view is named right, by the error
    seen = iter([row for one, of in zip(late, last, strict=True) for row in ([0, 0, *right[one][2:]], right[of])])
    monkeypatch.setattr(objects, "predict_then_learn", lambda *_: np.array(next(seen)))
    monkeypatch.setattr(objects, "linear_errors", lambda *_: [errors, losses])
    monkeypatch.chdir(draw_objects(tmp_path / "seen.today", {"": 6}).parent)
    options = ["--folds", "2", "--json", "found.json", "--regularizations", *levels.split()]
    with records.drawn() as shown:
        assert main(["tune", "seen.today", *options, *["--plot", "seen.svg"] * levels.startswith("4")]) == 0
    out, found = capsys.readouterr().out.splitlines(), json.loads(Path("found.json").read_text())
    records.check(__file__, verdict, [out, found, Path("out/tuned-seen.yaml").read_text().splitlines(), shown])
    assert f"wrong: {verdict} of the shipped defaults" in found["verdict"]


def test_pictures_and_files_that_are_not_what_is_needed_are_refused(colours, tmp_path, capsys):
    draw_objects(tmp_path, {"train": 2, "test": 2})
    of_folders = {"red": "train and test hold different objects", "green": "train holds 1 folders of images"}
    for folder, said in of_folders.items():
        shutil.rmtree(tmp_path / "train" / folder)
        assert main(["tune", str(tmp_path)]) == 2 and said in capsys.readouterr().err
    draw_objects(tmp_path / "more", {"": 6})
    assert main(["tune", str(tmp_path / "more"), "--folds", "2", "--parameters", "/proc/none/x.yaml"]) == 2
    assert "--parameters" in (err := capsys.readouterr().err) and err.count("\n") == 1
