"""The progress of a program that runs the nodes: one line of status, and the pictures that it writes."""

from pathlib import Path

import numpy as np
import viser
from PIL import Image

from icub_learning.view.page import style

WIDEST = 1100  # [px] of a picture on the page
PERIOD = 20  # updates between two looks at the folder


class DoingView:
    """Follows a folder, whose file STATUS holds a line: its pictures (.png) are shown as soon as they come, or change.

    Pictures that were there before the page was started are those of an earlier run, and left out.
    """

    def __init__(self, server: viser.ViserServer, folder: Path) -> None:
        self._server, self._folder = server, folder
        self.line = server.gui.add_html(style.note("starting"))
        self.pictures: dict[str, viser.GuiImageHandle] = {}
        self._seen = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.png")}
        self._updates = 0

    def update(self, doing: str) -> None:
        """Show what is being done, and now and then new pictures."""
        content = style.note(doing or "starting", style.INK, True)
        if content != self.line.content:
            self.line.content = content
        self._updates += 1
        for path in sorted(self._folder.glob("*.png")) if self._updates % PERIOD == 0 else ():
            changed = path.stat().st_mtime_ns
            if self._seen.get(path.name) != changed:
                self._seen[path.name] = changed
                self._show(path)

    def _show(self, path: Path) -> None:
        with Image.open(path) as picture:
            picture = picture.convert("RGB")
            picture.thumbnail((WIDEST, 10 * WIDEST))
            pixels = np.asarray(picture)
        if path.name in self.pictures:
            self.pictures[path.name].image = pixels
        else:
            add = self._server.gui.add_image
            self.pictures[path.name] = add(pixels, label=path.stem, format="jpeg", jpeg_quality=85)
