"""`icub-learning view`: running nodes, or a recording, as a page in a browser: see, teach, save."""

import argparse
import os
import secrets
import time
from pathlib import Path
from typing import Any

from icub_learning.cli.common import options
from icub_learning.reporting.tables import add_value

DESCRIPTION = "Serve a page that shows running nodes or a recording: the robot, what it predicts, what it sees."
EXAMPLE = """\
example:
  icub-learning view                                  then open http://127.0.0.1:8080/
  icub-learning view --urdf my_robot.urdf --image /camera/image_raw
  icub-learning view recording.db3 --urdf ur10 --output joint_torque --joints elbow_joint,wrist_1_joint

The page finds nodes by itself, in the ROS domain of this shell, at any time; objects are taught, loads identified and
models saved on it by mouse. It asks no other host for anything. Another --host than this machine needs a token, which
is in the address that is printed. Ctrl-C ends it."""

PERIOD = 0.1  # [s] time between updates of the page
POLL = 0.05  # [s] time between two polls of the streams, so that their queues do not overflow
NICENESS = 5  # added to the niceness: nodes must not wait for the page that shows them


def add_options(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "--port", 8080, "of the page; 0: a free one", "N", "[0, 65535]")
    add_value(parser, "--host", "127.0.0.1", "to listen on", "ADDRESS")
    parser.add_argument("--token", metavar="TEXT", help="that opens the page (default: a new one, where one is needed)")
    parser.add_argument("--image", metavar="TOPIC", default="", help="of images (default: that of the running nodes)")
    parser.add_argument("--follow", metavar="FOLDER", type=Path, help="of a program, whose pictures are shown too")
    add_value(parser, "--joint-states", "joint_states", "", "TOPIC")
    options.add_recording_argument(parser, f"to play, instead of what runs: {options.RECORDING}", required=False)
    options.add_learning_options(parser)


def run(args: argparse.Namespace) -> None:
    from icub_learning.view.page.guard import is_local

    token = args.token or ("" if is_local(args.host) else secrets.token_urlsafe(18))
    (_attach if args.recording is None else _play)(args, token)


def _attach(args: argparse.Namespace, token: str) -> None:
    import rclpy

    from icub_learning.clients.topics import ros_node
    from icub_learning.view.live.source import LiveSource
    from icub_learning.view.page.page import Page

    os.nice(NICENESS)
    with ros_node("icub_learning_view") as (node, wait, stopped):
        streams = rclpy.create_node("icub_learning_view_streams")
        source = LiveSource(node, streams, args.joint_states, args.urdf or "", args.image, args.follow)
        page = Page(args.host, args.port, token, source.ask, args.follow)
        print(f"page: {page.address}", flush=True)
        shown = 0.0
        while not stopped():
            source.poll()
            now = time.monotonic()
            if now - shown >= PERIOD:
                shown = now
                page.update(source.state)
            wait(stopped, POLL - (time.monotonic() - now))
        page.close()
        streams.destroy_node()


def _play(args: argparse.Namespace, token: str) -> None:
    from icub_learning.signals import stop_signals
    from icub_learning.view.page.page import Page
    from icub_learning.view.played import RecordedSource

    recording, urdf, predicted, frame = _recorded(args)
    source = RecordedSource(recording, urdf, predicted, frame)
    page = Page(args.host, args.port, token, duration=source.duration, predicted=bool(predicted))
    assert page.player is not None
    print(f"page: {page.address}", flush=True)
    with stop_signals() as stopped:
        last = time.monotonic()
        while not stopped():
            time.sleep(PERIOD)
            now = time.monotonic()
            passed, last = now - last, now
            page.update(source.at(page.player.advance(passed)))
    page.close()


def _recorded(args: argparse.Namespace) -> tuple[Any, ...]:
    """Return the recording, the URDF or "", the evaluations of P, NP and SP on it, and the frame of its wrenches."""
    from threadpoolctl import threadpool_limits

    from icub_learning.cli.evaluate.cases import single_case
    from icub_learning.evaluation.predict_then_learn import compare
    from icub_learning.robots import find_urdf

    if not (args.joints or args.output):
        return options.read_recording(args), find_urdf(args.urdf) if args.urdf else "", {}, ""
    case = single_case(args, args.recording)
    with threadpool_limits(limits=1, user_api="blas"):  # one thread, as in the node
        predicted = compare(case.recording, case.settings, watch=options.watch(case.path, case.recording))
    frame = case.settings.sensor if case.settings.output == "wrench" else ""
    return case.recording, case.settings.urdf, predicted, frame
