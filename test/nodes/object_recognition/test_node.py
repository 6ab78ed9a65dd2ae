"""The object recognition node as its users meet it: real messages, services and bad input."""

import signal

import numpy as np
import pytest
from helpers.recognition_probe import RecognitionProbe
from lifecycle_msgs.msg import Transition
from std_srvs.srv import Trigger

from icub_learning.models import load_state, read_model, save_state
from icub_learning.nodes.common.conversions import stamp_to_ns
from icub_learning.nodes.common.spinning import ManagedNode
from icub_learning.recognition import AdaptiveClassifier
from icub_learning_msgs.srv import ForgetObject, ListObjects, ModelFile, RenameObject, TeachObject

D, SETTINGS = 64, {"report_period": 0.05, "answer_timeout": 200.0}
CENTRES = dict(zip(("mug", "duck", "teddy"), 3.0 * np.random.default_rng(0).normal(size=(3, D)), strict=True))


def views(label, count, seed=0):
    return CENTRES[label] + np.random.default_rng([seed, len(label)]).normal(size=(count, D))


@pytest.fixture
def probe(started):
    with started(RecognitionProbe(), **SETTINGS) as probe:
        yield probe


def known(probe):
    answer = probe.call(ListObjects, "list_objects")
    assert answer.success
    found = dict(zip(answer.labels, answer.counts, strict=True))
    assert answer.message == (", ".join(f"{a} ({n})" for a, n in found.items()) or "nothing has been taught yet")
    return found


def test_is_taught_recognizes_and_keeps_what_it_learned(probe, tmp_path):
    assert [seen.label for seen in probe.feed(views("mug", 2))] == ["unknown"] * 2 and known(probe) == {}
    assert not probe.call(ModelFile, "save_model", path=str(tmp_path / "nothing")).success
    for label in CENTRES:
        answer = probe.teach(label, views(label, 10))
        assert (answer.success, answer.n_examples) == (True, 10), answer.message
    assert known(probe) == {"mug": 10, "duck": 10, "teddy": 10}
    probe.until(lambda: list(probe.objects[-1].labels) == list(CENTRES), "all objects")
    assert list(probe.objects[-1].counts) == [10] * 3
    seen = [probe.feed(views(label, 6, seed=1))[-1] for label in CENTRES]
    assert [one.label for one in seen] == list(CENTRES) and stamp_to_ns(seen[-1].header.stamp) == probe.stamp
    assert seen[-1].header.frame_id == "eye" and list(seen[-1].labels) == list(CENTRES)
    assert np.argmax(seen[-1].scores) == 2 and seen[-1].confidence > 0.5
    probe.until(lambda: list(probe.objects[-1].recall) == [1.0] * 3, "how surely each is known")
    assert list(probe.call(ListObjects, "list_objects").recall) == [1.0] * 3
    assert probe.call(ModelFile, "save_model", path=str(tmp_path / "objects")).success
    assert probe.call(RenameObject, "rename_object", old_label="duck", new_label="goose").success
    assert probe.call(ForgetObject, "forget_object", label="mug").success
    assert known(probe) == {"goose": 10, "teddy": 10} and probe.feed(views("duck", 6, seed=2))[-1].label == "goose"
    assert probe.call(ModelFile, "merge_model", path=str(tmp_path / "objects.npz")).success
    assert known(probe) == {"goose": 10, "teddy": 20, "mug": 10, "duck": 10}
    assert probe.call(Trigger, "reset").success and known(probe) == {}
    probe.until(lambda: not probe.objects[-1].labels, "no objects")
    state = load_state(tmp_path / "objects.npz")
    save_state(tmp_path / "other", {**state, "classifier.recoding": np.asarray(0.25)})
    save_state(tmp_path / "fewer", {**state, "classifier.n_features": np.asarray(3)})
    probe.declined(f"3 features of 'net/features', of which {D}", ModelFile, "load_model", path=f"{tmp_path}/fewer")
    for call, name in (("merge_model", "other"), ("save_model", "merged"), ("load_model", "objects")):
        assert probe.call(ModelFile, call, path=str(tmp_path / f"{name}.npz")).success
        assert known(probe) == {"mug": 10, "duck": 10, "teddy": 10}
    assert list(probe.call(ListObjects, "list_objects").recall) == [1.0] * 3  # before a vector comes
    assert load_state(tmp_path / "merged.npz")["classifier.recoding"] == state["classifier.recoding"]  # the node's
    for below, label in ((1.0, "unknown"), (0.0, "mug")):
        assert probe.set_parameter("reject_known", below).successful
        seen = probe.feed(views("mug", 6, seed=3))[-1]
        assert seen.label == label and seen.confidence > 0


