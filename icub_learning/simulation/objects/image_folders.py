"""Image files for training and testing: objects in one folder per label, and tables with boxes as in COCO."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from icub_learning import arrays
from icub_learning.errors import ObjectError
from icub_learning.files import replacing_path
from icub_learning.simulation.objects import scene, table_scene
from icub_learning.simulation.objects.scene import ObjectScene
from icub_learning.simulation.objects.table_scene import TableScene
from icub_learning.simulation.objects.views import UNSEEN

PARTS = (("train", 0), ("test", UNSEEN))  # folders, and the number of the first view or scene in each


@contextmanager
def _new_folder(target: Path, kind: str) -> Iterator[Path]:
    """Yield a folder to fill, which becomes `target` if nothing fails."""
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise ObjectError(f"{target} exists already", name=kind, value=str(target), bound="a new folder")
        with replacing_path(target) as unfinished:
            yield unfinished
    except OSError as error:
        text = f"{target} cannot be written: {error.strerror or error}"
        raise ObjectError(text, name=kind, value=str(target), bound="a folder that can be written") from error


def write_images(
    target: Path, objects: Sequence[str] | None = None, views: int = 20, unseen: int = 20, seed: int = 0,
    size: tuple[int, int] = scene.SIZE, folder: str | os.PathLike[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, int]:  # fmt: skip
    """Write `target`/train/LABEL/0000.png ... and test/LABEL/0000.png ..., all or none; return how many of each.

    Args:
        target: a new or empty folder.
        objects: names of the objects; None: all.
        views, unseen: images of each object, with view numbers 0, 1, ... and UNSEEN, ... of ObjectScene.render.
        seed, size, folder: see ObjectScene.
        progress: called after each image with the number of images so far.

    Raises:
        ParameterError: a number is outside its range.
        ObjectError: `target` exists already or cannot be written; an object is unknown (see ObjectScene).
        RenderingError: this machine has no off-screen OpenGL.
    """
    wanted = {"train": arrays.integer("views", views, 1), "test": arrays.integer("unseen", unseen, 0)}
    written = dict.fromkeys(wanted, 0)
    with _new_folder(target, "images") as unfinished, ObjectScene(objects, seed, size, folder) as shown:
        for name in shown.names:
            shown.show(name)
            for part, first in PARTS:
                label = unfinished / part / name
                label.mkdir(parents=True)
                for number in range(wanted[part]):
                    Image.fromarray(shown.render(first + number)).save(label / f"{number:04d}.png")
                    written[part] += 1
                    if progress:
                        progress(sum(written.values()))
    return written


def write_scenes(
    target: Path, objects: Sequence[str] | None = None, scenes: int = 100, unseen: int = 50, seed: int = 0,
    size: tuple[int, int] = table_scene.SIZE, folder: str | os.PathLike[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, int]:  # fmt: skip
    """Write `target`/train/000000.png ..., test/000000.png ... and train.json, test.json, all or none; return how many.

    The JSON files have the format of COCO: `images`, `categories`, and `annotations` with `bbox` [x, y, width, height]
    in pixels; `visible` is the share of an object's pixels that no other hides. Scenes are all different, so those of
    train and test share no view of an object. Arguments and errors are those of `write_images`, with scenes for views.
    """
    wanted = {"train": arrays.integer("scenes", scenes, 1), "test": arrays.integer("unseen", unseen, 0)}
    done = 0
    with _new_folder(target, "scenes") as unfinished, TableScene(objects, seed, size, folder) as table:
        for part, first in PARTS:
            (unfinished / part).mkdir(parents=True)
            images: list[dict[str, Any]] = []
            annotations: list[dict[str, Any]] = []
            for number in range(wanted[part]):
                shown = table.render(first + number)
                name = f"{part}/{number:06d}.png"
                Image.fromarray(shown.image).save(unfinished / name)
                images.append({"id": number, "file_name": name, "width": size[0], "height": size[1]})
                found = zip(shown.labels, shown.boxes.tolist(), shown.visible.tolist(), strict=True)
                for label, (x1, y1, x2, y2), visible in found:
                    annotations.append({
                        "id": len(annotations) + 1, "image_id": number, "iscrowd": 0,
                        "category_id": table.names.index(label) + 1, "visible": round(visible, 4),
                        "bbox": [x1, y1, x2 - x1, y2 - y1], "area": (x2 - x1) * (y2 - y1),
                    })  # fmt: skip
                done += 1
                if progress:
                    progress(done)
            categories = [{"id": index + 1, "name": name} for index, name in enumerate(table.names)]
            content = {"images": images, "annotations": annotations, "categories": categories}
            (unfinished / f"{part}.json").write_text(json.dumps(content, indent=1) + "\n")
    return wanted
