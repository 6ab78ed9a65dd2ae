"""Table scenes: their boxes lie on the pixels of the objects, and a number gives the same scene again."""

import json

import numpy as np
import pytest
from PIL import Image

from icub_learning.errors import ObjectError, ParameterError
from icub_learning.simulation.objects.image_folders import write_scenes
from icub_learning.simulation.objects.table_scene import TableScene
from icub_learning.simulation.objects.views import UNSEEN

NAMES = ("duck", "lego", "red_ball", "ring")


@pytest.fixture(scope="module")
def scene(renderer):
    with TableScene(NAMES, seed=1) as made:
        yield made


def test_a_box_holds_what_changes_when_the_object_is_alone(renderer):
    """Without shadows, an object shows only by its own pixels; those of the ball are red."""
    with TableScene(("red_ball",), seed=1) as ball:
        for shown in map(ball.render, range(6)):
            assert (shown.labels, shown.visible.tolist()) == (["red_ball"], [1.0])
            red = shown.image[:, :, 0].astype(int) - shown.image[:, :, 1:].max(axis=2)
            x1, y1, x2, y2 = shown.boxes[0].astype(int)
            assert (red[y1:y2, x1:x2] > 25).mean() > 0.5


def test_scenes_are_drawn_from_seed_and_number_and_objects_hide_each_other(scene):
    shown = [scene.render(number) for number in range(12)]
    shares = np.concatenate([one.visible for one in shown])
    assert shares.min() < 0.95 and shares.max() == 1.0
    again = scene.render(3)
    assert again.labels == shown[3].labels != []
    np.testing.assert_array_equal(again.image, shown[3].image)
    np.testing.assert_array_equal(again.boxes, shown[3].boxes)
    assert not np.array_equal(again.image, scene.render(UNSEEN + 3).image)
    with pytest.raises(ParameterError, match="number"):
        scene.render(-1)


def test_scenes_as_files(scene, tmp_path):
    assert write_scenes(tmp_path / "tables", NAMES, scenes=2, unseen=1, seed=1) == {"train": 2, "test": 1}
    content = json.loads((tmp_path / "tables" / "train.json").read_text())
    assert [entry["file_name"] for entry in content["images"]] == ["train/000000.png", "train/000001.png"]
    shown = scene.render(1)
    own = [entry for entry in content["annotations"] if entry["image_id"] == 1]
    names = {entry["id"]: entry["name"] for entry in content["categories"]}
    assert [names[entry["category_id"]] for entry in own] == shown.labels
    corners = [[x, y, x + w, y + h] for x, y, w, h in (entry["bbox"] for entry in own)]
    np.testing.assert_array_equal(corners, shown.boxes)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "tables" / "train/000001.png")), shown.image)
    with pytest.raises(ObjectError, match="exists already"):
        write_scenes(tmp_path / "tables", NAMES)
