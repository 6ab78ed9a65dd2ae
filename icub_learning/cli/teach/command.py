"""`icub-learning teach`: show the robot objects and say what they are."""

import argparse
from pathlib import Path

from icub_learning.errors import ParameterError
from icub_learning.reporting.tables import add_json_option, add_value, number_in, save_figures

DESCRIPTION = "Teach a robot objects: see what it sees, name it, and read what the robot recognizes then."
EXAMPLE = """\
example:
  icub-learning launch recognition                        in another terminal: cnn_features and object_recognition
  icub-learning teach                                     the robot's own camera, on the topic image
  icub-learning teach --source /dev/video0                a camera of this computer
  icub-learning teach --source photos/mug --label mug     a folder of pictures, without questions
  icub-learning teach --detect --label mug --boxes motion find it among other things, after `launch detection`

The command writes an image of what the robot sees below out/teach and asks what it is. A name teaches the object with
the next frames: turn it meanwhile. An empty line looks again; :list WORDS shows objects with these words in their
names, least surely known first; :forget NAME and :quit do what they say."""

FRAMES, PATIENCE = 20, 20.0  # frames of a lesson, and longest wait for them [s], by default
SLOWEST = 1.0  # [s] longest time that a picture of a folder is expected to take: some have 50 million pixels


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--label", metavar="NAME", help="teach this object once, without questions")
    text = f"frames to learn from (default: {FRAMES}; with --label and a folder: all of its images)"
    parser.add_argument("--frames", metavar="N", type=number_in(int, "[1, inf)"), help=text)
    text = f"longest wait for the frames (default: {PATIENCE:g}, or what --source needs for them)"
    parser.add_argument("--timeout", metavar="SECONDS", type=number_in(float, "(0, 3600]"), help=text)
    text = "folder of images or camera such as /dev/video0, published on --image (default: what comes there already)"
    parser.add_argument("--source", metavar="SOURCE", help=text)
    add_value(parser, "--rate", 10.0, "images per second of --source, at most", "HZ", "[0.01, 1000]")
    add_value(parser, "--image", "image", "topic of the robot's images", "TOPIC")
    text = "node that is taught (default: /object_recognition, with --detect /object_detection)"
    parser.add_argument("--node", metavar="NAME", help=text)
    add_value(parser, "--output", Path("out/teach"), "for images", "FOLDER")
    group = parser.add_argument_group("detection", "to find an object among others, with --label")
    group.add_argument("--detect", action="store_true", help="teach object_detection instead of object_recognition")
    add_value(group, "--seconds", 12.0, "how long images are collected", within="(0, 3600]")
    text = "what finds the object; CLASS: the node's box_source (default: tracker with --box, else the box_source)"
    group.add_argument("--boxes", metavar="tracker|motion|boxes|CLASS", default="", help=text)
    text = "of the object in the newest image [px]"
    group.add_argument("--box", nargs=4, type=float, metavar=("X1", "Y1", "X2", "Y2"), help=text)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Teach one object, or hold the dialogue; return 1 if something was not learned."""
    from icub_learning.cli.common.image_sources import open_source
    from icub_learning.cli.teach.dialogue import Dialogue, teach_detection
    from icub_learning.cli.teach.robot import DetectingRobot, Robot
    from icub_learning.clients.topics import ros_node
    from icub_learning.recognition.lesson import check_name

    if args.label is not None:
        check_name(args.label, "--label")
    if args.detect and args.label is None:
        raise ParameterError("--label", None, "a name: --detect asks no questions")
    if not args.detect and (args.boxes or args.box):
        name, value = ("--boxes", args.boxes) if args.boxes else ("--box", args.box)
        raise ParameterError(name, value, "left out without --detect: only object_detection learns boxes")
    if args.boxes == "tracker" and not args.box:
        raise ParameterError("--box", None, "X1 Y1 X2 Y2, where --boxes tracker finds the object in the newest image")
    kind = DetectingRobot if args.detect else Robot
    with open_source(args.source, args.rate) as source, ros_node("icub_learning_teach") as ros:
        robot = kind(ros, args.node or kind.node_name, args.image, source)
        if args.detect:
            lessons = [teach_detection(robot, args.label, args.seconds, args.boxes, args.box)]
        else:
            default = len(source.files) if args.label is not None and source is not None else 0
            frames = args.frames or default or FRAMES
            needed = 0.0 if source is None else frames * (2.0 * source.period + (SLOWEST if source.files else 0.0))
            dialogue = Dialogue(robot, frames, args.timeout or min(max(PATIENCE, needed), 3600.0), args.output)
            if args.label is None:
                dialogue.ask()
            else:
                dialogue.show()
                dialogue.teach(args.label)
            lessons = dialogue.lessons
    save_figures(args.json, {"lessons": lessons})
    return int(not all(lesson["success"] for lesson in lessons))
