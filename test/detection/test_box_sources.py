"""Boxes of a square that moves before a still background."""

import numpy as np
import pytest

from icub_learning.detection.box_sources import BACKGROUND_IMAGES, MovingBox, TrackedBox
from icub_learning.detection.boxes import overlaps
from icub_learning.errors import ParameterError

RNG = np.random.default_rng(0)
WALL = RNG.integers(60, 120, (120, 160, 3)).astype(np.uint8)
THING = RNG.integers(0, 2, (30, 40, 3)) * np.array([255, 200, 90])


def frame(x, y):
    image = WALL + RNG.integers(0, 4, WALL.shape)
    if x is not None:
        image[y : y + 30, x : x + 40] = THING
    return image.astype(np.uint8)


def test_motion_finds_what_came_into_a_still_picture():
    source = MovingBox()
    assert all(not source.ready and source.update(frame(None, 0)) is None for _ in range(BACKGROUND_IMAGES))
    assert source.ready and source.update(frame(None, 0)) is None
    for x, y in ((10, 20), (70, 60), (115, 85)):
        assert np.abs(source.update(frame(x, y)) - [x, y, x + 40, y + 30]).max() <= 3
    for added, rows, columns in ((20, 30, 40), (32, 4, 4), (32, 110, 150), (32, 30, 40)):
        image = frame(None, 0)
        image[5 : 5 + rows, 5 : 5 + columns] += added
        assert (source.update(image) is not None) == ((added, rows) == (32, 30))  # too faint, small, large; none of it
    assert source.update(np.zeros((60, 60, 3), np.uint8)) is None  # another size: a new background


def test_a_box_without_surroundings_cannot_be_followed():
    with pytest.raises(ParameterError, match=r"is \[-10, 0, 5000, 60\].*smaller than the image, 160 x 120"):  # as given
        TrackedBox(frame(20, 30), [-10, 0, 5000, 60])
    TrackedBox(frame(20, 30), [20, 30, 25, 35])
    for right, bottom in ((24, 60), (60, 34)):
        with pytest.raises(ParameterError, match="5 px"):  # OpenCV would search for ever
            TrackedBox(frame(20, 30), [20, 30, right, bottom])


def test_tracker_follows():
    source = TrackedBox(frame(20, 30), [20, 30, 60, 60])
    for step in range(1, 11):
        box = source.update(frame(20 + 3 * step, 30 + step))
    assert overlaps(box[None], np.array([[50.0, 40.0, 90.0, 70.0]]))[0, 0] > 0.5
    assert source.update(np.zeros((60, 60, 3), np.uint8)) is None
