"""`icub-learning demo`: a simulated iCub learns its inverse dynamics, then objects, live."""

import argparse
import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from icub_learning.reporting.tables import add_json_option, add_value, number_in, write_json, written_for

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


def add_options(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "--seconds", 90.0, "simulated time in each of the two planes", "SECONDS", "[5, 3600]")
    add_value(parser, "--views", 20, "unseen views of each object after each lesson", "N", "[1, inf)")
    parts = ("all", "dynamics", "objects", "changes")
    parser.add_argument("--part", choices=parts, default="all", help="all (default), or one of the three parts")
    add_value(parser, "--output", Path("out/demo"), "for pictures, figures and logs", "FOLDER")
    parser.add_argument("--no-view", dest="view", action="store_false", help="serve no page to watch it in a browser")
    add_value(parser, "--port", 8080, "of the page, or the next free one", "N", "[0, 65535]")
    domain, text = number_in(int, "[0, 232]"), "ROS_DOMAIN_ID (default: one that is not in use)"
    parser.add_argument("--domain", metavar="ID", type=domain, help=text)
    add_json_option(parser)


def run(args: argparse.Namespace) -> None:
    from icub_learning.cli.common.options import write_report
    from icub_learning.cli.demo import changes, dynamics, objects, watching
    from icub_learning.clients.processes import RosDomain

    folder, began = args.output, time.monotonic()
    with written_for("--output", folder, "folder"):
        (folder / "log").mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGINT):  # a shell's background job would start with SIGINT ignored
        signal.signal(number, signal.default_int_handler)
    parts = (
        ("dynamics", "Inverse dynamics", "demo.png", lambda: dynamics.show(folder, args.seconds)),
        ("objects", "Objects", "objects.png", lambda: objects.show(folder, args.views)),
        ("changes", "Loads and pushes", "changes.png", lambda: changes.show(folder)),
    )
    figures: dict[str, Any] = {}
    blocks, numbers = [], args.json or folder / "demo.json"
    with contextlib.ExitStack() as stack:
        domain = args.domain if args.domain is not None else stack.enter_context(RosDomain()).number
        os.environ |= {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        address = stack.enter_context(watching.page(folder, args.port)) if args.view else ""
        for name, title, picture, show in parts:
            if args.part in ("all", name):
                found, text = show()
                figures |= found if name == "dynamics" else {name: found}
                blocks.append((title, text, [folder / picture]))
                write_json(numbers, figures)
        figures["wall_s"] = time.monotonic() - began
        write_json(numbers, figures)
        watching.StatusLine(folder).note(f"done in {figures['wall_s']:.0f} s")
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
        if address and sys.stdin.isatty():
            print(f"The page stays at {address} until Ctrl-C.", flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()
            print()
