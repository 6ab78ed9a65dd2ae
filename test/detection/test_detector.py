"""A detector that is shown painted things on painted backgrounds finds them where they are."""

import tracemalloc
from unittest.mock import Mock

import numpy as np
import pytest
from helpers.painted_scenes import COLOURS, scene
from helpers.unchanged import unchanged

from icub_learning.detection import Detections, OnlineDetector, saved_model, settings
from icub_learning.detection.bootstrap import Bootstrap
from icub_learning.detection.boxes import overlaps
from icub_learning.detection.proposals import propose
from icub_learning.errors import IcubLearningError, ParameterError, StateError
from icub_learning.testing import same_arrays


def collect(detector, rng, n, names, *others):
    for _ in range(n):
        image, boxes = scene(rng, [*names, *others])
        for name in names:
            detector.collect(image, boxes[name], name)


@pytest.fixture(scope="module")
def shown():
    detector = OnlineDetector(n_centers=100, random_state=0, n_proposals=100)
    collect(detector, np.random.default_rng(0), 12, ["plum", "lime"])
    detector.train()
    return detector


def best(found, name):
    places = [k for k, label in enumerate(found.labels) if label == name]
    return (found.boxes[places[0]], found.scores[places[0]]) if places else (np.zeros(4), -1.0)


def hits(detector, *names, n=8, seed=9):
    """Return the share of scenes in which the best box is on the thing, for the thing that is found least often."""
    rng, right = np.random.default_rng(seed), np.zeros(len(names))
    for _ in range(n):
        image, boxes = scene(rng, list(COLOURS))
        found = detector.detect(image)
        for k, name in enumerate(names):
            box, score = best(found, name)
            right[k] += score > 0 and overlaps(box[None], boxes[name][None])[0, 0] > 0.5
    return right.min() / n


def test_finds_what_it_was_shown(shown):
    assert shown.labels == ["plum", "lime"] and shown.counts == {"plum": 12, "lime": 12}
    assert hits(shown, "plum", "lime") >= 0.75
    other, (image, _) = shown.copy(), scene(np.random.default_rng(5), list(COLOURS))
    other.threshold = -2.0
    found = other.detect(image)
    assert (np.diff(found.scores) <= 0).all() and set(found.labels) == {"plum", "lime"}
    for name in shown.labels:  # of boxes that overlap by more than 0.3 the best is left
        own = found.boxes[np.array(found.labels) == name]
        assert np.triu(overlaps(own, own), 1).max() <= 0.3 + 1e-9
    assert len(shown.detect(image)) == (found.scores > -0.5).sum() > 0


def test_another_object_leaves_those_before_to_the_bit(shown):
    rng, more = np.random.default_rng(1), shown.copy()
    collect(more, rng, 12, ["brick"], "lime")
    assert more.waiting == ["brick"]
    with unchanged(shown):
        assert more.train() == ["brick"]
    assert hits(more, "brick") >= 0.75
    image, _ = scene(rng, list(COLOURS))
    one, two = shown.detect(image), more.detect(image)
    for name in ("plum", "lime"):
        np.testing.assert_equal(best(one, name), best(two, name))
    assert max(best(one, name)[1] for name in ("plum", "lime")) > -1.0  # something is found
    more.forget("brick")
    assert more.labels == ["plum", "lime"]
    with pytest.raises(ParameterError, match=r"one of \['plum', 'lime'\]"):
        more.forget("brick")
    more.collect(image, [20, 20, 60, 60], "cup")
    more.forget("cup")
    assert more.waiting == more.train() == [] and list(more.counts) == ["plum", "lime"]


def test_an_object_that_is_shown_again_and_again_takes_no_more_memory():
    rng, kept, few = np.random.default_rng(4), [], Bootstrap(n_batches=1, batch_size=90)
    detector = OnlineDetector(n_centers=20, random_state=0, n_proposals=50, bootstrap=few)
    for _ in range(5):
        collect(detector, rng, 3, ["plum"])
        detector.train()
        kept.append(detector.state()["object0.positives"])
    assert [len(one) for one in kept[2:]] == [30] * 3 and len(detector.state()["object0.steps"]) == 30
    assert 3 < (kept[-1][:, None] == kept[-2]).all(axis=2).any(axis=0).sum() < 27  # some stay, some go


