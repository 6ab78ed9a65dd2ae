"""The demonstration of objects: its figures against counting by hand, its picture, and the whole of it in short."""

import json
import sys

import numpy as np
import pytest
from helpers.node_settings import PARAMETERS

from icub_learning.cli.demo import lessons
from icub_learning.cli.demo.lessons import OBJECTS, WINDOW, Lesson, RecognizedView
from icub_learning.cli.demo.objects import PARAMETERS as DEMO_PARAMETERS
from icub_learning.errors import IcubLearningError
from icub_learning.recognition.assembly import Settings
from icub_learning.simulation.objects.scene import ObjectScene

DEMO = (sys.executable, "-m", "icub_learning.cli", "demo", "--no-view", "--part", "objects")


def view(shown, label, known):
    image = np.full((20, 20, 3), 100, np.uint8)
    return RecognizedView(shown, image, label, 0.7, {name: float(name == label) for name in known})


def taught():
    """Two lessons; of the duck 3 of 4 views are named right, then 2; of the mug 1 of 2."""
    first = Lesson("duck", 20, 1.0, [view("duck", "unknown", [])] * 4, [view("duck", "duck", ["duck"])] * 20)
    first.views = {"duck": [view("duck", label, ["duck"]) for label in ("duck", "duck", "unknown", "duck")]}
    both = ["duck", "mug"]
    second = Lesson("mug", 3, 0.5, [view("mug", label, ["duck"]) for label in ("duck", "unknown")])
    second.taught = [view("mug", "mug", both)] * 3
    second.views = {
        "duck": [view("duck", label, both) for label in ("mug", "duck", "unknown", "duck")],
        "mug": [view("mug", label, both) for label in ("mug", "duck")],
    }
    return [first, second]


def test_figures_are_those_of_counting_by_hand():
    first, second = lessons.figures_of(taught())["lessons"]
    assert (first["unknown_before"], second["unknown_before"]) == (1.0, 0.5)
    assert first["accuracy"] == {"duck": 0.75}
    assert second["accuracy"] == {"duck": 0.5, "mug": 0.5}
    assert (first["accuracy_of_all"], second["accuracy_of_all"]) == (0.75, 0.5)
    assert (first["unknown"], second["unknown"]) == (0.25, pytest.approx(1 / 6))
    assert second["unseen_views"] == {"duck": 4, "mug": 2}


def test_the_table_has_a_row_for_each_lesson():
    shown = lessons.text(lessons.figures_of(taught()))
    rows = [line.split() for line in shown.splitlines() if line[:2] in ("1 ", "2 ")]
    assert rows == [["1", "duck", "20", "1.0", "100", "75", "75"], ["2", "mug", "3", "0.5", "50", "50", "50", "50"]]
    assert "after all lessons 50 % of 6 unseen views" in shown
    assert "of mug, taught with 3 views, 50 %" in shown


def test_the_picture_is_written(tmp_path):
    lessons.draw(tmp_path / "objects.png", taught())
    assert (tmp_path / "objects.png").stat().st_size > 20_000


def test_parameters_and_objects_are_those_of_the_nodes():
    for node, given in DEMO_PARAMETERS.items():
        table = {setting.name: setting for setting in PARAMETERS[node]}
        for name, value in given.items():
            assert type(value) is type(table[name].default), name
            table[name].validate(value)
    assert Settings().smoothing_window == WINDOW


@pytest.mark.ros
@pytest.mark.slow
@pytest.mark.xdist_group("alone")
def test_the_whole_of_it(tmp_path, start_process, ros_domain):
    try:
        ObjectScene(OBJECTS).close()
    except IcubLearningError as error:
        pytest.skip(str(error))
    process = start_process(*DEMO, "--views", "5", "--output", str(tmp_path / "out"), "--domain", str(ros_domain))
    assert process.wait() == 0, process.output
    assert "SIMULATED" in process.output
    figures = json.loads((tmp_path / "out" / "demo.json").read_text())["objects"]
    assert [lesson["object"] for lesson in figures["lessons"]] == list(OBJECTS)
    assert [lesson["views_taught"] for lesson in figures["lessons"]] == [20] * 5 + [3]
    fifth, last = figures["lessons"][-2:]
    assert fifth["accuracy_of_all"] >= lessons.EXPECTED
    assert last["accuracy_of_all"] >= 0.85  # of five views each
    assert (tmp_path / "out" / "objects.png").stat().st_size > 100_000
    assert not any("Traceback" in log.read_text() for log in tmp_path.glob("out/log/*.log"))