def test_teach_learns_exactly_the_frames_that_come_after_the_call(probe):
    probe.feed(views("mug", 3))
    future = probe.begin_lesson("mug", 4, timeout=200.0)
    assert not future.done()
    probe.feed(views("mug", 2))
    probe.report(lambda values: values["lesson"] == "mug: 2 of 4 frames", "of two frames")
    assert probe.recognitions[-1].label == "unknown"  # nothing was known before the lesson
    second = probe.call(TeachObject, "teach", label="duck", n_frames=1, timeout=1.0)
    assert (second.success, second.n_examples) == (False, 0) and "'mug' is being taught" in second.message
    for kind, name, fields in (
        (ForgetObject, "forget_object", {"label": "mug"}),
        (RenameObject, "rename_object", {"old_label": "mug", "new_label": "cup"}), (Trigger, "reset", {}),
    ):  # fmt: skip
        assert "'mug' is being taught" in probe.call(kind, name, **fields).message, name  # which is why it is refused
    assert not future.done()
    probe.feed(views("mug", 5))
    answer = probe.answer(future)
    assert (answer.success, answer.n_examples) == (True, 4) and known(probe) == {"mug": 4}
    assert probe.feed(views("mug", 1))[-1].nearest == "mug"


def test_a_lesson_that_times_out_leaves_no_trace(probe):
    none = probe.teach("mug", [], n_frames=3, timeout=0.3)
    assert not none.success and "timed out after 0.3 s" in none.message and "0 of 3 frames" in none.message
    for timeout in (0.4, 4.0, 40.0):  # a busy machine may need longer for three frames
        answer = probe.teach("duck", views("duck", 3), n_frames=10, timeout=timeout)
        assert (answer.success, answer.n_examples) == (False, 0) and known(probe) == {}
        if "3 of 10 frames" in answer.message:
            break
    lesson = probe.begin_lesson("rose", 9, timeout=200.0)
    probe.feed(views("mug", 2))
    probe.declined("'mug' is not being taught", TeachObject, "teach", label="mug", n_frames=0)
    assert probe.call(TeachObject, "teach", label="rose", n_frames=0).success and known(probe) == {}
    assert "ended by a request: 'rose' was not learned (2 of 9 frames)" in probe.answer(lesson).message
    assert "3 of 10 frames" in answer.message and probe.teach("duck", views("duck", 3)).success


def test_what_is_unforeseen_ends_the_lesson_with_the_reason(node_here, monkeypatch):
    def fails(*_):
        raise MemoryError("3.59 GiB")

    node, learn = node_here("object_recognition", **SETTINGS), AdaptiveClassifier.learn
    with RecognitionProbe() as probe:
        probe.connect()
        monkeypatch.setattr(AdaptiveClassifier, "learn", fails)
        answer = probe.teach("mug", views("mug", 1), n_frames=3, timeout=200.0)
        assert not answer.success and "MemoryError: 3.59 GiB: 'mug' was not learned" in answer.message
        monkeypatch.setattr(AdaptiveClassifier, "learn", learn)
        assert probe.teach("mug", views("mug", 3)).success
    assert node.stop() == 0 and "internal_error" in node.output


