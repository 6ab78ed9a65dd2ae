"""`icub-learning teach`: show the robot objects and say what they are."""

import argparse
from pathlib import Path

from icub_learning.reporting.tables import add_json_option, add_value, save_figures

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

FRAMES = 20  # of a lesson
NODE = "/object_recognition"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--label", metavar="NAME", help="teach this object once, without questions")
    text = f"frames to learn from (default: {FRAMES}; with --label and a folder: all of its images)"
    parser.add_argument("--frames", metavar="N", type=int, help=text)
    add_value(parser, "--timeout", 20.0, "longest wait for the frames", "SECONDS")
    parser.add_argument(
        "--source",
        metavar="SOURCE",
        help="a folder of images or a camera such as /dev/video0, published on the topic of --image (default: images"
        " that are published there already)",
    )
    add_value(parser, "--rate", 10.0, "images per second of --source", "HZ")
    add_value(parser, "--image", "image", "topic of the robot's images", "TOPIC")
    text = "node that is taught (default: /object_recognition, with --detect /object_detection)"
    parser.add_argument("--node", metavar="NAME", help=text)
    add_value(parser, "--output", Path("out/teach"), "for images", "FOLDER")
    parser.add_argument("--terminal", action="store_true", help="show frames in the terminal too, in 24-bit colours")
    group = parser.add_argument_group("detection", "to find an object among others, with --label")
    group.add_argument("--detect", action="store_true", help="teach object_detection instead of object_recognition")
    add_value(group, "--seconds", 12.0, "how long images are collected")
    group.add_argument(
        "--boxes",
        metavar="tracker|motion|boxes|CLASS",
        default="",
        help="where the object's box comes from, see docs/ros_interface.md; a class has to be the node's box_source"
        " (default: tracker with --box, else the node's box_source)",
    )
    group.add_argument(
        "--box", nargs=4, type=float, metavar=("X1", "Y1", "X2", "Y2"), help="of the object in the newest image [px]"
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Teach one object, or hold the dialogue; return 1 if something was not learned."""
    if args.detect:
        from icub_learning.cli.teach.detection import run_detection

        lesson = run_detection(args)
        save_figures(args.json, {"lessons": [lesson]})
        return 0 if lesson["success"] else 1
    from icub_learning.arrays import integer, real
    from icub_learning.cli.image_sources import Folder, open_source
    from icub_learning.cli.teach.dialogue import Dialogue
    from icub_learning.cli.teach.robot import Robot
    from icub_learning.clients.topics import ros_node

    timeout = real("--timeout", args.timeout, 0.0, 3600.0, low_open=True)
    rate = real("--rate", args.rate, 0.01, 1000.0)
    with open_source(args.source, rate) as source:
        default = len(source.names) if args.label is not None and isinstance(source, Folder) else FRAMES
        n_frames = default if args.frames is None else integer("--frames", args.frames, 1)
        with ros_node("icub_learning_teach") as (node, spin, stopped):
            robot = Robot(node, spin, stopped, args.node or NODE, args.image, source)
            dialogue = Dialogue(robot, n_frames, timeout, args.output, args.terminal)
            if args.label is None:
                dialogue.ask()
            else:
                dialogue.show()
                dialogue.teach(args.label)
    save_figures(args.json, {"lessons": dialogue.lessons})
    return 0 if all(lesson["success"] for lesson in dialogue.lessons) else 1
