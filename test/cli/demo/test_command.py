"""The demonstration: its figures against loops and counts by hand, and short complete runs over DDS."""

import json
import os
import re
import signal
import sys
from contextlib import ExitStack, nullcontext
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from helpers import records
from helpers.arm_steps import steps
from helpers.limits import set_limits
from helpers.node_settings import PARAMETERS
from helpers.processes import children_of
from helpers.ros_probe import RosProbe
from helpers.waiting import wait_until
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image as Picture
from sensor_msgs.msg import Image

from icub_learning.cli.demo import changes, dynamics, lessons, objects, watching
from icub_learning.cli.demo.lessons import OBJECTS, WINDOW, Lesson, RecognizedView
from icub_learning.cli.main import main
from icub_learning.clients import arm_session
from icub_learning.clients.processes import RosDomain
from icub_learning.errors import IcubLearningError
from icub_learning.evaluation.predict_then_learn import ESTIMATORS
from icub_learning.nodes.common.image_messages import image_message
from icub_learning.recognition.assembly import Settings
from icub_learning.simulation import ArmSimulation, ObjectScene, SimulationSettings
from icub_learning_msgs.msg import Recognition

SECOND = 10**9


def test_parts_of_the_run():
    stamps = np.arange(1, 301) * SECOND // 10  # 30 s at 10 Hz
    found = dynamics.parts(stamps, changeover=9 * SECOND + 1, switch=12 * SECOND)
    assert {part: (stamps[mask].min() / SECOND, stamps[mask].max() / SECOND) for part, mask in found.items()} == {
        "XY steady": (6.1, 9.0), "XZ first 30": (12.1, 15.0), "XZ first 3 s": (12.1, 15.0), "XZ steady": (24.1, 30.0),
    }  # fmt: skip
    slow = dynamics.parts(stamps[::2], changeover=9 * SECOND, switch=12 * SECOND)
    assert [int(slow[part].sum()) for part in ("XZ first 30", "XZ first 3 s")] == [30, 15]


def test_the_hand_is_on_its_new_circle_after_the_changeover():
    changing, there = (ArmSimulation(SimulationSettings.without_effects(task=task)) for task in dynamics.PLANES)
    for simulation in (changing, there):
        steps(simulation, 950)  # [ms] time of the changeover, the slowest of five that were tried
    changing.set_task(dynamics.PLANES[1])
    for simulation in (changing, there):
        steps(simulation, round(dynamics.CHANGEOVER * 1000))
    np.testing.assert_allclose(changing.truth().position, there.truth().position, atol=1e-3)


def test_every_estimator_has_a_node():
    lines, nodes = arm_session.commands("circle_xy", 200.0), arm_session.NODES.values()
    assert set(lines) == {arm_session.SIMULATION, *nodes}
    given = {name: dict(part.split(":=", 1) for part in line if ":=" in part) for name, line in lines.items()}
    assert [json.loads(given[name]["estimator"]) for name in nodes] == list(ESTIMATORS.values())
    assert len({given[name]["joints"] for name in nodes}) == 1
    assert {given[name]["__node"] for name in lines} == set(lines)


