"""`icub-learning demo`: a simulated iCub learns, live: the dynamics of its arm (8.4.3), then objects in its hand."""

import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

from icub_learning.reporting.tables import add_json_option, number, write_json

DESCRIPTION = "Simulate an iCub that learns its inverse dynamics, then objects; show how well it does."
EXAMPLE = """\
example:
  icub-learning demo --seconds 60 --output out/demo

The protocol is that of 8.4.3 of the thesis: the hand follows circles of 10 cm radius at 0.6 m/s, first in the XY plane,
then in the XZ plane, while P (rigid bodies), NP (random features) and SP (both) learn the wrench at the upper-arm
sensor from zero. While the arm changes over from one plane to the other they predict but do not learn.

Then objects are put into the other hand and taught by service calls, one after the other, and after each lesson unseen
views of all of them are asked for. Simulation and learners are processes of their own that talk over DDS."""

PARTS = ("all", "dynamics", "objects")

NODES = {"P": "inverse_dynamics_p", "NP": "inverse_dynamics_np", "SP": "inverse_dynamics_sp"}
ESTIMATORS = {"P": "parametric", "NP": "nonparametric", "SP": "semiparametric"}
SIMULATION = "icub_simulation"
PLANES = ("circle_xy", "circle_xz")
BAR = 10  # characters of the progress bar


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "--seconds", metavar="SECONDS", type=float, default=90.0, help="in each of the two planes (default: 90)"
    )
    parser.add_argument(
        "--views", metavar="N", type=int, default=20, help="unseen ones of each object after each lesson (default: 20)"
    )
    parser.add_argument("--part", choices=PARTS, default="all", help="all (default), or one of the two parts")
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        type=Path,
        default=Path("out/demo"),
        help="for pictures, figures and logs (out/demo)",
    )
    parser.add_argument("--domain", metavar="ID", type=int, help="ROS_DOMAIN_ID to use (default: one that nobody uses)")
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run the parts and report; the processes end with it, whatever happens."""
    from icub_learning.arrays import integer, real
    from icub_learning.clients.ros_domain import RosDomain
    from icub_learning.errors import ParameterError

    seconds, views = real("--seconds", args.seconds, 5.0, 3600.0), integer("--views", args.views, 1)
    if args.domain is not None and not 0 <= args.domain <= 232:
        raise ParameterError("--domain", args.domain, "within [0, 232]")
    try:
        (args.output / "log").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        bound = f"a folder that can be written ({error.strerror})"
        raise ParameterError("--output", str(args.output), bound) from error
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would start deaf to it
    began, figures, numbers = time.monotonic(), {}, args.json or args.output / "demo.json"
    with contextlib.ExitStack() as stack:
        domain = args.domain if args.domain is not None else stack.enter_context(RosDomain()).number
        environment = {
            "ROS_DOMAIN_ID": str(domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        os.environ.update(environment)
        if args.part != "objects":
            figures = _dynamics(environment, seconds, args.output)
            write_json(numbers, figures)
        if args.part != "dynamics":
            figures["objects"] = _objects(environment, views, args.output)
    figures["wall_s"] = time.monotonic() - began
    write_json(numbers, figures)
    print(f"""
figures     {numbers}
logs        {args.output / "log"}
next        icub-learning reproduce figure-8.4                  the experiment as in the thesis
            icub-learning launch objects, icub-learning teach   teach the simulated iCub yourself
            icub-learning launch robot robot:=icub_right_arm    on a real iCub; docs/launch.md

