"""`icub-learning demo`: a simulated iCub arm and three learning nodes, live; circles in XY, then in XZ (8.4.3)."""

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Callable
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
START_LIMIT = 40.0  # [s] until every node must have predicted
SLACK = 1.25  # a plane takes at most this many times its seconds, if the simulation is slower than real time
DOMAINS = range(1, 102)  # of DDS: their ports lie below those that Linux gives away
PLANES = ("circle_xy", "circle_xz")


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "demo",
        help="a simulated iCub arm learns its inverse dynamics live",
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
    """The command line of each process, by node name."""
    joints = ["r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow"]
    joints += ["r_wrist_prosup", "r_wrist_pitch", "r_wrist_yaw"]
    python = [sys.executable, "-m"]
    table = {
        SIMULATION: [
            *python, "icub_learning.nodes.icub_simulation", "--ros-args", "-r", f"__node:={SIMULATION}",
            "-p", f"task:={PLANES[0]}", "-p", f"rate:={RATE}",
        ]
    }  # fmt: skip
    for short, name in NODES.items():
        table[name] = [
            *python, "icub_learning.nodes.inverse_dynamics", "--ros-args", "-r", f"__node:={name}",
            "-p", "urdf:=icub", "-p", f"joints:=[{','.join(joints)}]", "-p", "sensor:=r_arm_ft_sensor",
            "-p", "output:=wrench", "-p", f"estimator:={ESTIMATORS[short]}",
        ]  # fmt: skip
    return table


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _follow(processes: Any, seconds: float, folder: Path, json_path: Path | None) -> int:
    """Watch the run, switch the plane, and report."""
    import rclpy
    from rclpy.experimental import EventsExecutor
    from rclpy.signals import SignalHandlerOptions

    from icub_learning.cli.demo_monitor import Monitor
    from icub_learning.errors import IcubLearningError
    from icub_learning_msgs.srv import SetTask

    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        monitor = Monitor(rclpy.create_node("icub_learning_demo_monitor"), NODES)
        caller = rclpy.create_node("icub_learning_demo")
        set_task = caller.create_client(SetTask, f"/{SIMULATION}/set_task")
        executor = EventsExecutor()
        executor.add_node(caller)

        def wait(done: Callable[[], bool], limit: float, show: Callable[[], None]) -> bool:
            end, shown = time.monotonic() + limit, 0.0
            while not done():
                executor.spin_once(timeout_sec=0.02)
                monitor.poll()
                now = time.monotonic()
                if now >= end:
                    return False
                if now - shown >= 0.5:
                    shown = now
                    processes.check()
                    show()
            return True

        began = time.monotonic()
        line = _Line()
        print(f"starting the simulation and three nodes; their logs: {folder / 'log'}")
        if not wait(monitor.running, START_LIMIT, lambda: line.show("waiting for the first predictions")):
            quiet = [short for short, series in monitor.predictions.items() if not len(series)]
            text = f"no prediction of {', '.join(quiet) or 'all'} within {START_LIMIT:g} s; logs: {folder / 'log'}"
            raise IcubLearningError(text, name="demo")

        switch = 0
        for plane, task in enumerate(PLANES):
            if plane:
                future = set_task.call_async(SetTask.Request(task=task))
                if not wait(future.done, 5.0, lambda: None) or not future.result().success:
                    raise IcubLearningError(f"the simulation did not take the task {task}", name=task)
                switch = monitor.joint_states.last_stamp
            start = monitor.joint_states.last_stamp

            def show(start: int = start, task: str = task) -> None:
                line.show(_progress(monitor, task, (monitor.joint_states.last_stamp - start) * 1e-9, seconds))

            def over(start: int = start) -> bool:
                return monitor.joint_states.last_stamp - start >= seconds * 1e9

            wait(over, SLACK * seconds, show)
        wait(lambda: False, 0.5, lambda: None)  # the last predictions are still on their way
        line.end()
    finally:
        rclpy.try_shutdown()
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
