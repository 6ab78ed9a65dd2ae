"""`icub-learning teach --detect`: teach a running detection node to find an object."""

from collections.abc import Sequence
from typing import Any

from icub_learning.cli.teach.robot import Robot
from icub_learning.recognition.classifiers.labels import shorten
from icub_learning_msgs.srv import TeachDetection

ADVICE = {
    "motion": "bring it into view after a second, and keep the camera still.",
    "boxes": "with the boxes that another node publishes.",
}


def teach_detection(
    robot: Robot, label: str, seconds: float, boxes: str, box: Sequence[float] | None
) -> dict[str, Any]:
    """Say what the node finds before and after teaching it one object; return the answer."""
    print(describe(robot.found_after(1, 5.0)), flush=True)
    print(f"Learning to find '{shorten(label)}' for {seconds:g} s: {ADVICE.get(boxes, 'move it slowly.')}", flush=True)
    given = {"label": label, "seconds": seconds, "source": boxes, "box": box or []}
    answer = robot.call(TeachDetection, "teach_detection", seconds + 120.0, **given)
    print(answer.message if answer.success else f"Not learned: {answer.message}")
    print(describe(robot.found_after(2, 5.0)), flush=True)
    return {"label": label, "success": answer.success, "message": answer.message, "n_frames": answer.n_frames}


def describe(message: Any) -> str:
    if message is None:
        return "The robot says nothing: no detections come."
    likely = [one for one in message.detections if one.score >= 0.0]
    if not likely:
        return "The robot finds nothing that it knows."
    found = ", ".join(
        f"{shorten(one.label)} ({one.score:.2f}) at {', '.join(f'{value:.0f}' for value in one.box)}" for one in likely
    )
    return f"The robot finds {found}"
