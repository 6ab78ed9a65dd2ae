"""`icub-learning simulate`: record the simulated iCub's arm or eye, faster than real time."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from icub_learning.cli.common.options import RECORDING_OUTPUT, add_settings
from icub_learning.reporting.tables import add_json_option, add_value, save_figures
from icub_learning.settings import pick
from icub_learning.simulation.arm.settings import TASKS, SimulationSettings

DESCRIPTION = "Simulate the iCub: write joint states and the wrench at its upper arm, or what its eye sees."
EXAMPLE = """\
example:
  icub-learning simulate --task circle_xy circle_xz --duration 60 30 --output circles.mcap
  icub-learning simulate --images pictures --objects duck mug lego --views 20
  icub-learning simulate --scenes tables --views 100 --unseen 50

The arm starts in the middle of the first task and changes over smoothly to the next. Effects that a rigid-body model
cannot explain are on; each is switched off by 0.

Images go to FOLDER/train/LABEL and FOLDER/test/LABEL; turn, posture, light and background differ in each. Scenes,
tables with 3 to 8 objects, go to FOLDER/train and FOLDER/test, boxes in COCO's format to train.json, test.json."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--task", nargs="+", default=["circle_xy"], choices=TASKS, help="tasks, one after the other")
    add_value(parser, "--duration", [60.0], "of each task", "SECONDS", "(0, inf)", nargs="+")
    add_value(parser, "--rate", 200.0, "a divisor of 1000", "HZ")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--output", type=Path, metavar="FILE", help=RECORDING_OUTPUT)
    target.add_argument("--images", type=Path, metavar="FOLDER", help="images of objects instead, as PNG files")
    target.add_argument("--scenes", type=Path, metavar="FOLDER", help="tables with several objects, and their boxes")
    add_json_option(parser)
    group = parser.add_argument_group("images", "with --images and --scenes")
    group.add_argument("--objects", nargs="+", metavar="NAME", help="objects that are shown (default: all)")
    add_value(group, "--views", 20, "images of each, or scenes, to learn from", "N")
    add_value(group, "--unseen", 20, "images of each, or scenes, for tests", "N")
    text = "size of the images [px] (default: 224 224, scenes 320 240)"
    group.add_argument("--size", nargs=2, type=int, metavar=("WIDTH", "HEIGHT"), help=text)
    text = "meshes or URDFs, named after their files (default: $ICUB_LEARNING_OBJECTS, else those of the set-up)"
    group.add_argument("--objects-folder", type=Path, metavar="FOLDER", help=text)
    group = parser.add_argument_group("what is simulated", "the parameters of icub_simulation_node")
    add_settings(group, SimulationSettings, leave_out=["task"])


def run(args: argparse.Namespace) -> None:
    from tqdm import tqdm

    made, write = ("samples", _write_recording) if args.output else ("images", _write_images)
    with tqdm(unit=f" {made}", disable=None) as bar:

        def show(n: int) -> None:
            bar.update(n - bar.n)

        text, figures = write(args, show)
    print(text)
    save_figures(args.json, figures)


def _write_images(args: argparse.Namespace, show: Callable[[int], None]) -> tuple[str, dict[str, Any]]:
    from icub_learning.simulation.objects import image_folders, scene, table_scene

    kind, folder = ("images", args.images) if args.images else ("scenes", args.scenes)
    size = scene.SIZE if args.images else table_scene.SIZE
    write: Any = image_folders.write_images if args.images else image_folders.write_scenes
    given = args.objects, args.views, args.unseen, args.seed, tuple(args.size or size), args.objects_folder
    written = write(folder, *given, show)
    text = f"{written['train']} {kind} to learn from and {written['test']} for tests in {folder}"
    return text, {kind: folder, **written}


def _write_recording(args: argparse.Namespace, show: Callable[[int], None]) -> tuple[str, dict[str, Any]]:
    from icub_learning.errors import ParameterError
    from icub_learning.recording.files import check_free, write
    from icub_learning.simulation.arm.recordings import simulate

    durations = args.duration * len(args.task) if len(args.duration) == 1 else args.duration
    if len(durations) != len(args.task):
        raise ParameterError("duration", args.duration, f"one number, or one for each of {len(args.task)} tasks")
    check_free(args.output)
    settings = pick(SimulationSettings, {name: value for name, value in vars(args).items() if name != "task"})
    recording = simulate(list(zip(args.task, durations, strict=True)), args.rate, settings, show)
    write(recording, args.output)
    n, seconds = len(recording.joint_stamps), recording.duration
    text = f"{n} joint states and wrenches of {seconds:.1f} s in {args.output}"
    return text, {"output": args.output, "samples": n, "duration": seconds}
