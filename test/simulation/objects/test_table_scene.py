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
    np.testing.assert_equal((again.image, again.boxes), (shown[3].image, shown[3].boxes))
    assert not np.array_equal(again.image, scene.render(UNSEEN + 3).image)
    with pytest.raises(ParameterError, match="number"):
        scene.render(-1)


def test_scenes_as_files(scene, tmp_path):
    folder, done = tmp_path / "tables", []
    assert write_scenes(folder, NAMES, 2, unseen=2, seed=1, progress=done.append) == {"train": 2, "test": 2}
    assert done == [1, 2, 3, 4]
    for part, numbers in (("train", (0, 1)), ("test", (UNSEEN, UNSEEN + 1))):
        content, images, annotations = json.loads((folder / f"{part}.json").read_text()), [], []
        assert content["categories"] == [{"id": place, "name": name} for place, name in enumerate(NAMES, 1)]
        for number, shown in enumerate(map(scene.render, numbers)):
            images.append({"id": number, "file_name": f"{part}/{number:06d}.png", "width": 320, "height": 240})
            np.testing.assert_array_equal(np.asarray(Image.open(folder / images[-1]["file_name"])), shown.image)
            for label, box, visible in zip(shown.labels, shown.boxes, shown.visible, strict=True):
                annotations.append({
                    "id": len(annotations) + 1, "image_id": number, "iscrowd": 0, "category_id": NAMES.index(label) + 1,
                    "visible": pytest.approx(visible, abs=6e-5), "bbox": [*box[:2], *(box[2:] - box[:2])],
                    "area": np.prod(box[2:] - box[:2]),
                })  # fmt: skip
        assert (content["images"], content["annotations"]) == (images, annotations)
        assert all(type(entry["id"]) is int for entry in content["annotations"])
    with pytest.raises(ObjectError, match="exists already"):
        write_scenes(folder, NAMES)