def test_a_lesson_takes_no_more_memory_however_long_it_is():
    rng, few = np.random.default_rng(5), Bootstrap(n_batches=1, batch_size=25)
    detector, taken = OnlineDetector(random_state=0, n_proposals=50, bootstrap=few), []
    tracemalloc.start()
    for _ in range(3):
        collect(detector, rng, 8, ["plum"])
        taken.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert taken[2] - taken[1] < 50_000  # the regions of 8 images take 200 000 bytes


def test_a_saved_detector_finds_the_same(shown):
    other = OnlineDetector.from_state(shown.state(), n_proposals=100)
    image, boxes = scene(np.random.default_rng(2), list(COLOURS))
    assert same_arrays(vars(shown.detect(image)), vars(other.detect(image)))
    state = shown.state()
    for key in state:
        with pytest.raises(IcubLearningError):
            other.load({name: value for name, value in state.items() if name != key})
    assert (state["detector"], state["length_scale"]) == (1, 10.0)  # those of files that were saved before
    assert sum(array.nbytes for array in state.values()) < saved_model.largest_bytes(settings.Settings(n_centers=100))
    for said, name, bad in (("'another'", "source", "another"), ("length scale", "length_scale", 9.0),
                            ("2 positive", "counts", [12]), ("2 positive", "counts", [12, 0])):  # fmt: skip
        with pytest.raises(StateError, match=said):
            other.load({**state, name: np.asarray(bad)})
    assert other.labels == ["plum", "lime"]
    other.collect(image, boxes["plum"], "plum")
    assert same_arrays(other.state(), state)  # the frame waits
    assert other.train() == ["plum"] and other.counts == {"plum": 13, "lime": 12}  # it learns on, without a seed


def test_bad_frames_are_refused_and_nothing_is_taken_in(shown):
    detector, (image, _) = shown.copy(), scene(np.random.default_rng(3), ["plum"])
    for frame, box, name in (
        (image, [10, 10, 5, 50], "plum"), (image, [300, 10, 400, 50], "plum"), (image, [1, 1, 50, 50], ""),
        *((bad, [1, 1, 50, 50], "plum") for bad in (image.astype(float), image[:, :, :2], image[:5])),
    ):  # fmt: skip
        with pytest.raises(IcubLearningError):
            detector.collect(frame, box, name)
    with pytest.raises(IcubLearningError):
        detector.detect(image[:5])
    assert (detector.waiting, detector.counts["plum"]) == ([], 12)
    bad = {"n_centers": [0], "threshold": [np.nan, -2.01, 2.01], "n_proposals": [9], "random_state": [-1]}
    for name, value in [(name, value) for name, values in bad.items() for value in values]:
        with pytest.raises(ParameterError, match=name):
            OnlineDetector(**{name: value})


def test_before_it_is_taught_it_finds_nothing(monkeypatch):
    detector = OnlineDetector(n_centers=1, n_proposals=10, threshold=2.0)
    monkeypatch.setattr("icub_learning.detection.detector.propose", proposed := Mock(wraps=propose))
    for shape in ((64, 96, 3), (64, 96, 3), (96, 64, 3)):  # one image twice, and another one of the same bytes
        detector.collect(np.zeros(shape, np.uint8), [0, shape[0] - 40, 40, shape[0]], "lemon")
    assert [(maps.width, maps.height) for (maps, _), _ in proposed.call_args_list] == [(96, 64), (64, 96)]
    detector.forget("lemon")
    found = detector.detect(np.zeros((64, 64, 3), np.uint8))
    assert isinstance(found, Detections) and (len(found), found.boxes.shape) == (0, (0, 4))
    with pytest.raises(ParameterError, match="an object that was shown"):
        detector.forget("plum")
