"""Tables with several objects, seen by the eye of a robot, with the true box of each object."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from icub_learning import arrays
from icub_learning.arrays import Array
from icub_learning.simulation.objects.backgrounds import background
from icub_learning.simulation.objects.meshes import RADIUS
from icub_learning.simulation.objects.rendered import RenderedObjects
from icub_learning.simulation.objects.scene_model import table_model
from icub_learning.simulation.objects.views import gaze_axes, random_tint

SIZE = (320, 240)  # [px] width and height of an image
MIN_OBJECTS, MAX_OBJECTS = 3, 8
AREA = (0.30, 0.22)  # [m] half the depth and half the width of the part of the table on which objects stand
GAP = 1.05  # smallest distance of two objects, relative to the sum of the radii of their footprints
MIN_VISIBLE = 0.25  # smallest visible share of an object's pixels at which its box counts
MIN_PIXELS = 64  # smallest number of visible pixels of an object that counts
_SCENE = 3  # separates the random numbers of tables from those of views


@dataclass(frozen=True)
class TableImage:
    """An image of a table and what is on it."""

    image: NDArray[np.uint8]  # uint8 RGB (height, width, 3)
    labels: list[str]  # names of the objects that are visible, n
    boxes: Array  # (n, 4) x1 y1 x2 y2 [px] of their visible pixels; x2 and y2 are one beyond the last pixel
    visible: Array  # (n,) share of the pixels of each object that no other object hides


class TableScene(RenderedObjects):
    """Renders tables with 3 to 8 objects that hide each other in part, under changing light and backgrounds.

    Scene `number` is drawn from (seed, number) alone: which objects, where, how turned, and how lit. No two scenes
    share a view of an object; numbers from views.UNSEEN on are meant for tests. Arguments, errors and use are those of
    ObjectScene.
    """

    def __init__(
        self, objects: Sequence[str] | None = None, seed: int = 0, size: tuple[int, int] = SIZE,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(objects, seed, size, folder, table_model)
        self._bodies = [self._model.body(f"object {index}").id for index in range(len(self.names))]

    def render(self, number: int) -> TableImage:
        """Return the image of scene `number` (0, 1, 2, ...), and the boxes of the objects in it. Raises ParameterError:
        the number is negative."""
        rng = np.random.default_rng([self.seed, arrays.integer("number", number, 0), _SCENE])
        count = int(rng.integers(MIN_OBJECTS, MAX_OBJECTS + 1))
        present = rng.permutation(len(self.names))[:count].tolist()
        self._arrange(rng, present, self._place(rng, [self._radii[index] for index in present]))
        image = self._renderer.render(self._data, 0)
        together = self._owner_at_pixels()
        labels, boxes, shares = [], [], []
        for index in present:
            seen = together == index
            n_seen = int(seen.sum())
            if n_seen < MIN_PIXELS:
                continue
            self._show([index])
            share = n_seen / max(n_seen, int((self._owner_at_pixels() == index).sum()))
            if share >= MIN_VISIBLE:
                labels.append(self.names[index])
                boxes.append(_box(seen))
                shares.append(share)
        return TableImage(image, labels, np.array(boxes, dtype=float).reshape(-1, 4), np.array(shares))

    def _place(self, rng: np.random.Generator, radii: Sequence[float]) -> Array:
        """Return positions (n, 2) on the table, apart from each other where that is possible."""
        places: list[Array] = []
        for radius in radii:
            best, most = np.zeros(2), -np.inf
            for _ in range(60):
                place = rng.uniform(-1.0, 1.0, 2) * AREA
                room = min(
                    (float(np.linalg.norm(place - other)) / (radius + radii[k]) for k, other in enumerate(places)),
                    default=np.inf,
                )
                if room > most:
                    best, most = place, room
                if most >= GAP:
                    break
            places.append(best)
        return np.array(places)

    def _arrange(self, rng: np.random.Generator, present: Sequence[int], places: Array) -> None:
        model = self._model
        for index, place in zip(present, places, strict=True):
            turn = rng.uniform(-np.pi, np.pi)
            model.body_pos[self._bodies[index]] = [*place, self._depths[index]]
            model.body_quat[self._bodies[index]] = [np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)]
        self._show(present)
        distance, elevation, azimuth = rng.uniform(0.75, 1.0), rng.uniform(0.45, 0.95), rng.normal(0.0, 0.25)
        target = np.array([*rng.uniform(-0.04, 0.04, 2), RADIUS / 2])
        level = np.cos(elevation)
        eye = target + distance * np.array([-level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)])
        model.cam_pos[0] = eye
        mujoco.mju_mat2Quat(model.cam_quat[0], gaze_axes(eye, target, float(rng.normal(0.0, 0.05))).ravel())
        direction = rng.uniform(-np.pi, np.pi), rng.uniform(0.5, 1.4)
        tint = random_tint(rng)
        self._light(target, *direction, rng.uniform(0.35, 0.9) * tint, 0.3, rng.uniform(0.2, 0.5) * tint)
        for name in ("table", "wall"):
            self._paint(name, background(rng))

    def _owner_at_pixels(self) -> NDArray[np.int64]:
        """Return the index of the object at each pixel (height, width), -1 where there is none."""
        geoms = self._renderer.segment(self._data, 0)
        return np.where(geoms >= 0, self._owner[geoms], -1)


def _box(inside: NDArray[np.bool_]) -> list[int]:
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    return [int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1]