def test_bad_requests_and_bad_features_are_refused_also_in_a_lesson_and_change_nothing(probe, tmp_path):
    assert probe.teach("mug", views("mug", 5)).success
    fine = {"label": "duck", "n_frames": 3, "timeout": 1.0}
    for kind, name, fields, expected in (
        *((TeachObject, "teach", fine | bad, next(iter(bad))) for bad in ({"label": ""}, {"n_frames": 0})),
        *((TeachObject, "teach", fine | {"timeout": value}, "timeout") for value in (0.0, 3600.1, np.nan)),
        *((ForgetObject, "forget_object", {"label": label}, label[:3]) for label in ("bear", "x" * 10_000)),
        (RenameObject, "rename_object", {"old_label": "bear", "new_label": "duck"}, "old_label is 'bear'"),
        (RenameObject, "rename_object", {"old_label": "mug", "new_label": ""}, "new_label is ''"),
        (ModelFile, "save_model", {"path": ""}, "path"), (ModelFile, "merge_model", {"path": str(tmp_path)}, "no"),
        (ModelFile, "load_model", {"path": str(tmp_path / "none.npz")}, "none.npz"),
    ):  # fmt: skip
        assert len(probe.declined(expected, kind, name, **fields).message) < 400, (name, fields)
    assert known(probe) == {"mug": 5}
    future, good = probe.begin_lesson("duck", 3, timeout=200.0), views("duck", 2)
    probe.feed(good[:1])
    for number, (values, source) in enumerate((([np.nan] * D, None), ([], None), ([1.0] * D, "another")), 1):
        probe.publish(values, source)
        probe.report(lambda values, number=number: values["refused"] == str(number), f"of refusal {number}")
    assert [probe.refused(reason) for reason in ("not_finite", "array_size", "source")] == [1, 1, 1]
    probe.feed(good[1:])
    assert probe.change(Transition.TRANSITION_DEACTIVATE)
    answer = probe.answer(future)
    assert (answer.success, answer.n_examples) == (False, 0)
    assert "deactivated" in answer.message and "2 of 3 frames, and 3 refused" in answer.message
    assert "'another'" in answer.message and "not active" in probe.call(TeachObject, "teach", **fine).message
    assert probe.change(Transition.TRANSITION_ACTIVATE) and known(probe) == {"mug": 5}
    assert probe.teach("duck", views("duck", 3)).success
    for transition in ("DEACTIVATE", "CLEANUP", "CONFIGURE", "ACTIVATE"):
        assert probe.change(getattr(Transition, f"TRANSITION_{transition}")), transition
    assert known(probe) == {}


def test_the_newest_recognition_is_repeated_at_publish_rate(started, monkeypatch):
    periods, make = [], ManagedNode.create_timer
    monkeypatch.setattr(ManagedNode, "create_timer", lambda node, s, *more: periods.append(s) or make(node, s, *more))
    with started(RecognitionProbe(), publish_rate=100.0, **SETTINGS) as probe:
        probe.report()
        assert 0.01 in periods and not probe.recognitions
        for ends in (
            lambda: probe.call(Trigger, "reset").success, lambda: not probe.teach("mug", [], 1, timeout=0.1).success,
            lambda: probe.set_parameter("publish_rate", 0.0).successful,
        ):  # fmt: skip
            probe.recognitions.clear()
            probe.publish(views("mug", 1)[0])
            probe.until(lambda: len(probe.recognitions) >= 25, "repeated recognitions")
            assert {stamp_to_ns(seen.header.stamp) for seen in probe.recognitions} == {probe.stamp}
            assert ends()
            probe.report()
            count = len(probe.recognitions)
            for _ in range(2):  # two report periods: ten times the period of publish_rate
                probe.report()
            assert len(probe.recognitions) == count
        assert len(probe.feed(views("mug", 3))) == 3


def test_a_lesson_under_way_is_answered_when_the_process_is_asked_to_end(start_node, tmp_path):
    node = start_node("object_recognition", model_file="objects", autosave_period=0.3, **SETTINGS)
    with RecognitionProbe() as probe:
        probe.connect()
        assert probe.teach("mug", views("mug", 5)).success
        probe.report(lambda values: values["model saved"] != "not yet", "of a saved model")
        future = probe.begin_lesson("duck", 1000, timeout=200.0)
        probe.feed(views("duck", 40))
        node.send_signal(signal.SIGHUP)  # the terminal was closed
        answer = probe.answer(future)
        assert not answer.success and "duck" in answer.message
    assert node.wait() == 0 and "Traceback" not in node.output
    assert read_model(tmp_path / "objects.npz")[1].statistics == {"objects": 1, "examples": 5}
    saved = (tmp_path / "objects.npz").stat().st_mtime_ns
    again = start_node("object_recognition", model_file="objects", **SETTINGS)
    again.wait_for("1 objects are known")
    with RecognitionProbe() as probe:
        probe.connect()
        probe.publish(views("mug", 1)[0], "another/network")
        probe.report(lambda values: "another/network" in values["last refusal"], "of another network")
    assert again.stop() == 0 and (tmp_path / "objects.npz").stat().st_mtime_ns == saved  # nothing new was learned
