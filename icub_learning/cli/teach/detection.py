"""`icub-learning teach --detect`: teach a running detection node to find an object."""

import argparse
from typing import Any

from icub_learning.errors import ParameterError
from icub_learning.recognition.classifiers.labels import shorten

NODE = "/object_detection"


def run_detection(args: argparse.Namespace) -> dict[str, Any]:
    """Show what the node finds, teach it one object, and show again; return the answer. Raises ParameterError: an
    option is missing or outside its range; IcubLearningError: no node answers.
    """
    from icub_learning.arrays import real
    from icub_learning.cli.image_sources import open_source
    from icub_learning.cli.teach.robot import DetectingRobot
    from icub_learning.clients.topics import ros_node
    from icub_learning_msgs.srv import TeachDetection

    if args.label is None:
        raise ParameterError("--label", None, "a name: --detect asks no questions")
    seconds = real("--seconds", args.seconds, 0.0, 3600.0, low_open=True)
    rate = real("--rate", args.rate, 0.01, 1000.0)
    advice = ADVICE.get(args.boxes, "move it slowly.")
    with open_source(args.source, rate) as source, ros_node("icub_learning_teach") as (node, spin, stopped):
        robot = DetectingRobot(node, spin, stopped, args.node or NODE, args.image, source)
        print(describe(robot.found_after(1, 5.0)), flush=True)
        print(f"Learning to find '{shorten(args.label)}' for {seconds:g} s: {advice}", flush=True)
        given = {"label": args.label, "seconds": seconds, "source": args.boxes, "box": args.box or []}
        answer = robot.call(TeachDetection, "teach_detection", seconds + 120.0, **given)
        print(answer.message if answer.success else f"Not learned: {answer.message}")
        print(describe(robot.found_after(2, 5.0)), flush=True)
    return {"label": args.label, "success": answer.success, "message": answer.message, "n_frames": answer.n_frames}


ADVICE = {
    "motion": "bring it into view after a second, and keep the camera still.",
    "boxes": "with the boxes that another node publishes.",
}


def describe(message: Any) -> str:
    """Return in words what the node finds."""
    if message is None:
        return "The robot says nothing: no detections come."
    likely = [one for one in message.detections if one.score >= 0.0]
    if not likely:
        return "The robot finds nothing that it knows."
    found = ", ".join(
        f"{shorten(one.label)} ({one.score:.2f}) at {', '.join(f'{value:.0f}' for value in one.box)}" for one in likely
    )
    return f"The robot finds {found}"
