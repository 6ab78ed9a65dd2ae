"""The contracts of features and of sources of boxes: sound ones keep them, and each broken promise is named."""

from types import SimpleNamespace

import numpy as np
import pytest

from icub_learning.testing import BoxSourceContract, ContractError, FeaturesContract


class Given:
    """A contract of objects whose method is a function; lessons make one of them by calling `kind` with a label."""

    def __init__(self, work, kind=str):
        self.work, self.kind = work, kind

    def make(self):
        return SimpleNamespace(transform=self.work, update=self.work)

    def classes(self):
        return (self.kind,)


class Features(Given, FeaturesContract):
    pass


class Boxes(Given, BoxSourceContract):
    def images(self):
        return [np.full((40, 60, 3), shade, np.uint8) for shade in (0, 0, 255, 255)]


def spoil(image):
    image[image > 0] = 7
    return np.ones(3) if image.any() else None


def in_bright(box):
    return lambda image: box if image.any() else None


def test_sound_ones_keep_their_contracts():
    Features(lambda image: image.mean(axis=(0, 1))).check()
    for box in ([0, 0, 60, 40], (59.0, 39.0, 59.5, 40.0), np.array([3, 4, 5, 6])):
        Boxes(in_bright(box)).check()


LENGTH, SAME = "features are finite vectors of one length", "an image has one vector and is not written to"
INSIDE, EMPTY = "boxes are in the image which is not written to", "an image without an object has no box"
BEYOND = ([-1, 0, 9, 9], [0, -1, 9, 9], [0, 0, 61, 9], [0, 0, 9, 41], [9, 0, 9, 9], [0, 9, 9, 9], [0, 0, 9], 3.0)
RANDOM, CALLS = np.random.default_rng(0), iter(range(9))
BROKEN = [
    (Features(lambda image: np.ones(len(image))), LENGTH, "the shapes of features of three images are"),
    (Features(lambda image: image[:2, 0]), LENGTH, "the shapes of features of three images are {(2, 3)}"),
    (Features(lambda image: np.array([1.0, np.inf])), LENGTH, "there are features that are not finite"),
    (Features(spoil), SAME, "read-only"), (Features(lambda _: RANDOM.normal(size=3)), SAME, "the same image again dif"),
    (Boxes(spoil), INSIDE, "read-only"), (Boxes(lambda image: None), INSIDE, "no box in the last image"),
    (Boxes(in_bright([0, 0, 9, 9]), int), "a lesson makes the source with its label", "ValueError"),
    (Boxes(lambda im: [0, 0, 9, 9] if im.any() or next(CALLS, 9) > 2 else None), EMPTY, "9] in a black image"),
    *((Boxes(in_bright(box)), INSIDE, f"{box} is no box x1 < x2, y1 < y2 in an image of 60 x 40 px") for box in BEYOND),
]  # fmt: skip


@pytest.mark.parametrize(("contract", "check", "finding"), BROKEN)
def test_a_broken_promise_is_named(contract, check, finding):
    with pytest.raises(ContractError) as caught:
        contract.check()
    assert finding in caught.value.value[check] and "fails 1 checks of" in str(caught.value)
