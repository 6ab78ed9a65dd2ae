"""The demonstration of objects: its figures against counts by hand, its picture, and a short complete run."""

import json
import sys
from contextlib import nullcontext
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from helpers.node_settings import PARAMETERS
from sensor_msgs.msg import Image

from icub_learning.cli.demo import lessons, objects
from icub_learning.cli.demo.lessons import OBJECTS, WINDOW, Lesson, RecognizedView
from icub_learning.errors import IcubLearningError
from icub_learning.nodes.common.image_messages import image_message
from icub_learning.recognition.assembly import Settings
from icub_learning.simulation.objects.scene import ObjectScene
from icub_learning_msgs.msg import Recognition


def views(shown, labels, known):
    image = np.full((20, 20, 3), 100, np.uint8)
    return [RecognizedView(shown, image, one, 0.7, {name: float(name == one) for name in known}) for one in labels]


def taught():
    """Return two lessons: 3 of 4 views of the duck are named correctly, then 2 of 4, and 1 of 2 views of the mug."""
    one, both = ["duck"], ["duck", "mug"]
    first = Lesson("duck", 20, 1.0, views("duck", ["unknown"] * 4, []), views("duck", one * 20, one))
    first.views = {"duck": views("duck", ["duck", "duck", "unknown", "duck"], one)}
    second = Lesson("mug", 3, 0.5, views("mug", ["duck", "unknown"], one), views("mug", ["mug"] * 3, both))
    second.views = {
        "duck": views("duck", ["mug", "duck", "unknown", "duck"], both), "mug": views("mug", ["mug", "duck"], both),
    }  # fmt: skip
    return [first, second]


def test_figures_and_table_are_those_of_counting_by_hand():
    figures = lessons.figures_of(taught())
    assert figures["simulated"] and figures["lessons"] == [
        {"object": "duck", "views_taught": 20, "seconds": 1.0, "unknown_before": 1.0, "unknown": 0.25,
         "unseen_views": {"duck": 4}, "accuracy": {"duck": 0.75}, "accuracy_of_all": 0.75},
        {"object": "mug", "views_taught": 3, "seconds": 0.5, "unknown_before": 0.5, "unknown": pytest.approx(1 / 6),
         "unseen_views": {"duck": 4, "mug": 2}, "accuracy": {"duck": 0.5, "mug": 0.5}, "accuracy_of_all": 0.5},
    ]  # fmt: skip
    shown = lessons.text(figures)
    rows = [line.split() for line in shown.splitlines() if line[:2] in ("1 ", "2 ")]
    assert rows == [["1", "duck", "20", "1.0", "100", "75", "75"], ["2", "mug", "3", "0.5", "50", "50", "50", "50"]]
    assert "after all lessons 50 % of 6 unseen views" in shown and "of mug, taught with 3 views, 50 %" in shown


@pytest.mark.usefixtures("recorded")
def test_the_picture_is_written(tmp_path):
    lessons.draw(tmp_path / "objects.png", taught())


def test_parameters_and_objects_are_those_of_the_nodes():
    for node, given in objects.PARAMETERS.items():
        table = {setting.name: setting for setting in PARAMETERS[node]}
        for name, value in given.items():
            assert type(value) is type(table[name].default), name
            table[name].validate(value)
    assert Settings().smoothing_window == WINDOW


def test_views_count_from_the_first_whose_average_holds_the_shown_object_alone(monkeypatch):
    node, executor, hand, asked = Mock(), Mock(), [""], ["", ""]
    monkeypatch.setattr("icub_learning.clients.session.executed_node", lambda _: nullcontext((node, executor)))
    monkeypatch.setattr(objects, "OBJECTS", ("duck", "mug"))
    session = objects.ObjectSession(Mock(), 2, print)
    heard = {kind: callback for kind, _, callback, _ in (call.args for call in node.create_subscription.call_args_list)}

    def move(timeout_sec=0.0):
        """Publish image k of what was in the hand one image ago, and the recognition of the image before it."""
        k = len(hand)
        hand.append(asked[0])
        asked[0] = asked[1]
        heard[Image](image_message(np.full((1, 1, 3), k, np.uint8), k * 10**9, ""))
        recognized = Recognition(label=hand[k - 1], labels=["duck", "mug"], scores=[0.25, k / 256])
        recognized.header.stamp.sec = k - 1
        heard[Recognition](recognized)

    def call(kind, *_, name="", n_frames=0, **__):
        asked[1] = name or asked[1]
        for _ in range(n_frames):
            move()
        return SimpleNamespace(success=len(hand) < 100, message="it is tired")

    executor.spin_once = move
    monkeypatch.setattr(session.services, "call", call)
    with session:
        duck, mug = session.teach_all()
        hand += [""] * 100
        with pytest.raises(IcubLearningError, match="show_object refused: it is tired"):
            session.teach_all()
    assert [*map(len, (duck.before, mug.before, duck.taught, mug.taught, *mug.views.values()))] == [10, 10, 20, 3, 2, 2]
    for label, views in (("duck", duck.before), ("mug", mug.before), *mug.views.items()):
        numbers = [int(view.image[0, 0, 0]) for view in views]
        assert all(set(hand[k + 1 - WINDOW : k + 1]) == {label} for k in numbers)
        assert hand[numbers[0] - WINDOW] != label  # no more is left out
        seen = [(one.shown, one.label, one.scores["mug"] * 256) for one in views]
        assert seen == [(label, label, k + 1) for k in numbers]


@pytest.mark.ros
@pytest.mark.xdist_group("alone")
def test_the_whole_of_it(tmp_path, start_process, ros_domain):
    try:
        ObjectScene(OBJECTS).close()
    except IcubLearningError as error:
        pytest.skip(str(error))
    line = f"demo --no-view --part objects --views 5 --output {tmp_path / 'out'} --domain {ros_domain}"
    process = start_process(sys.executable, "-m", "icub_learning.cli", *line.split())
    assert process.wait() == 0, process.output
    assert "SIMULATED" in process.output
    figures = json.loads((tmp_path / "out" / "demo.json").read_text())["objects"]
    assert [lesson["object"] for lesson in figures["lessons"]] == list(OBJECTS)
    assert [lesson["views_taught"] for lesson in figures["lessons"]] == [20] * 5 + [3]
    fifth, last = figures["lessons"][-2:]
    assert fifth["accuracy_of_all"] >= lessons.EXPECTED
    assert last["accuracy_of_all"] >= 0.85 and last["accuracy"][OBJECTS[-1]] >= lessons.EXPECTED_FEW  # of five views
    assert (tmp_path / "out" / "objects.png").stat().st_size > 100_000
    assert not any("Traceback" in log.read_text() for log in tmp_path.glob("out/log/*.log"))
