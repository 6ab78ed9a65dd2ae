"""`icub-learning teach`: where images come from, how they are shown, and the whole dialogue with a node that learns."""

import io
import json
import os
import re
import select
import shlex
import signal
import sys
from itertools import count, product
from pathlib import Path
from unittest.mock import Mock

import cv2
import numpy as np
import pytest
from helpers import records
from helpers.limits import set_limits
from helpers.own_package import write_own_package
from helpers.waiting import PATIENCE

from icub_learning.cli.common.image_sources import open_source, read_image, write_image
from icub_learning.cli.main import main
from icub_learning.cli.teach import dialogue
from icub_learning.cli.teach.robot import Robot
from icub_learning.errors import ParameterError
from icub_learning_msgs.msg import Detection, Detections, Recognition
from icub_learning_msgs.srv import ListObjects, TeachDetection

TEACH = (sys.executable, "-m", "icub_learning.cli", "teach")
COLOURS = {"red": (220, 20, 30), "green": (20, 200, 40), "blue": (10, 30, 210)}


def picture(colour, seed=0):
    noise = np.random.default_rng(seed).integers(-10, 10, (24, 32, 3))
    return np.clip(np.array(COLOURS[colour]) + noise, 0, 255).astype(np.uint8)


def test_pictures_are_written_as_they_are_and_a_folder_gives_them_by_name_again_and_again(tmp_path):
    for name, colour in (("b.png", "green"), ("a.png", "red"), ("c.bmp", "blue")):
        write_image(tmp_path / "new" / name, picture(colour))
    for name in ("notes.txt", "._a.png"):
        (tmp_path / "new" / name).write_text("no picture")
    (tmp_path / "new" / "sub.png").mkdir()
    with open_source(str(tmp_path / "new"), 5.0) as source:
        assert [file.name for file in source.files] == ["a.png", "b.png", "c.bmp"] and source.period == 0.2
        for colour in ("red", "green", "blue", "red"):
            np.testing.assert_array_equal(source.read(), picture(colour))
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "new" / "a.png"))[:, :, ::-1], picture("red"))
    with pytest.raises(ParameterError):
        write_image(Path("/dev/null/frame.png"), picture("blue"))


