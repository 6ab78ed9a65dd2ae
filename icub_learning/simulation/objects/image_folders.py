"""Images of objects as files, in one folder per label, for training and testing."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from icub_learning import arrays
from icub_learning.errors import ObjectError
from icub_learning.files import replacing_path
from icub_learning.simulation.objects.scene import SIZE, ObjectScene
from icub_learning.simulation.objects.views import UNSEEN


@contextmanager
def new_folder(target: Path, kind: str) -> Iterator[Path]:
    """Yield a folder to fill, which becomes `target` when all went well. Raises ObjectError: `target` exists already
    and is not an empty folder, or it cannot be written.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ObjectError(f"{target} exists already", name=kind, value=str(target), bound="a new folder")
    try:
        with replacing_path(target) as unfinished:
            yield unfinished
    except OSError as error:
        text = f"{target} cannot be written: {error.strerror or error}"
        raise ObjectError(text, name=kind, value=str(target), bound="a folder that can be written") from error


def write_images(
    target: Path,
    objects: Sequence[str] | None = None,
    views: int = 20,
    unseen: int = 20,
    seed: int = 0,
    size: tuple[int, int] = SIZE,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, int]:
    """Write `target`/train/LABEL/0000.png ... and `target`/test/LABEL/0000.png ..., all of them or none; return how
    many.

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
    with new_folder(target, "images") as unfinished, ObjectScene(objects, seed, size, folder) as scene:
        for name in scene.names:
            scene.show(name)
            for part, first in (("train", 0), ("test", UNSEEN)):
                label = unfinished / part / name
                label.mkdir(parents=True)
                for number in range(wanted[part]):
                    Image.fromarray(scene.render(first + number)).save(label / f"{number:04d}.png")
                    written[part] += 1
                    if progress:
                        progress(sum(written.values()))
    return written
