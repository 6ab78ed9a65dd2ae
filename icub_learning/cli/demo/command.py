"""`icub-learning demo`: a simulated iCub learns its inverse dynamics, then objects, live."""

import argparse
import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icub_learning.cli.demo.status_line import StatusLine
from icub_learning.reporting.tables import add_json_option, add_value, number, write_json

if TYPE_CHECKING:  # loaded when the command runs: help appears at once
    from icub_learning.clients.polling import PredictionMonitor

DESCRIPTION = "Simulate an iCub that learns its inverse dynamics, then objects; show how well it does."
EXAMPLE = """\
example:
  icub-learning demo --seconds 60 --output out/demo

The protocol is that of 8.4.3 of the thesis: the hand follows circles of 10 cm radius at 0.6 m/s, first in the XY plane,
then in the XZ plane, while P (rigid bodies), NP (random features) and SP (both) learn the wrench at the upper-arm
sensor from zero. While the arm changes over from one plane to the other they predict but do not learn.

Then objects are put into the other hand and taught by service calls, one after the other, and after each lesson unseen
views of all of them are asked for. Simulation and learners are processes of their own that talk over DDS.

At last, in one process and faster than real time, the arm grasps a load while it moves, drops it, and is pushed."""

PARTS = ("all", "dynamics", "objects", "changes")
PLANES = ("circle_xy", "circle_xz")
# [s] of simulated time; the simulation changes over at 0.7 rad/s, which from one circle to the other takes 2.0 to 3.5 s
CHANGEOVER = 4.0
BAR = 10  # characters of the progress bar


def add_options(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "--seconds", 90.0, "simulated time in each of the two planes", "SECONDS")
    add_value(parser, "--views", 20, "unseen views of each object after each lesson", "N")
    parser.add_argument("--part", choices=PARTS, default="all", help="all (default), or one of the three parts")
    add_value(parser, "--output", Path("out/demo"), "for pictures, figures and logs", "FOLDER")
    parser.add_argument("--no-view", dest="view", action="store_false", help="serve no page to watch it in a browser")
    parser.add_argument("--port", metavar="N", type=int, default=8080, help="of the page, or the next free one")
    parser.add_argument("--domain", metavar="ID", type=int, help="ROS_DOMAIN_ID (default: one that is not in use)")
    add_json_option(parser)