@pytest.mark.parametrize("text", ["none", "empty", "damaged", "cut", "/dev/video99", "/dev/null"])
def test_sources_that_give_no_images_are_refused(text, tmp_path):
    for folder in ("empty", "damaged", "cut"):
        (tmp_path / folder).mkdir()
    (tmp_path / "damaged" / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n and then nothing")
    whole = cv2.imencode(".jpg", np.random.default_rng(0).integers(0, 255, (99, 99, 3), np.uint8))[1].tobytes()
    (tmp_path / "cut" / "bad.jpg").write_bytes(whole[: len(whole) // 2])
    named = {"damaged": "bad.png", "cut": "bad.jpg"}.get(text, text)
    with pytest.raises(ParameterError, match=named), open_source(str(tmp_path / text), 10.0) as source:
        source.read()


def test_a_camera_is_read_in_rgb_and_given_back(monkeypatch):
    monkeypatch.setattr("icub_learning.cli.common.image_sources.cv2.VideoCapture", opened := Mock())
    opened.return_value.read.side_effect = [(True, picture("red")[:, :, ::-1]), (False, None)]
    with open_source("/dev/video7", 30.0) as camera:
        opened.assert_called_once_with("/dev/video7", cv2.CAP_V4L2)
        assert camera.period == pytest.approx(1 / 30) and camera.files == ()
        opened.return_value.set.assert_called_once_with(cv2.CAP_PROP_BUFFERSIZE, 1)  # the newest image is read
        np.testing.assert_array_equal(camera.read(), picture("red"))
        with pytest.raises(ParameterError, match="/dev/video7"):
            camera.read()
        opened.return_value.release.assert_not_called()
    opened.return_value.release.assert_called_once_with()


def test_lines_are_taken_as_they_come(monkeypatch):
    reader, writer = os.pipe()
    monkeypatch.setattr(dialogue.sys, "stdin", io.TextIOWrapper(os.fdopen(reader, "rb")))
    look, limits, keys = select.select, set(), dialogue.Keyboard()
    monkeypatch.setattr(select, "select", lambda *given: limits.add(given[3]) or look(*given[:3], 0))
    assert not keys.ready()
    os.write(writer, b" mug \n\ndu")
    assert all(keys.ready() and keys.line() == expected for expected in ("mug", ""))
    assert not keys.ready()
    os.write(writer, b"ck")
    os.close(writer)
    assert all(keys.ready() and keys.line() == expected for expected in ("duck", None))
    assert limits == {0}  # no look waits: images are published meanwhile


def test_lists_show_what_is_asked_for_and_the_least_surely_known_first_and_recognitions_the_highest_scores():
    known = ListObjects.Response(labels=[f"mug {k}" for k in range(100)] + ["Duck"], counts=range(101))
    known.recall = [k / 100 for k in range(100)] + [float("nan")]
    asked = (known, ""), (known, "duck"), (ListObjects.Response(), "")
    records.check(__file__, "lists", [dialogue.listing(*given).split("\n") for given in asked])
    scores = {"labels": ["a", "b", "c", "d"], "scores": [0.25, 0.5, -0.25, 0.375], "confidence": 0.75}
    new = Recognition(label="unknown", nearest="b", typicality=0.125, **scores)
    seen = (None, Recognition(), Recognition(label="b", **scores), new)
    records.check(__file__, "recognitions", [dialogue.describe(one) for one in seen])


def test_a_detector_is_taught_and_what_it_finds_is_told_before_and_after(capsys):
    likely, other = ({"label": label, "box": [1.0, 2.4, 30.0, 40.0]} for label in ("duck", "mug"))
    seen, robot = Detections(detections=[Detection(**likely, score=0.0), Detection(**other, score=-0.01)]), Mock()
    robot.found_after.side_effect = [None, seen, seen, Detections(detections=seen.detections[1:])]
    told = {"success": True, "message": "learned it", "n_frames": 7}
    robot.call.return_value = answer = TeachDetection.Response(**told)
    assert dialogue.teach_detection(robot, "duck", 200.0, "motion", None) == {"label": "duck", **told}
    (kind, _, limit), given = robot.call.call_args
    assert kind is TeachDetection and given == {"label": "duck", "seconds": 200.0, "source": "motion", "box": []}
    assert limit > 200.0  # it computes after these
    answer.success, answer.message = False, "too few frames"
    assert not dialogue.teach_detection(robot, "mug", 2.5, "box", [1.0, 2.0, 3.0, 4.0])["success"]
    assert robot.call.call_args.kwargs["box"] == [1.0, 2.0, 3.0, 4.0]
    assert [one.args for one in robot.found_after.call_args_list] == [(1, 5.0), (2, 5.0)] * 2
    records.check(__file__, "detections", capsys.readouterr().out.splitlines())


def test_each_picture_of_a_folder_is_shown_once_to_a_node_that_answers_slowly(tmp_path):
    node, looks, seen = Mock(), count(), []
    answers, publish = node.create_subscription, node.create_publisher.return_value.publish

    def handle(*_):  # as a node that looks at the newest image from time to time, and repeats its answers
        if publish.called and next(looks) % 4 == 3 and publish.call_args.args[0] not in seen:
            seen.append(publish.call_args.args[0])
        for image in seen[-1:]:
            answers.call_args.args[2](Recognition(header=image.header))

    for number in range(5):
        write_image(tmp_path / f"{number}.png", np.full((1, 1, 3), number, np.uint8))
    with open_source(str(tmp_path), 1000.0) as source:
        assert Robot((node, handle, lambda: False), "/node", "image", source).wait(lambda: len(seen) > 11, PATIENCE)
    assert [image.data[0] for image in seen] == [number % 5 for number in range(12)]


@pytest.mark.ros
def test_a_robot_is_taught_in_a_dialogue_then_by_folders_until_it_is_interrupted(
    start_node, start_process, tmp_path, checkout, capfd, monkeypatch, request
):
    def type_in(*lines):
        (file := tmp_path / "typed").write_text("\n".join(lines))
        monkeypatch.setattr(dialogue.sys, "stdin", file.open())
        request.addfinalizer(dialogue.sys.stdin.close)

    set_limits(assign=monkeypatch.setattr)
    write_own_package(checkout, tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)  # the folder from which a node imports the package
    features = start_node("cnn_features", features="my_package.features.ColourGrid")
    start_node("object_recognition", smoothing_window=2).wait_for("no objects are known")
    features.wait_for("features from colour grid")
    folders = {colour: str(tmp_path / colour) for colour in ("red", "green")}
    for colour, number in product(folders, range(5)):
        write_image(tmp_path / colour / f"{number}.png", picture(colour, number))
    camera = ["--source", folders["red"], "--output", str(tmp_path / "camera"), "--rate", "50"]
    type_in()
    assert main(["teach", *camera]) == 0  # the input ends before any answer
    # The robot's own images come from another command, which waits for an answer.
    shows = start_process("sh", "-c", f"tail -f /dev/null | {shlex.join([*TEACH, *camera])}")
    shows.wait_for("What is it")
    type_in("tomato", "", ":list", ":what", "unknown", ":forget tomato", ":quit")
    asked = ["--frames", "4", "--timeout", "200", "--output", str(tmp_path / "out")]
    assert main(["teach", *asked]) == 1  # one lesson failed: nothing may be called unknown
    shows.stop(signal.SIGKILL)  # ends the shell and the other processes of its group
    shown = capfd.readouterr().out
    for expected in (
        "The robot knows no object yet", "learned 4 frames of 'tomato'",
        r"The robot says: tomato \(confidence [01]\.\d\d; scores: tomato", "1 of 1 objects, least surely known first",
        "4 frames  tomato", ":what is none of", "Not learned: label is 'unknown'", "forgot 'tomato'",
    ):  # fmt: skip
        assert re.search(expected, shown), f"{expected}\n{shown}"
    np.testing.assert_allclose(read_image(tmp_path / "out" / "frame.png").mean((0, 1)), COLOURS["red"], atol=3)
    figures = tmp_path / "figures.json"
    options = ["--timeout", "200", "--output", str(tmp_path / "out"), "--json", str(figures), "--rate", "50"]
    for colour, folder in folders.items():
        assert main(["teach", "--source", folder, "--label", colour, *options]) == 0
        assert re.search(f"learned 5 frames of '{colour}'(?s:.*)The robot says: {colour}", capfd.readouterr().out)
        (lesson,) = json.loads(figures.read_text())["lessons"]
        assert (lesson["success"], lesson["n_examples"], lesson["says"]["label"]) == (True, 5, colour)
    lesson = start_process(*TEACH, "--source", folders["red"], "--label", "red", "--frames", "1000", *options)
    lesson.wait_for("turn it")
    assert lesson.stop(signal.SIGINT) == 130 and "interrupted" in lesson.output and "Traceback" not in lesson.output
    (tmp_path / "green" / "9.png").write_bytes((tmp_path / "green" / "0.png").read_bytes()[:-40])  # after five whole
    assert main(["teach", "--source", folders["green"], "--label", "lime", *options]) == 2
    shown = capfd.readouterr()
    assert "9.png" in shown.err and "launch" not in shown.err
    assert ("the lesson is undone" in shown.out) == ("Learning" in shown.out)  # it may be read before the lesson begins
    assert main(["teach", "--source", folders["red"], "--label", "lime", "--frames", "2", *options]) == 0
    assert main(["teach", "--label", "\udcff"]) == 2