Done in {figures["wall_s"]:.0f} s.""")
    return 0


def commands() -> dict[str, list[str]]:
    """The command line of each process, by node name: the nodes of config/simulation.yaml, one for each estimator."""
    import yaml

    from icub_learning.cli.demo.report import RATE
    from icub_learning.launching.installation import share_folder

    config = share_folder() / "config" / "simulation.yaml"
    learner = yaml.safe_load(config.read_text(encoding="utf-8"))["inverse_dynamics"]["ros__parameters"]
    given = {"task": PLANES[0], "rate": RATE, "autostart": False}
    table = {SIMULATION: _node("icub_simulation", SIMULATION, given, ["--params-file", str(config)])}
    for short, name in NODES.items():
        table[name] = _node("inverse_dynamics", name, {**learner, "estimator": ESTIMATORS[short]}, [])
    return table


def _node(module: str, name: str, parameters: dict[str, Any], options: list[str]) -> list[str]:
    line = [sys.executable, "-m", f"icub_learning.nodes.{module}.node", "--ros-args", "-r", f"__node:={name}", *options]
    for parameter, value in parameters.items():
        line += ["-p", f"{parameter}:={json.dumps(value)}"]  # JSON is YAML, which ROS wants here
    return line


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _dynamics(environment: dict[str, str], seconds: float, folder: Path) -> dict[str, Any]:
    """Go through the protocol of 8.4.3, and report."""
    from icub_learning.cli.demo.protocol import CHANGEOVER, Protocol
    from icub_learning.clients.processes import Processes

    duration = 2 * seconds + CHANGEOVER
    print(f"A simulated iCub arm and three learners, {duration:.0f} s. Logs: {folder / 'log'}", flush=True)
    line = _Line()
    with contextlib.ExitStack() as stack:
        processes = stack.enter_context(Processes(folder / "log"))
        for name, command in commands().items():
            processes.start(name, command, environment)
        protocol = stack.enter_context(Protocol(processes, NODES, SIMULATION, line.show))
        monitor = protocol.monitor

        def follow(what: str, total: float) -> None:
            protocol.follow(total, lambda passed: _progress(monitor, what, passed, total))

        protocol.start()
        follow("XY circles", seconds)
        changeover = protocol.set_learning(False)
        protocol.set_task(PLANES[1])
        follow("changeover", CHANGEOVER)
        switch = protocol.set_learning(True)
        follow("XZ circles", seconds)
        protocol.finish()
        line.end()
    return _report(monitor, changeover, switch, folder)


def _objects(environment: dict[str, str], views: int, folder: Path) -> dict[str, Any]:
    """Teach objects, and report."""
    from icub_learning.cli.demo import objects as demo_objects
    from icub_learning.cli.demo import objects_picture as demo_objects_picture
    from icub_learning.cli.demo import objects_report as demo_objects_report
    from icub_learning.clients.processes import Processes

    began, line = time.monotonic(), _Line()
    print(f"\nThe same iCub is taught {len(demo_objects.OBJECTS)} objects, one after the other.", flush=True)
    with contextlib.ExitStack() as stack:
        processes = stack.enter_context(Processes(folder / "log"))
        for name, command in demo_objects.commands().items():
            processes.start(f"objects_{name}", command, environment)
        classroom = stack.enter_context(demo_objects.Classroom(processes, views, line.show))
        lessons = classroom.hold()
        line.end()
    figures = demo_objects_report.figures_of(lessons) | {"wall_s": time.monotonic() - began}
    picture = folder / "objects.png"
    demo_objects_picture.plot(picture, lessons)
    print(f"\n{demo_objects_report.text(figures)}\n\npicture     {picture}")
    return figures


def _report(monitor: Any, changeover: int, switch: int, folder: Path) -> dict[str, Any]:
    from icub_learning.cli.demo import picture as demo_picture
    from icub_learning.cli.demo import report as demo_report
    from icub_learning.clients import topic_statistics as heard

    series = {short: monitor.errors(short) for short in NODES}
    joint_states, wrenches = monitor.joint_states.arrays()[0], monitor.wrenches.arrays()[0]
    errors = {
        short: demo_report.errors_of(stamps, found, changeover, switch) for short, (stamps, found) in series.items()
    }
    figures = {
        "simulated": True,
        "machine": {"cores": os.cpu_count(), "load": os.getloadavg()[0]},
        "changeover_stamp_ns": changeover,
        "switch_stamp_ns": switch,
        "rmse": errors,
        "ratios": demo_report.ratios_of(errors),
        "expected_at_most": {name: entry[-1] for name, entry in demo_report.RATIOS.items()},
        "published": demo_report.PUBLISHED,
        "nodes": {
            short: heard.timing_of(joint_states, predictions.arrays()[0])
            for short, predictions in monitor.predictions.items()
        },
        "joint_states": heard.stream_of(joint_states),
        "wrenches": heard.stream_of(wrenches),
    }
    picture = folder / "demo.png"
    demo_picture.plot(picture, series, changeover, switch)
    print(f"\n{demo_report.text(figures)}\n\npicture     {picture}", flush=True)
    return figures


def _progress(monitor: Any, what: str, seconds: float, total: float) -> str:
    """One line: where it is, and the RMSE of the last three seconds."""
    from icub_learning.cli.demo.report import GROUPS, RATE, TRANSIENT, UNITS
    from icub_learning.evaluation.metrics import group_rmse

    errors = {short: monitor.errors(short, round(RATE * TRANSIENT))[1] for short in NODES}
    shown = [
        " ".join(f"{short} {number(group_rmse(error[:, axes]), 2):<5}" for short, error in errors.items())
        + UNITS[group]
        for group, axes in GROUPS.items()
    ]
    done = min(BAR, round(BAR * seconds / total))
    bar = "█" * done + "░" * (BAR - done)
    return f"{what:<10} {bar} {seconds:3.0f}/{total:.0f} s  RMSE {'  '.join(shown)}"


class _Line:
    """A line that is written over on a terminal; elsewhere written anew when it begins otherwise, or in ten seconds."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()
        self._beginning, self._written = "", 0.0

    def show(self, text: str) -> None:
        """Show `text` instead of what was there."""
        beginning, now = text.partition(" ")[0], time.monotonic()
        if self._terminal:
            room = shutil.get_terminal_size().columns - 1  # a line that wraps cannot be written over
            print(f"\r\x1b[K{text[:room]}", end="", flush=True)
        elif beginning != self._beginning or now - self._written >= 10.0:
            self._beginning, self._written = beginning, now
            print(text, flush=True)

    def end(self) -> None:
        """Leave the line as it is."""
        if self._terminal:
            print(flush=True)