def test_the_arm_is_led_through_its_phases_and_what_was_seen_is_shown(tmp_path, monkeypatch, capsys):
    """A made-up session of 2 s in each plane: all that is printed, written and drawn is compared with its record."""
    stamps, rng = np.arange(1, 1601) * SECOND // 200, np.random.default_rng(0)
    times = stamps[:, None] + np.array([0, 1, 2]) * SECOND // 1000
    axes_differ = np.array([1.0, 5.0, 0.1, 2.0, 0.01, 1.0])  # scale of each axis: pooling the axes gives another mean
    scales = (("P", 3.0), ("NP", 2.0), ("SP", 1.0))
    errors = {short: axes_differ * rng.normal(0.0, scale, (1600, 6)) for short, scale in scales}
    late = times + np.outer(np.arange(1600), [0, 300, 700])
    streams = ((np.delete(times, [10, 50, 51], axis=0), 1), (times, 2), (late, 3))  # three joint states are lost
    states, session, processes = (Mock(arrays=Mock(return_value=(of[skip::skip], None))) for of, skip in streams)
    session.monitor = Mock(joint_states=states, wrenches=session, predictions=dict.fromkeys(errors, processes))
    session.monitor.errors = lambda short, newest=1600: (stamps[-newest:], errors[short][-newest:])
    monkeypatch.setattr(arm_session, "ArmSession", lambda _, nodes, show: nullcontext(session))
    monkeypatch.setattr("icub_learning.clients.processes.Processes", lambda folder: nullcontext(processes))
    session.follow = lambda total, show: print(total, show(0.3 * total), show(1.2 * total), sep="\n")
    session.set_learning = lambda learning: 8 * SECOND // 2 if learning else 2 * SECOND
    session.set_task = session.pause = print
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)
    for load in (2.0, 2.5):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 9.0, 9.0))
        with records.drawn() as shown:
            figures, text = dynamics.show(tmp_path, 2.0)
        printed = capsys.readouterr().out.replace(str(tmp_path), "out")
        assert text in printed
        begun = [call.args[0] for call in processes.start.call_args_list]
        records.check(__file__, f"made-up session, load {load}", [begun, figures, printed.splitlines(), shown])
        monkeypatch.setattr(dynamics.plots, "save", lambda *_: None)  # the second picture would be the same
    found = {short: np.sqrt(np.mean(of[800:830, 3:] ** 2, axis=0)).mean() for short, of in errors.items()}
    assert figures["rmse"]["P"]["torque"]["XZ first 30"] == pytest.approx(found["P"])
    assert figures["ratios"]["SP/NP, first 30"]["torque"] == pytest.approx(found["SP"] / found["NP"])
    assert np.isnan(dynamics.errors_of(stamps[:0], errors["SP"][:0], 9 * SECOND, 12 * SECOND)["force"]["XZ steady"])


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_overwritten_on_a_terminal_only(terminal, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setenv("COLUMNS", "10")
    monkeypatch.setattr(watching, "time", SimpleNamespace(monotonic=iter([1.0, 10.9, 11.0, 20.9, 21.0]).__next__))
    line = watching.StatusLine(tmp_path)
    for text in ("one by one", "one, then", "two is one", "two of two", "two or three"):
        line.show(text)
        assert (tmp_path / watching.STATUS).read_text() == text
    line.note("unseen")
    line.end()
    records.check(__file__, f"progress, {terminal}", capsys.readouterr().out.replace("\n", "/").split("\r"))


@pytest.fixture
def patient(monkeypatch):
    """Yield `main` with time limits of minutes; restore the signal handlers that a command sets."""
    set_limits(assign=monkeypatch.setattr)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield main
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("options", ["", "--domain 7", "--no-view", "--no-view --domain 0"])
def test_its_page_stays_for_a_person_at_a_terminal(options, terminal, tmp_path, patient, monkeypatch, capsys):
    def show(folder):
        Picture.new("RGB", (4, 4)).save(folder / "changes.png")
        return {"domain": os.environ["ROS_DOMAIN_ID"]}, "what was seen"

    monkeypatch.setattr(changes, "show", show)
    monkeypatch.setattr(watching, "page", lambda *_: nullcontext("http://its.page/"))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: terminal))
    monkeypatch.setattr(signal, "pause", pause := Mock(side_effect=KeyboardInterrupt))
    folder = tmp_path / "new" / "out"
    (folder / "log" if terminal else tmp_path / "other").mkdir(parents=True)  # it ran before, or did not
    assert patient(["demo", "--part", "changes", *options.split(), "--output", str(folder)]) == 0
    stays = "http://its.page/ until Ctrl-C" in capsys.readouterr().out
    assert pause.called == stays == (terminal and "--no-view" not in options)
    figures = json.loads((folder / "demo.json").read_text())
    given, found = re.search(r"\d+|$", options)[0], figures["changes"]["domain"]
    assert figures.keys() == {"changes", "wall_s"} and (found == given if given else int(found) in range(1, 102))
    report = (folder / "report.html").read_text()
    assert all(part in report for part in (">Loads and pushes</h2>", "<pre>what was seen</pre>", 'alt="changes"'))


@pytest.mark.ros
@pytest.mark.xdist_group("alone")
@pytest.mark.parametrize(("seconds", "rate"), [(5, 20.0), pytest.param(8, dynamics.RATE, marks=pytest.mark.slow)])
def test_the_whole_of_the_dynamics(seconds, rate, tmp_path, patient, monkeypatch, ros_domain, capfd):
    monkeypatch.setattr(dynamics, "RATE", rate)
    options = ("--part", "dynamics", "--seconds", str(seconds), "--domain", str(ros_domain), "--no-view")
    assert patient(["demo", *options, "--output", str(tmp_path / "out")]) == 0
    shown = capfd.readouterr().out
    assert "SIMULATED" in shown and "XZ circles" in shown
    assert "XZ steady" in (tmp_path / "out" / "report.html").read_text()
    figures = json.loads((tmp_path / "out" / "demo.json").read_text())
    errors = figures["rmse"]
    assert set(errors) == set(figures["nodes"]) == {"P", "NP", "SP"}
    assert errors["SP"]["force"]["XZ steady"] < errors["P"]["force"]["XZ steady"]
    assert all(np.isfinite(list(parts.values())).all() for groups in errors.values() for parts in groups.values())
    assert figures["switch_stamp_ns"] - figures["changeover_stamp_ns"] >= dynamics.CHANGEOVER * SECOND
    states = figures["joint_states"]
    assert states["messages"] + states["lost"] >= (2 * seconds + dynamics.CHANGEOVER) * rate
    for node in figures["nodes"].values():
        assert node["predicted_twice"] == 0
        # The monitor does not know the stamps of joint states that it missed itself.
        assert node["predictions_of_unknown_stamp"] <= states["lost"]
    assert (tmp_path / "out" / "demo.png").stat().st_size > 20_000
    logs = [log.read_text() for log in tmp_path.glob("out/log/inverse_dynamics_*.log")]
    assert len(logs) == 3 and "Traceback" not in "".join(logs)


