"""Images for a person to look at: as files, or as coloured characters in a terminal."""

import shutil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from icub_learning.errors import ParameterError
from icub_learning.recognition.vision.opencv import cv2
from icub_learning.reporting.tables import replacing_for

MOST_COLUMNS = 64  # of an image in the terminal


def write_image(path: Path, image: NDArray[np.uint8]) -> None:
    """Write RGB (H, W, 3) as a picture; it appears complete or not at all. Raises ParameterError if that fails."""
    good, content = cv2.imencode(path.suffix, image[:, :, ::-1])
    if not good:
        raise ParameterError("--output", str(path), "a file that can be written (OpenCV cannot encode it)")
    with replacing_for("--output", path, "wb") as file:
        file.write(content.tobytes())


def for_terminal(image: NDArray[np.uint8], columns: int | None = None) -> str:
    """Return an RGB image (H, W, 3) as lines of half blocks in 24-bit colours, two pixels a character.

    They are `columns` wide; None: as the terminal, at most MOST_COLUMNS.
    """
    columns = columns or min(MOST_COLUMNS, shutil.get_terminal_size().columns - 1)
    height, width = image.shape[:2]
    rows = max(2, 2 * round(columns * height / width / 2))
    small = cv2.resize(image, (columns, rows), interpolation=cv2.INTER_AREA)
    lines = []
    for upper, lower in zip(small[::2], small[1::2], strict=True):
        cells = (
            f"\x1b[38;2;{a[0]};{a[1]};{a[2]};48;2;{b[0]};{b[1]};{b[2]}m▀"
            for a, b in zip(upper.tolist(), lower.tolist(), strict=True)
        )
        lines.append("".join(cells) + "\x1b[0m")
    return "\n".join(lines)
