"""The demonstration of dynamics: its figures against loops, and a short complete run over DDS."""

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
from helpers.arm_steps import steps
from helpers.limits import set_limits
from helpers.processes import children_of
from helpers.ros_probe import RosProbe
from helpers.waiting import wait_until
from PIL import Image

from icub_learning.cli.demo import changes, dynamics, watching
from icub_learning.cli.main import main
from icub_learning.clients.polling import stream_of
from icub_learning.clients.processes import RosDomain
from icub_learning.errors import IcubLearningError
from icub_learning.evaluation.predict_then_learn import ESTIMATORS
from icub_learning.simulation import ArmSimulation, SimulationSettings

DEMO = (sys.executable, "-m", "icub_learning.cli", "demo")
SECOND = 10**9


def test_parts_of_the_run():
    stamps = np.arange(1, 301) * SECOND // 10  # 30 s at 10 Hz
    found = dynamics.parts(stamps, changeover=9 * SECOND + 1, switch=12 * SECOND)
    assert {part: (stamps[mask].min() / SECOND, stamps[mask].max() / SECOND) for part, mask in found.items()} == {
        "XY steady": (6.1, 9.0), "XZ first 30": (12.1, 15.0), "XZ first 3 s": (12.1, 15.0), "XZ steady": (24.1, 30.0),
    }  # fmt: skip
    slow = dynamics.parts(stamps[::2], changeover=9 * SECOND, switch=12 * SECOND)
    assert [int(slow[part].sum()) for part in ("XZ first 30", "XZ first 3 s")] == [30, 15]


def test_errors_and_their_ratios_are_those_of_a_loop():
    rng, stamps = np.random.default_rng(0), np.arange(1, 301) * SECOND // 10
    axes_differ = np.array([1.0, 5.0, 0.1, 2.0, 0.01, 1.0])  # scale of each axis: pooling the axes gives another mean
    scales = {"P": 3.0, "NP": 2.0, "SP": 1.0}
    errors = {short: axes_differ * rng.normal(0.0, scale, (300, 6)) for short, scale in scales.items()}
    found = {short: dynamics.errors_of(stamps, of, 9 * SECOND, 12 * SECOND) for short, of in errors.items()}

    def expected(short, first, last, axes):
        rows = [row for stamp, row in zip(stamps, errors[short], strict=True) if first < stamp / SECOND <= last]
        return np.mean([np.sqrt(np.mean([row[axis] ** 2 for row in rows])) for axis in axes])

    force, torque = (0, 1, 2), (3, 4, 5)
    assert found["P"]["torque"]["XZ first 30"] == pytest.approx(expected("P", 12, 15, torque))
    ratios = dynamics.ratios_of(found)
    for ratio, group, other, *part in (
        ("SP/P, steady", "torque", "P", 24, 30, torque), ("SP/NP, first 30", "force", "NP", 12, 15, force),
    ):  # fmt: skip
        assert ratios[ratio][group] == pytest.approx(expected("SP", *part) / expected(other, *part))
    never_came = dynamics.errors_of(stamps[:0], errors["SP"][:0], 9 * SECOND, 12 * SECOND)
    assert np.isnan(never_came["force"]["XZ steady"])


def test_the_hand_is_on_its_new_circle_after_the_changeover():
    changing, there = (ArmSimulation(SimulationSettings.without_effects(task=task)) for task in dynamics.PLANES)
    for simulation in (changing, there):
        steps(simulation, 950)  # [ms] time of the changeover, the slowest of five that were tried
    changing.set_task(dynamics.PLANES[1])
    for simulation in (changing, there):
        steps(simulation, round(dynamics.CHANGEOVER * 1000))
    np.testing.assert_allclose(changing.truth().position, there.truth().position, atol=1e-3)


def test_lost_messages_show_as_gaps():
    stamps = np.delete(np.arange(1, 101) * 5_000_000, [10, 50, 51])
    found = stream_of(np.column_stack([stamps] * 3))
    assert (found["messages"], found["lost"]) == (97, 3) and found["rate_hz"] == pytest.approx(96 / 0.495)


def test_every_estimator_has_a_node():
    session = pytest.importorskip("icub_learning.clients.arm_session")
    lines = session.commands("circle_xy", 200.0)
    assert set(lines) == {session.SIMULATION, *session.NODES.values()}
    given = {name: dict(part.split(":=", 1) for part in line if ":=" in part) for name, line in lines.items()}
    assert [json.loads(given[name]["estimator"]) for name in session.NODES.values()] == list(ESTIMATORS.values())
    assert len({given[name]["joints"] for name in session.NODES.values()}) == 1
    assert {given[name]["__node"] for name in lines} == set(lines)


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
        Image.new("RGB", (4, 4)).save(folder / "changes.png")
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
    with_page = how == "interrupt"
    options = ("--output", str(tmp_path / "out"), "--domain", str(ros_domain))
    process = start_process(*DEMO, *options, *(("--port", "0") if with_page else ("--no-view",)))
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
