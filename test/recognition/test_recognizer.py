"""Recognition: mean scores over the window and the label "unknown"; bad features and settings are refused."""

import numpy as np
import pytest
from helpers.feature_stream import SECOND, D, Stream, recognizer, view
from helpers.unchanged import unchanged

from icub_learning.errors import ParameterError, SampleError
from icub_learning.recognition.assembly import Settings, describe
from icub_learning.recognition.feature_window import FeatureWindow, check_features
from icub_learning.recognition.lesson import UNKNOWN

BAD = {
    "array_size": [np.ones(D - 1), np.ones((1, D)), np.empty(0), 3.0],
    "not_finite": [np.full(D, np.nan), np.r_[np.inf, np.ones(D - 1)]], "out_of_range": [np.full(D, -1.01e6)],
}  # fmt: skip


@pytest.mark.parametrize("reason, x", [(reason, x) for reason, those in BAD.items() for x in those])
def test_bad_features_are_refused_and_counted_and_change_nothing(taught, reason, x):
    with unchanged(robot := taught.recognizer):
        lesson = robot.start_lesson("block", 2)
        with pytest.raises(SampleError) as refused:
            taught.feed(x)
        assert refused.value.reason == reason and not robot.learn()
        assert robot.counts.refused == {reason: 1} and robot.counts.last_refusal == f"{reason}: {refused.value}"
        assert lesson.progress() == f"0 of 2 frames, and 1 refused ({refused.value})"
    taught.show("block", 2)
    assert lesson.done and (robot.counts.recognized, robot.counts.learned) == (32, 32)
    assert check_features(np.full(D, -1e6)).tolist() == [-1e6] * D


def test_features_of_another_network_are_refused_by_name(taught):
    with pytest.raises(SampleError, match=r"'other'.*'net/features'") as refused:
        taught.feed(np.ones(D), "other")
    assert refused.value.reason == "source"
    known = describe(Settings(), taught.recognizer, "other")
    assert known.network == "net/features"  # the network it learned from
    assert known.statistics == {"objects": 3, "examples": 30}
    assert describe(Settings(), recognizer(), "other").network == "other"


def test_until_the_first_lesson_is_done_everything_is_unknown():
    stream = Stream(recognizer())
    seen = [stream.feed(np.ones(D + 3), "another/network"), stream.feed(np.ones(D))]
    stream.recognizer.start_lesson("mug", 3)
    for one in seen + stream.show("mug", 3):
        assert (one.label, one.nearest, one.confidence, one.typicality) == (UNKNOWN, "", 0.0, 0.0)
        assert (one.labels, one.scores.size) == ([], 0)
    stream.recognizer.end_lesson()
    assert stream.show("mug")[0].nearest == "mug"


def test_scores_are_the_mean_over_the_window_in_the_eyes_of_todays_model(taught):
    rng = np.random.default_rng(1)
    taught.stamp += 10 * SECOND  # older frames take no part
    rows = [view("duck", rng) for _ in range(7)]
    for n, x in enumerate(rows, 1):
        seen, window = taught.feed(x), np.stack(rows[max(0, n - 5) : n])
        np.testing.assert_allclose(seen.scores, taught.recognizer.classifier.scores(window).mean(axis=0), atol=1e-14)
    taught.recognizer.rename("duck", "goose")
    assert taught.feed(rows[0]).labels == ["mug", "goose", "teddy"]


def test_frames_that_are_old_of_the_future_or_of_another_network_take_no_part(taught):
    window = FeatureWindow(5, 1.0)
    assert [len(window.add(0, network, np.ones(D))) for network in ("a", "a", "b")] == [1, 2, 1]
    stamps = [SECOND, SECOND + 1, 2 * SECOND, 2 * SECOND - 1, *[3 * SECOND - 1] * 5, 3 * SECOND - 1]
    assert [len(window.add(stamp, "b", np.ones(D))) for stamp in stamps] == [2, 2, 3, 1, 2, 3, 4, 5, 5, 5]
    assert len(window.add(stamps[-1], "b", np.ones(D + 1))) == 1
    classifier, x = taught.recognizer.classifier, view("teddy", np.random.default_rng(1))
    for step in (2 * SECOND, -3600 * SECOND):
        taught.show("mug", 5)
        taught.stamp += step
        np.testing.assert_allclose(taught.feed(x).scores, classifier.scores(x), atol=1e-14)


def test_what_is_less_typical_than_allowed_is_unknown(taught):
    for below, label in ((0.0, "duck"), (1.0, UNKNOWN)):
        taught.recognizer.reject_known = below
        seen = taught.show("duck", 6)[-1]
        assert seen.label == label and 0.0 <= seen.confidence <= 1.0 and 0.0 < seen.typicality < 1.0
        assert seen.nearest == seen.labels[int(np.argmax(seen.scores))] == "duck"


def test_an_object_never_shown_is_not_typical(taught):
    def typical(label):
        taught.stamp += 10 * SECOND
        return np.mean([seen.typicality for seen in taught.show(label, 40)])

    assert typical("block") < min(typical(label) for label in ("mug", "duck", "teddy")) - 0.1


def test_settings_out_of_range():
    for name, bad in (("smoothing_window", 0), ("max_age", -1.0), ("reject_known", 1.5), ("reject_known", np.nan)):
        with pytest.raises(ParameterError, match=name):
            recognizer(**{name: bad})