def run(args: argparse.Namespace) -> None:
    from icub_learning.arrays import integer, real
    from icub_learning.cli.demo import changes, objects_report, report, watching
    from icub_learning.cli.report import Block, write_report
    from icub_learning.clients.processes import RosDomain
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
    began, figures, blocks, folder = time.monotonic(), {}, [], args.output
    numbers, line = args.json or folder / "demo.json", StatusLine(folder)
    with contextlib.ExitStack() as stack:
        domain = args.domain if args.domain is not None else stack.enter_context(RosDomain()).number
        environment = {
            "ROS_DOMAIN_ID": str(domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        os.environ.update(environment)
        page = stack.enter_context(watching.Page(args.output, args.port, environment)) if args.view else None
        if args.part in ("all", "dynamics"):
            figures = _dynamics(environment, seconds, folder)
            blocks.append(Block("Inverse dynamics", report.text(figures), [folder / "demo.png"]))
            write_json(numbers, figures)
        if args.part in ("all", "objects"):
            figures["objects"] = _objects(environment, views, folder)
            blocks.append(Block("Objects", objects_report.text(figures["objects"]), [folder / "objects.png"]))
        if args.part in ("all", "changes"):
            line.note("a load is grasped and dropped, and a hand pushes: faster than real time, not live")
            figures["changes"] = changes.show(folder)
            blocks.append(Block("Loads and pushes", changes.text(figures["changes"]), [folder / "changes.png"]))
        figures["wall_s"] = time.monotonic() - began
        write_json(numbers, figures)
        line.note(f"done in {figures['wall_s']:.0f} s")
        write_report(folder / "report.html", "A simulated iCub learns its arm and objects, live", blocks)
        print(
            f"""
figures: {numbers}
logs: {folder / "log"}
next: icub-learning view                                  any running nodes as a page, to see and to teach
      icub-learning reproduce figure-8.4                  the experiment as in the thesis
      icub-learning launch objects, icub-learning teach   teach the simulated iCub yourself
      icub-learning launch robot robot:=icub_right_arm    on a real iCub; docs/launch.md

Done in {figures["wall_s"]:.0f} s.""",
            flush=True,
        )
        if page is not None and sys.stdin.isatty():
            page.wait()


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _dynamics(environment: dict[str, str], seconds: float, folder: Path) -> dict[str, Any]:
    """Go through the protocol of 8.4.3, print the figures and draw the picture; return the figures."""
    from icub_learning.cli.demo import picture, report
    from icub_learning.clients.arm_session import NODES, ArmSession, commands
    from icub_learning.clients.polling import stream_of, timing_of
    from icub_learning.clients.processes import Processes

    duration = 2 * seconds + CHANGEOVER
    print(f"A simulated iCub arm and three learners, {duration:.0f} s. Logs: {folder / 'log'}", flush=True)
    line = StatusLine(folder)
    with contextlib.ExitStack() as stack:
        processes = stack.enter_context(Processes(folder / "log"))
        for name, command in commands(PLANES[0], report.RATE).items():
            processes.start(name, command, environment)
        session = stack.enter_context(ArmSession(processes, NODES, line.show))
        monitor = session.monitor

        def follow(what: str, total: float) -> None:
            session.follow(total, lambda passed: _progress(monitor, what, passed, total))

        session.start()
        follow("XY circles", seconds)
        changeover = session.set_learning(False)
        session.set_task(PLANES[1])
        follow("changeover", CHANGEOVER)
        switch = session.set_learning(True)
        follow("XZ circles", seconds)
        session.finish()
        line.end()
    series = {short: monitor.errors(short) for short in NODES}
    joint_states, wrenches = monitor.joint_states.arrays()[0], monitor.wrenches.arrays()[0]
    errors = {short: report.errors_of(*found, changeover, switch) for short, found in series.items()}
    figures = {
        "simulated": True,
        "machine": {"cores": os.cpu_count(), "load": os.getloadavg()[0]},
        "changeover_stamp_ns": changeover,
        "switch_stamp_ns": switch,
        "rmse": errors,
        "ratios": report.ratios_of(errors),
        "expected_at_most": {name: entry[-1] for name, entry in report.RATIOS.items()},
        "published": report.PUBLISHED,
        "nodes": {
            short: timing_of(joint_states, predictions.arrays()[0])
            for short, predictions in monitor.predictions.items()
        },
        "joint_states": stream_of(joint_states),
        "wrenches": stream_of(wrenches),
    }
    print(f"\n{report.text(figures)}\n", flush=True)
    picture.draw(folder / "demo.png", series, changeover, switch)
    return figures


def _objects(environment: dict[str, str], n_views: int, folder: Path) -> dict[str, Any]:
    """Teach objects, print the figures and draw the picture; return the figures."""
    from icub_learning.cli.demo import objects_picture, objects_report
    from icub_learning.cli.demo.objects import OBJECTS, ObjectSession, commands
    from icub_learning.clients.processes import Processes

    began, line = time.monotonic(), StatusLine(folder)
    print(f"\nThe same iCub is taught {len(OBJECTS)} objects, one after the other.", flush=True)
    with contextlib.ExitStack() as stack:
        processes = stack.enter_context(Processes(folder / "log"))
        for name, command in commands().items():
            processes.start(f"objects_{name}", command, environment)
        lessons = stack.enter_context(ObjectSession(processes, n_views, line.show)).teach_all()
        line.end()
    figures = objects_report.figures_of(lessons) | {"wall_s": time.monotonic() - began}
    print(f"\n{objects_report.text(figures)}\n")
    objects_picture.draw(folder / "objects.png", lessons)
    return figures


def _progress(monitor: "PredictionMonitor", what: str, seconds: float, total: float) -> str:
    """Return the status line: the phase, its progress, and the RMSE of the last three seconds."""
    from icub_learning.cli.demo.report import RATE, TRANSIENT
    from icub_learning.evaluation.metrics import mean_rmse
    from icub_learning.reporting.wrench_errors import GROUPS, UNITS

    errors = {short: monitor.errors(short, round(RATE * TRANSIENT))[1] for short in monitor.predictions}
    shown = [
        " ".join(f"{short} {number(mean_rmse(error[:, axes]), 2):<5}" for short, error in errors.items()) + UNITS[group]
        for group, axes in GROUPS.items()
    ]
    done = min(BAR, round(BAR * seconds / total))
    bar = "█" * done + "░" * (BAR - done)
    return f"{what:<10} {bar} {seconds:3.0f}/{total:.0f} s  RMSE {'  '.join(shown)}"
