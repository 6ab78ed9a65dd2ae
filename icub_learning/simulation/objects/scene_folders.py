"""Tables with objects as files: images, and their true boxes in COCO's format."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from icub_learning import arrays
from icub_learning.simulation.objects.image_folders import new_folder
from icub_learning.simulation.objects.table_scene import SIZE, TableScene
from icub_learning.simulation.objects.views import UNSEEN


def write_scenes(
    target: Path,
    objects: Sequence[str] | None = None,
    scenes: int = 100,
    unseen: int = 50,
    seed: int = 0,
    size: tuple[int, int] = SIZE,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, int]:
    """Write `target`/train/000000.png ..., test/000000.png ... and train.json, test.json, all or none; return how many.

    The JSON files have the format of COCO: `images`, `categories`, and `annotations` with `bbox` [x, y, width, height]
    in pixels; `visible` is the share of an object's pixels that no other hides. Scenes are all different, so those of
    train and test share no view of an object. Arguments and errors are those of `write_images`, with scenes for views.
    """
    wanted = {"train": arrays.integer("scenes", scenes, 1), "test": arrays.integer("unseen", unseen, 0)}
    done = 0
    with new_folder(target, "scenes") as unfinished, TableScene(objects, seed, size, folder) as scene:
        for part, first in (("train", 0), ("test", UNSEEN)):
            (unfinished / part).mkdir(parents=True)
            images: list[dict[str, Any]] = []
            annotations: list[dict[str, Any]] = []
            for number in range(wanted[part]):
                shown = scene.render(first + number)
                name = f"{part}/{number:06d}.png"
                Image.fromarray(shown.image).save(unfinished / name)
                images.append({"id": number, "file_name": name, "width": size[0], "height": size[1]})
                found = zip(shown.labels, shown.boxes.tolist(), shown.visible.tolist(), strict=True)
                for label, (x1, y1, x2, y2), visible in found:
                    annotations.append({
                        "id": len(annotations) + 1, "image_id": number, "iscrowd": 0,
                        "category_id": scene.names.index(label) + 1, "visible": round(visible, 4),
                        "bbox": [x1, y1, x2 - x1, y2 - y1], "area": (x2 - x1) * (y2 - y1),
                    })  # fmt: skip
                done += 1
                if progress:
                    progress(done)
            categories = [{"id": index + 1, "name": name} for index, name in enumerate(scene.names)]
            content = {"images": images, "annotations": annotations, "categories": categories}
            (unfinished / f"{part}.json").write_text(json.dumps(content, indent=1) + "\n")
    return wanted