def test_a_domain_that_is_held_or_has_nodes_in_it_is_not_taken(ros_domain, monkeypatch):
    with ExitStack() as nodes:
        with RosDomain() as free:
            assert free.number != ros_domain
            # DDSI-RTPS 2.2, 9.6.1.1: each domain has 250 ports; its first participant's are 10 and 11.
            assert free.ports == range(7411 + 250 * free.number, 7650 + 250 * free.number)
            monkeypatch.setattr("icub_learning.clients.processes.DOMAINS", [free.number])
            monkeypatch.setenv("ROS_DOMAIN_ID", str(free.number))
            nodes.enter_context(RosProbe())
        with pytest.raises(IcubLearningError, match="in use"):
            RosDomain()


@pytest.mark.check
@pytest.mark.xdist_group("alone")
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", ["interrupt", "terminate", "a child dies"])
def test_whatever_ends_it_ends_its_processes(how, tmp_path, start_process, ros_domain):
    with_page, program = how == "interrupt", (sys.executable, "-m", "icub_learning.cli", "demo")
    options = ("--output", str(tmp_path / "out"), "--domain", str(ros_domain))
    process = start_process(*program, *options, *(("--port", "0") if with_page else ("--no-view",)))
    process.wait_for("waiting for|XY circles")
    children = children_of(process.pid)
    assert len(children) == 4 + with_page
    if with_page:
        address = re.search(r"Watch it in a browser: (http://127\.0\.0\.1:\d+/)", process.output)[1]
        wait_until(lambda: f"page: {address}" in (tmp_path / "out" / "log" / "view.log").read_text(), "the page")
    if how == "a child dies":
        os.kill(children[1], signal.SIGKILL)
        code, said = 2, r"inverse_dynamics_p ended by itself: signal SIGKILL; its log: .*inverse_dynamics_p\.log"
    else:
        process.send_signal(signal.SIGINT if how == "interrupt" else signal.SIGTERM)
        code, said = 130, "interrupted"
    assert process.wait() == code and re.search(said, process.output)
    assert "Traceback" not in process.output + "".join(log.read_text() for log in tmp_path.glob("out/log/*.log"))
    assert not [child for child in children if Path(f"/proc/{child}").exists()]


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


def test_figures_table_and_picture_are_those_of_counting_by_hand(tmp_path):
    figures = lessons.figures_of(taught())
    counted = [[list(lesson["accuracy"].values()), lesson["accuracy_of_all"]] for lesson in figures["lessons"]]
    assert counted == [[[0.75], 0.75], [[0.5, 0.5], 0.5]] and figures["lessons"][1]["unknown"] == pytest.approx(1 / 6)
    with records.drawn() as shown:
        lessons.draw(tmp_path / "objects.png", taught())
    records.check(__file__, "lessons", [figures, lessons.text(figures).splitlines(), shown])


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
    assert process.wait() == 0 and "SIMULATED" in process.output, process.output
    figures = json.loads((tmp_path / "out" / "demo.json").read_text())["objects"]
    assert [lesson["object"] for lesson in figures["lessons"]] == list(OBJECTS)
    assert figures["wall_s"] > sum(lesson["seconds"] for lesson in figures["lessons"]) > 0.0
    assert [lesson["views_taught"] for lesson in figures["lessons"]] == [20] * 5 + [3]
    fifth, last = figures["lessons"][-2:]
    assert fifth["accuracy_of_all"] >= lessons.EXPECTED
    assert last["accuracy_of_all"] >= 0.85 and last["accuracy"][OBJECTS[-1]] >= lessons.EXPECTED_FEW  # of five views
    assert (tmp_path / "out" / "objects.png").stat().st_size > 100_000
    assert not any("Traceback" in log.read_text() for log in tmp_path.glob("out/log/*.log"))
