"""The recognizer: what it learns against a classifier fed by hand, lessons that are all or nothing, bad input."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icub_learning.errors import IcubLearningError, ParameterError, RecognitionError, SampleError, StateError
from icub_learning.models import load_state, save_state
from icub_learning.recognition.assembly import Settings, make_classifier, make_recognizer
from icub_learning.recognition.classifiers import classifier as classifier_module
from icub_learning.recognition.classifiers.kinds import KINDS
from icub_learning.recognition.lesson import UNKNOWN
from icub_learning.recognition.recognizer import ObjectRecognizer

D = 12
NET = "net/features"
SECOND = 10**9
RNG = np.random.default_rng(0)
PLACES = {label: 3.0 * RNG.normal(size=D) for label in ("mug", "duck", "teddy", "block")}


def view(label, rng):
    return PLACES[label] + rng.normal(size=D)


class Stream:
    """Feature vectors at 20 Hz to a recognizer, as a node would feed it."""

    def __init__(self, recognizer, seed=0):
        self.recognizer, self.rng, self.stamp = recognizer, np.random.default_rng(seed), 0

    def feed(self, x, source=NET):
        self.stamp += SECOND // 20
        seen = self.recognizer.recognize(self.stamp, source, x)
        self.recognizer.learn()
        return seen

    def show(self, label, count=1):
        return [self.feed(view(label, self.rng)) for _ in range(count)]

    def teach(self, label, count=10):
        lesson = self.recognizer.start_lesson(label, count)
        self.show(label, count)
        assert lesson.done
        self.recognizer.end_lesson()


def of_kind(kind):
    """Settings that make a classifier of a kind in KINDS."""
    return {"classifier": "rlsc", "weighting": kind} if kind == "rebalanced" else {"classifier": kind}


def recognizer(**settings):
    return make_recognizer(Settings(**settings))


@pytest.fixture
def taught():
    stream = Stream(recognizer())
    for label in ("mug", "duck", "teddy"):
        stream.teach(label)
    return stream


def same(one, other):
    """Whether two states are equal to the bit."""
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


def taught_alike(kind):
    """A stream whose recognizer was taught, a classifier that was fed the same by hand, and what draws their views."""
    stream, by_hand = Stream(recognizer(**of_kind(kind))), make_classifier(Settings(**of_kind(kind)), D)
    rng = np.random.default_rng(0)
    for label, count in (("mug", 9), ("duck", 4), ("mug", 3), ("teddy", 7)):
        stream.teach(label, count)
        for _ in range(count):
            x = view(label, rng)
            by_hand.scores(x)  # as it is recognized before it is learned: an AdaptiveClassifier chooses then
            by_hand.learn(x, label)
    return stream, by_hand, rng


@pytest.mark.parametrize("kind", KINDS)
def test_learns_exactly_what_a_classifier_fed_by_hand_learns(kind):
    stream, by_hand, _ = taught_alike(kind)
    assert same(stream.recognizer.classifier.state(), by_hand.state())
    assert stream.recognizer.objects() == {"mug": 12, "duck": 4, "teddy": 7}
    for label in ("mug", "duck", "teddy"):
        assert stream.show(label, 8)[-1].label == label


def test_only_what_comes_during_the_lesson_is_learned(taught):
    before = taught.recognizer.state()
    taught.show("duck", 5)
    assert same(taught.recognizer.state(), before)
    lesson = taught.recognizer.start_lesson("block", 2)
    assert not taught.recognizer.learn()  # what came before the lesson is none of it
    taught.show("block", 1)
    assert (lesson.n_taken, lesson.done) == (1, False)
    assert not taught.recognizer.learn()  # nothing is learned twice
    taught.show("block", 1)
    assert lesson.done
    assert taught.recognizer.objects()["block"] == 2


def test_nothing_more_is_learned_when_the_lesson_is_done(taught):
    lesson = taught.recognizer.start_lesson("block", 2)
    taught.show("block", 5)
    assert lesson.n_taken == 2
    assert taught.recognizer.objects()["block"] == 2


@pytest.mark.parametrize("label", ["block", "duck"])
@pytest.mark.parametrize("came", [0, 1, 4])
def test_a_lesson_that_ends_early_leaves_no_trace(taught, label, came):
    before, learned = taught.recognizer.state(), taught.recognizer.counts.learned
    taught.recognizer.start_lesson(label, 5)
    taught.show("block", came)
    taught.recognizer.end_lesson()
    assert taught.recognizer.lesson is None
    assert same(taught.recognizer.state(), before)
    assert taught.recognizer.counts.learned == learned


def test_a_first_lesson_that_ends_early_leaves_nothing():
    stream = Stream(recognizer())
    stream.recognizer.start_lesson("mug", 5)
    stream.show("mug", 3)
    assert stream.recognizer.objects() == {"mug": 3}
    stream.recognizer.end_lesson()
    assert stream.recognizer.objects() == {}
    stream.feed(np.ones(D + 1), "another/network")  # neither size nor network is settled


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_calibrated_during_a_lesson_and_all_is_afterwards(kind, monkeypatch):
    counted = []
    for name in ("Calibration", "fit_confidence"):
        own = getattr(classifier_module, name)
        monkeypatch.setattr(classifier_module, name, lambda *a, own=own, name=name: counted.append(name) or own(*a))
    stream, by_hand, rng = taught_alike(kind)
    counted.clear()
    asked = view("duck", rng)
    stream.recognizer.classifier.calibrate()
    assert sorted(counted) == ["Calibration", "fit_confidence"]
    lesson = stream.recognizer.start_lesson("duck", 6)
    counted.clear()
    vectors = [view("duck", rng) for _ in range(6)]
    for x in vectors:
        stream.feed(x)
    assert lesson.done
    assert not counted
    stream.recognizer.end_lesson()
    for x in vectors:
        by_hand.scores(x)
        by_hand.learn(x, "duck")
    found, expected = stream.recognizer.classifier.judge(asked), by_hand.judge(asked)
    assert found.nearest == expected.nearest
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-12)
    assert (found.confidence, found.typicality) == pytest.approx((expected.confidence, expected.typicality), abs=1e-12)


def test_what_is_recognized_during_a_lesson_is_judged_as_before_it(taught):
    rng = np.random.default_rng(5)
    window = [view("block", rng) for _ in range(4)] + [view("duck", rng)]
    before = [taught.recognizer.classifier.judge(np.array(window[max(k - 4, 0) : k + 1])) for k in range(5)]
    lesson = taught.recognizer.start_lesson("block", 5)
    taught.recognizer._window.clear()
    for x, expected in zip(window, before, strict=True):
        seen = taught.feed(x)
        assert (seen.nearest, seen.confidence) == (expected.nearest, pytest.approx(expected.confidence, abs=1e-12))
        assert seen.typicality == pytest.approx(expected.typicality, abs=1e-12)
        np.testing.assert_allclose(seen.scores[:3], expected.scores, atol=1e-12)
        assert seen.scores[3:].tolist() == [0.0] * (len(seen.labels) - 3)
    assert lesson.done
    assert seen.labels[3] == "block"
    taught.recognizer.end_lesson()
    assert taught.show("block", 5)[-1].label == "block"


def test_nothing_is_known_in_the_first_lesson():
    stream = Stream(recognizer())
    stream.recognizer.start_lesson("mug", 3)
    for seen in stream.show("mug", 3):
        assert (seen.label, seen.nearest, seen.confidence, seen.labels) == (UNKNOWN, "", 0.0, [])
    stream.recognizer.end_lesson()
    assert stream.show("mug")[0].nearest == "mug"


@given(st.lists(st.tuples(st.sampled_from(sorted(PLACES)), st.integers(1, 4), st.booleans()), max_size=8))
def test_any_sequence_of_lessons_knows_what_the_finished_ones_taught(lessons):
    stream, rng, kept = Stream(recognizer()), np.random.default_rng(1), []
    for label, count, finished in lessons:
        stream.recognizer.start_lesson(label, count)
        vectors = [view(label, rng) for _ in range(count if finished else count - 1)]
        for x in vectors:
            stream.feed(x)
        stream.recognizer.end_lesson()
        kept += [(x, label) for x in vectors] if finished else []
    expected = make_classifier(Settings(), D)
    for x, label in kept:
        expected.learn(x, label)
    assert stream.recognizer.objects() == expected.counts
    if kept:
        np.testing.assert_allclose(
            stream.recognizer.classifier.scores(vectors_of(kept)), expected.scores(vectors_of(kept)), atol=1e-12
        )


def vectors_of(kept):
    return np.stack([x for x, _ in kept])


def test_while_one_lesson_is_under_way_nothing_else_changes_what_is_known(taught):
    robot, before = taught.recognizer, taught.recognizer.state()
    robot.start_lesson("block", 5)
    taught.show("block", 2)
    for change in (
        lambda: robot.start_lesson("duck", 1),
        lambda: robot.forget("duck"),
        lambda: robot.rename("duck", "goose"),
        lambda: robot.load(before),
        lambda: robot.merge(before),
        lambda: robot.reset(),
        lambda: robot.saved(),
    ):
        with pytest.raises(RecognitionError, match=r"'block' is being taught.*2 of 5 frames"):
            change()
    assert robot.objects() == {"mug": 10, "duck": 10, "teddy": 10, "block": 2}


@pytest.mark.parametrize(
    "label, expected",
    [("", "1 to"), ("x" * 10_000, "10000"), ("   ", "blanks"), ("a\nb", "printable"), (UNKNOWN, "another"), (3, "str")],
)
def test_labels_that_no_object_may_have(taught, label, expected):
    before = taught.recognizer.state()
    with pytest.raises(ParameterError, match=expected) as refused:
        taught.recognizer.start_lesson(label, 3)
    assert len(str(refused.value)) < 300
    assert taught.recognizer.lesson is None
    with pytest.raises(ParameterError):
        taught.recognizer.rename("mug", label)
    assert same(taught.recognizer.state(), before)


@pytest.mark.parametrize("n_frames", [0, -1, 10**9, 1.5])
def test_lessons_of_no_or_of_endless_frames(taught, n_frames):
    with pytest.raises(ParameterError, match="n_frames"):
        taught.recognizer.start_lesson("block", n_frames)
    assert taught.recognizer.lesson is None


BAD = {
    "array_size": [np.ones(D - 1), np.ones((1, D)), np.empty(0), 3.0],
    "not_finite": [np.full(D, np.nan), np.r_[np.inf, np.ones(D - 1)]],
    "out_of_range": [np.full(D, 1e7)],
}


@pytest.mark.parametrize("reason, x", [(reason, x) for reason, those in BAD.items() for x in those])
def test_bad_features_are_refused_and_counted_and_change_nothing(taught, reason, x):
    before = taught.recognizer.state()
    lesson = taught.recognizer.start_lesson("block", 2)
    with pytest.raises(SampleError) as refused:
        taught.feed(x)
    assert refused.value.reason == reason
    assert not taught.recognizer.learn()
    assert taught.recognizer.counts.refused == {reason: 1}
    assert reason in taught.recognizer.counts.last_refusal
    assert lesson.progress().startswith("0 of 2 frames, and 1 refused (")
    assert same(taught.recognizer.state(), before)
    taught.show("block", 2)
    assert lesson.done


def test_features_of_another_network_are_refused_by_name(taught):
    with pytest.raises(SampleError, match=r"'other'.*'net/features'") as refused:
        taught.feed(np.ones(D), "other")
    assert refused.value.reason == "source"


def test_before_anything_is_taught_everything_is_unknown():
    stream = Stream(recognizer())
    seen = stream.feed(np.ones(D))
    assert (seen.label, seen.nearest, seen.confidence, seen.typicality) == (UNKNOWN, "", 0.0, 0.0)
    assert (seen.labels, seen.scores.size) == ([], 0)
    stream.feed(np.ones(D + 3), "another/network")


def test_scores_are_the_mean_over_the_window_in_the_eyes_of_todays_model(taught):
    taught.stamp += 10 * SECOND  # nothing older takes part
    rows = [view("duck", RNG) for _ in range(7)]
    for n, x in enumerate(rows, 1):
        seen = taught.feed(x)
        window = np.stack(rows[max(0, n - 5) : n])
        np.testing.assert_allclose(seen.scores, taught.recognizer.classifier.scores(window).mean(axis=0), atol=1e-14)
    taught.recognizer.rename("duck", "goose")
    assert taught.feed(rows[0]).labels == ["mug", "goose", "teddy"]


def test_frames_that_are_old_or_of_the_future_take_no_part(taught):
    classifier, x = taught.recognizer.classifier, view("teddy", RNG)
    for step in (2 * SECOND, -3600 * SECOND):
        taught.show("mug", 5)
        taught.stamp += step
        np.testing.assert_allclose(taught.feed(x).scores, classifier.scores(x), atol=1e-14)


def test_what_is_less_typical_than_allowed_is_unknown(taught):
    for below, label in ((0.0, "duck"), (1.0, UNKNOWN)):
        taught.recognizer.reject_known = below
        seen = taught.show("duck", 6)[-1]
        assert seen.label == label
        assert 0.0 <= seen.confidence <= 1.0
        assert 0.0 < seen.typicality < 1.0
        assert seen.nearest == "duck"
        assert seen.labels[int(np.argmax(seen.scores))] == "duck"


def test_an_object_never_shown_is_not_typical(taught):
    def typical(label):
        taught.stamp += 10 * SECOND
        return np.mean([seen.typicality for seen in taught.show(label, 40)])

    assert typical("block") < min(typical(label) for label in ("mug", "duck", "teddy")) - 0.1


def test_forget_rename_and_reset(taught):
    robot = taught.recognizer
    robot.forget("mug")
    robot.rename("duck", "goose")
    assert robot.objects() == {"goose": 10, "teddy": 10}
    assert taught.show("duck", 6)[-1].label == "goose"
    before = robot.state()
    for refused in (
        lambda: robot.forget("mug"),
        lambda: robot.rename("mug", "cup"),
        lambda: robot.rename("goose", "teddy"),
        lambda: robot.forget("x" * 10_000),
    ):
        with pytest.raises(ParameterError) as error:
            refused()
        assert len(str(error.value)) < 300
    assert same(robot.state(), before)
    robot.reset()
    assert robot.objects() == {}
    for nothing_there in (lambda: robot.forget("goose"), robot.state):
        with pytest.raises((ParameterError, StateError), match="taught"):
            nothing_there()
    taught.recognizer.recognize(0, "another", np.ones(3))  # the network is forgotten too


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_recognizer_says_the_same(kind, tmp_path):
    stream = Stream(recognizer(**of_kind(kind)))
    for label in ("mug", "duck", "teddy"):
        stream.teach(label)
    other = Stream(recognizer())  # of another kind: what is loaded counts
    other.recognizer.load(load_state(save_state(tmp_path / "objects", stream.recognizer.saved())))
    assert other.recognizer.objects() == stream.recognizer.objects()
    assert other.recognizer.source == NET
    stream.stamp = other.stamp = 100 * SECOND
    for label in itertools.chain(*[PLACES] * 3):
        x = view(label, RNG)
        one, two = stream.feed(x), other.feed(x)
        assert (one.label, one.confidence) == (two.label, two.confidence)
        np.testing.assert_array_equal(one.scores, two.scores)


def test_merged_robots_know_as_much_as_one_that_saw_everything(taught):
    other, both = Stream(recognizer(), seed=5), Stream(recognizer())
    other.teach("duck", 6)
    other.teach("block", 8)
    for label in ("mug", "duck", "teddy"):
        both.teach(label)
    both.rng = np.random.default_rng(5)
    both.teach("duck", 6)
    both.teach("block", 8)
    taught.recognizer.merge(other.recognizer.saved())
    assert taught.recognizer.objects() == both.recognizer.objects()
    x = np.stack([view(label, RNG) for label in PLACES])
    np.testing.assert_allclose(taught.recognizer.classifier.scores(x), both.recognizer.classifier.scores(x), atol=1e-10)
    empty = recognizer()
    empty.merge(other.recognizer.saved())
    assert empty.objects() == {"duck": 6, "block": 8}


def test_states_that_do_not_fit_are_refused_and_change_nothing(taught):
    before, elsewhere = taught.recognizer.state(), Stream(recognizer())
    elsewhere.recognizer.start_lesson("mug", 1)
    elsewhere.feed(np.ones(D), "other")
    elsewhere.recognizer.end_lesson()
    foreign = elsewhere.recognizer.saved()
    damaged = [
        {},
        {"weights": np.ones(3)},
        before | {"recognizer": np.asarray(99)},
        before | {"kind": np.asarray("magic")},
        {key: value for key, value in before.items() if key != "source"},
        {key: value for key, value in before.items() if not key.startswith("classifier.")},
    ]
    for state in damaged:
        for take in (taught.recognizer.load, taught.recognizer.merge):
            with pytest.raises(StateError):
                take(state)
    with pytest.raises(StateError, match="other"):
        taught.recognizer.merge(foreign)
    for key in before:
        if not key.startswith("classifier."):
            continue
        with pytest.raises(IcubLearningError):
            taught.recognizer.load({name: value for name, value in before.items() if name != key})
    assert same(taught.recognizer.state(), before)


@pytest.mark.parametrize(
    "settings",
    [
        {"smoothing_window": 0},
        {"max_age": -1.0},
        {"reject_known": 1.5},
        {"reject_known": np.nan},
    ],
)
def test_settings_out_of_range(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        recognizer(**settings)


def test_a_classifier_that_cannot_learn_a_frame_leaves_the_lesson_as_it_was():
    class Failing:
        classes, counts = [], {}

        def learn(self, x, label):
            raise RecognitionError("no")

    robot = ObjectRecognizer(lambda n: Failing())
    lesson = robot.start_lesson("mug", 2)
    robot.recognize(1, NET, np.ones(D))
    with pytest.raises(RecognitionError):
        robot.learn()
    assert lesson.n_taken == 0
    assert robot.classifier is None
