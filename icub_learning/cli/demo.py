"""`icub-learning demo`: a simulated iCub arm and three learning nodes, live; circles in XY, then in XZ (8.4.3)."""

import argparse
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from icub_learning.cli.report import add_json_option, number, write_json

EXAMPLE = """\
example:
  icub-learning demo --seconds 60 --output out/demo

The protocol is that of 8.4.3 of the thesis: the hand follows circles of 10 cm radius at 0.6 m/s, first in the XY plane,
then in the XZ plane, while P (rigid bodies), NP (random features) and SP (both) learn the wrench at the upper-arm
sensor from zero. Simulation and learners are processes of their own that talk over DDS."""

NODES = {"P": "inverse_dynamics_p", "NP": "inverse_dynamics_np", "SP": "inverse_dynamics_sp"}
ESTIMATORS = {"P": "parametric", "NP": "nonparametric", "SP": "semiparametric"}
SIMULATION = "icub_simulation"
RATE = 200.0  # [Hz] of joint states and wrenches
DOMAINS = range(1, 102)  # of DDS: their ports lie below those that Linux gives away
PLANES = ("circle_xy", "circle_xz")


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "demo",
        description="Simulate an iCub arm, learn its inverse dynamics in three nodes, and show how well they predict.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "--seconds", metavar="SECONDS", type=float, default=100.0, help="in each of the two planes (default: 100)"
    )
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        type=Path,
        default=Path("out/demo"),
        help="for picture, figures and logs (out/demo)",
    )
    parser.add_argument("--domain", metavar="ID", type=int, help="ROS_DOMAIN_ID to use (default: a free-looking one)")
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run the protocol and report; the processes end with it, whatever happens."""
    from icub_learning.arrays import real
    from icub_learning.cli.processes import Processes
    from icub_learning.errors import ParameterError

    seconds = real("--seconds", args.seconds, 5.0, 3600.0)
    domain = random.choice(DOMAINS) if args.domain is None else args.domain
    if not 0 <= domain <= 232:
        raise ParameterError("--domain", domain, "within [0, 232]")
    environment = {
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }
    os.environ.update(environment)
    signal.signal(signal.SIGTERM, _interrupt)
    with Processes(args.output / "log") as processes:
        for name, command in commands().items():
            processes.start(name, command, environment)
        return _follow(processes, seconds, args.output, args.json)


def commands() -> dict[str, list[str]]:
    """The command line of each process, by node name: the nodes of config/simulation.yaml, one for each estimator."""
    import yaml

    from icub_learning.launching.installation import share_folder

    config = share_folder() / "config" / "simulation.yaml"
    learner = yaml.safe_load(config.read_text(encoding="utf-8"))["inverse_dynamics"]["ros__parameters"]
    given = {"task": PLANES[0], "rate": RATE, "autostart": False}
    table = {SIMULATION: _node("icub_simulation", SIMULATION, given, ["--params-file", str(config)])}
    for short, name in NODES.items():
        table[name] = _node("inverse_dynamics", name, {**learner, "estimator": ESTIMATORS[short]}, [])
    return table


def _node(module: str, name: str, parameters: dict[str, Any], options: list[str]) -> list[str]:
    line = [sys.executable, "-m", f"icub_learning.nodes.{module}", "--ros-args", "-r", f"__node:={name}", *options]
    for parameter, value in parameters.items():
        line += ["-p", f"{parameter}:={json.dumps(value)}"]  # JSON is YAML, which ROS wants here
    return line


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _follow(processes: Any, seconds: float, folder: Path, json_path: Path | None) -> int:
    """Go through the protocol, and report."""
    from icub_learning.cli.demo_protocol import Protocol

    began = time.monotonic()
    print(f"starting the simulation and three learners; their logs: {folder / 'log'}", flush=True)
    line = _Line()
    with Protocol(processes, NODES, SIMULATION, line.show) as protocol:
        monitor, switch = protocol.monitor, 0
        protocol.start()
        for plane, task in enumerate(PLANES):
            if plane:
                switch = protocol.switch(task)
            protocol.follow(seconds, lambda passed, task=task: _progress(monitor, task, passed, seconds))  # type: ignore[misc]
        protocol.finish()
        line.end()
    processes.stop()
    return _report(monitor, switch, folder, json_path, time.monotonic() - began)


def _report(monitor: Any, switch: int, folder: Path, json_path: Path | None, wall: float) -> int:
    from icub_learning.cli import demo_report

    series = {short: monitor.errors(short) for short in NODES}
    joint_states, wrenches = monitor.joint_states.arrays()[0], monitor.wrenches.arrays()[0]
    figures = {
        "simulated": True,
        "wall_s": wall,
        "switch_stamp_ns": switch,
        "rmse": {short: demo_report.errors_of(stamps, errors, switch) for short, (stamps, errors) in series.items()},
        "nodes": {
            short: demo_report.timing_of(joint_states, predictions.arrays()[0])
            for short, predictions in monitor.predictions.items()
        },
        "joint_states": demo_report.stream_of(joint_states),
        "wrenches": demo_report.stream_of(wrenches),
        "published": demo_report.PUBLISHED,
    }
    picture, numbers = folder / "demo.png", json_path or folder / "demo.json"
    print(demo_report.text(figures))
    write_json(numbers, figures)
    demo_report.plot(picture, series, switch)
    print(f"\npicture: {picture}\nfigures: {numbers}\nin {wall:.0f} s")
    return 0


def _progress(monitor: Any, task: str, seconds: float, total: float) -> str:
    """One line: where it is, and the RMSE of the last three seconds."""
    from icub_learning.cli.demo_report import GROUPS, TRANSIENT
    from icub_learning.dynamics.metrics import group_rmse

    errors = {short: monitor.errors(short, round(RATE * TRANSIENT))[1] for short in NODES}
    shown = [
        f"{group} " + " ".join(f"{short} {number(group_rmse(error[:, axes]), 2):>5}" for short, error in errors.items())
        for group, axes in GROUPS.items()
    ]
    return f"{task} {seconds:5.0f} of {total:.0f} s   RMSE {shown[0]} N   {shown[1]} N m"


class _Line:
    """A line that is written over on a terminal, and written anew every ten seconds elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()
        self._written = 0.0

    def show(self, text: str) -> None:
        """Show `text` instead of what was there."""
        if self._terminal:
            print(f"\r\x1b[K{text}", end="", flush=True)
        elif time.monotonic() - self._written >= 10.0:
            print(text, flush=True)
            self._written = time.monotonic()

    def end(self) -> None:
        """Leave the line as it is."""
        print("" if self._terminal else "done", flush=True)
