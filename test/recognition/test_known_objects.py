"""What a recognizer knows: forgotten, renamed, saved, merged; states that do not fit change nothing."""

import itertools

import numpy as np
import pytest
from helpers.feature_stream import PLACES, SECOND, D, Settings, Stream, make_recognizer, recognizer
from helpers.unchanged import unchanged

from icub_learning.errors import ParameterError, StateError
from icub_learning.models import load_state, save_state
from icub_learning.recognition.assembly import describe, restore
from icub_learning.recognition.classifiers.kinds import KINDS
from icub_learning.testing import same_arrays


def test_forget_rename_and_reset(taught):
    robot = taught.recognizer
    robot.forget("mug")
    robot.rename("duck", "goose")
    assert robot.objects() == {"goose": 10, "teddy": 10} and taught.show("duck", 6)[-1].label == "goose"
    forget, rename = robot.forget, robot.rename
    for change, *names in ((forget, "mug"), (forget, "x" * 10_000), (rename, "mug", "cup"), (rename, "goose", "teddy")):
        with unchanged(robot), pytest.raises(ParameterError) as error:
            change(*names)
        assert len(str(error.value)) < 300
    robot.reset()
    assert robot.objects() == {} and robot.recall().shape == (0,)
    for nothing_there in (lambda: robot.forget("goose"), robot.state):
        with pytest.raises((ParameterError, StateError), match="taught"):
            nothing_there()
    taught.recognizer.recognize(0, "another", np.ones(3))  # reset forgets the network too


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_recognizer_says_the_same(kind, tmp_path):
    stream = Stream(recognizer(classifier=kind))
    for label in ("mug", "duck", "teddy"):
        stream.teach(label)
    other = Stream(recognizer())  # the loaded kind replaces its own
    other.recognizer.load(load_state(save_state(tmp_path / "objects", stream.recognizer.saved())))
    assert same_arrays(other.recognizer.state(), stream.recognizer.state())
    stream.stamp = other.stamp = 100 * SECOND  # frames shown before are too old to count
    assert all(same_arrays(vars(other.feed(x)), vars(stream.feed(x))) for x in PLACES.values())


def test_merged_robots_know_what_both_were_taught(taught):
    other = Stream(recognizer(), seed=5)
    other.teach("duck", 6)
    other.teach("block", 8)
    assert taught.recognizer.merge(other.recognizer.saved()) == ""
    assert taught.recognizer.objects() == {"mug": 10, "duck": 16, "teddy": 10, "block": 8}
    assert taught.show("block", 6)[-1].label == "block"
    empty = recognizer()
    empty.merge(other.recognizer.saved())
    assert empty.objects() == {"duck": 6, "block": 8}


def test_a_saved_model_keeps_its_classifier_and_takes_the_recoding_of_the_settings():
    taught = Stream(recognizer(classifier="rlsc", recoding=0.3))
    taught.teach("duck", 6)
    for settings, told in (
        (Settings(recoding=0.5), "a classifier 'rlsc' learned these objects and keeps them; reset for 'adaptive'"),
        *((Settings(classifier="rlsc", recoding=0.5, weighting=one), "") for one in ("recoded", "none")),
    ):
        other = make_recognizer(settings)
        assert restore(other, taught.recognizer.state(), settings) == told
        assert other.classifier.recoding == (0.5 if settings.weighting == "recoded" else 0.0)
        assert describe(settings, other, "").settings["classifier"] == "rlsc"


def test_states_that_do_not_fit_are_refused_and_change_nothing(taught):
    before, elsewhere = taught.recognizer.state(), Stream(recognizer())
    elsewhere.recognizer.start_lesson("mug", 1)
    elsewhere.feed(np.ones(D), "other")
    elsewhere.recognizer.end_lesson()
    foreign = elsewhere.recognizer.saved()
    damaged = [
        {}, {"weights": np.ones(3)}, before | {"recognizer": np.asarray(99)}, before | {"kind": np.asarray("magic")},
        {key: value for key, value in before.items() if key != "source"},
        {key: value for key, value in before.items() if not key.startswith("classifier.")},
    ]  # fmt: skip
    assert (before["recognizer"], before["classifier.version"], before["kind"]) == (1, 1, "adaptive")  # as in old files
    with unchanged(taught.recognizer):
        for state, take in itertools.product(damaged, (taught.recognizer.load, taught.recognizer.merge)):
            with pytest.raises(StateError, match=None if "recognizer" in state else "no model of object recognition"):
                take(state)
        with pytest.raises(StateError, match=r"12 features of 'other'.*, this one 12 features of 'net/features' and"):
            taught.recognizer.merge(foreign)
