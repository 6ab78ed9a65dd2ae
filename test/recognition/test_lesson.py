"""Lessons teach what a classifier fed by hand learns: all frames of a lesson, or none if it ends early."""

from unittest.mock import Mock

import numpy as np
import pytest
from helpers.feature_stream import NET, PLACES, D, Stream, recognizer, view
from helpers.unchanged import unchanged
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.errors import ParameterError, RecognitionError
from icub_learning.recognition.assembly import Settings, make_classifier
from icub_learning.recognition.classifiers import classifier as classifier_module
from icub_learning.recognition.classifiers.kinds import KINDS
from icub_learning.recognition.lesson import UNKNOWN
from icub_learning.recognition.recognizer import ObjectRecognizer
from icub_learning.testing import same_arrays


@pytest.mark.parametrize("label", ["block", "duck"])
@pytest.mark.parametrize("came", [0, 1, 4])
def test_a_lesson_that_ends_early_leaves_no_trace(taught, label, came):
    learned = taught.recognizer.counts.learned
    with unchanged(taught.recognizer):
        taught.recognizer.start_lesson(label, 5)
        taught.show("block", came)
        for change in (taught.recognizer.load, taught.recognizer.merge):
            with pytest.raises(RecognitionError, match="is being taught"):
                change({})
        taught.recognizer.end_lesson()
    assert taught.recognizer.lesson is None and taught.recognizer.counts.learned == learned


def test_a_lesson_that_cannot_begin_is_not_under_way(taught, monkeypatch):
    monkeypatch.setattr(taught.recognizer.classifier, "calibrate", Mock(side_effect=MemoryError))
    with pytest.raises(MemoryError):
        taught.recognizer.start_lesson("duck", 5)
    taught.recognizer.forget("duck")


@pytest.mark.parametrize("kind", KINDS)
def test_learns_what_a_classifier_fed_by_hand_learns_and_is_calibrated_afterwards(kind, monkeypatch):
    counted = []
    for name in ("Calibration", "Confidence"):
        own = getattr(classifier_module, name)
        monkeypatch.setattr(classifier_module, name, lambda *a, own=own, name=name: counted.append(name) or own(*a))
    stream, by_hand = Stream(recognizer(classifier=kind)), make_classifier(Settings(classifier=kind), D)
    rng = np.random.default_rng(0)
    for label, count in (("mug", 9), ("duck", 4), ("mug", 3), ("teddy", 7)):
        stream.teach(label, count)
        for _ in range(count):
            x = view(label, rng)
            by_hand.scores(x)  # a lesson, too, recognizes a view before it learns it
            by_hand.learn(x, label)
    assert same_arrays(stream.recognizer.classifier.state(), by_hand.state())
    asked = view("duck", rng)
    counted.clear()
    stream.recognizer.classifier.calibrate()
    assert sorted(counted) == ["Calibration", "Confidence"]
    lesson = stream.recognizer.start_lesson("duck", 6)
    counted.clear()
    vectors = [view("duck", rng) for _ in range(6)]
    for x in vectors:
        stream.feed(x)
    assert lesson.done and not counted
    stream.recognizer.end_lesson()
    for x in vectors:
        by_hand.scores(x)
        by_hand.learn(x, "duck")
    found, expected = stream.recognizer.classifier.judge(asked), by_hand.judge(asked)
    assert found.nearest == expected.nearest
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-12)
    assert (found.confidence, found.typicality) == pytest.approx((expected.confidence, expected.typicality), abs=1e-12)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(sorted(PLACES)), st.integers(1, 4), st.booleans()), max_size=8))
def test_any_sequence_of_lessons_knows_what_the_finished_ones_taught(lessons):
    stream, rng, kept = Stream(recognizer()), np.random.default_rng(1), []
    for label, count, finished in lessons:
        stream.recognizer.start_lesson(label, count)
        vectors = [view(label, rng) for _ in range(count if finished else count - 1)]
        for x in vectors:
            stream.feed(x)
        if finished:
            stream.show(label)  # one frame more than the lesson takes
        stream.recognizer.end_lesson()
        kept += [(x, label) for x in vectors] if finished else []
    expected = make_classifier(Settings(), D)
    for x, label in kept:
        expected.learn(x, label)
    assert stream.recognizer.objects() == expected.counts
    if kept:
        asked = np.stack([x for x, _ in kept])
        np.testing.assert_allclose(stream.recognizer.classifier.scores(asked), expected.scores(asked), atol=1e-12)


@pytest.mark.parametrize("label, n_frames, expected", [
    ("", 3, "1 to"), ("x" * 10_000, 3, "10000"), ("   ", 3, "blanks"), (" mug", 3, "blanks"), ("a\nb", 3, "printable"),
    (3, 3, "str"), (UNKNOWN, 3, "another"), *(("duck", n, "n_frames") for n in (0, -1, 100_001, 1.5)),
])  # fmt: skip
def test_labels_that_no_object_may_have_and_lessons_of_no_or_of_endless_frames(taught, label, n_frames, expected):
    with unchanged(robot := taught.recognizer):
        with pytest.raises(ParameterError, match=expected) as refused:
            robot.start_lesson(label, n_frames)
        assert len(str(refused.value)) < 300 and robot.lesson is None
        with pytest.raises(ParameterError):
            robot.rename("mug", label)
    assert robot.start_lesson("block", 100_000).progress() == "0 of 100000 frames"


def test_a_classifier_that_cannot_learn_a_frame_leaves_the_lesson_as_it_was():
    robot = ObjectRecognizer(lambda n: Mock(**{"learn.side_effect": RecognitionError("no")}))
    lesson = robot.start_lesson("mug", 2)
    robot.recognize(1, NET, np.ones(D))
    with pytest.raises(RecognitionError):
        robot.learn()
    assert lesson.n_taken == 0 and robot.classifier is None
