"""`icub-learning simulate`: record the simulated iCub's arm or eye, faster than real time."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from icub_learning.cli.options import RECORDING_OUTPUT
from icub_learning.cli.settings import add_settings
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
    add_value(parser, "--duration", [60.0], "of each task", "SECONDS", nargs="+")
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
    add_settings(group, [SimulationSettings], leave_out=["task"])


def run(args: argparse.Namespace) -> None:
    (_write_images if args.images or args.scenes else _write_recording)(args)


def _write_images(args: argparse.Namespace) -> None:
    from icub_learning.simulation.objects import scene, table_scene
    from icub_learning.simulation.objects.image_folders import write_images, write_scenes

    kind, folder = ("images", args.images) if args.images else ("scenes", args.scenes)
    write, size = (write_images, scene.SIZE) if args.images else (write_scenes, table_scene.SIZE)
    size = tuple(args.size or size)
    with _progress(kind) as show:
        written = write(folder, args.objects, args.views, args.unseen, args.seed, size, args.objects_folder, show)
    print(f"{written['train']} {kind} to learn from and {written['test']} for tests in {folder}")
    save_figures(args.json, {kind: str(folder), **written})


def _write_recording(args: argparse.Namespace) -> None:
    from icub_learning.errors import ParameterError
    from icub_learning.recording.files import check_free, write
    from icub_learning.simulation.arm.recordings import simulate

    durations = args.duration * len(args.task) if len(args.duration) == 1 else args.duration
    if len(durations) != len(args.task):
        raise ParameterError("duration", args.duration, f"one number, or one for each of {len(args.task)} tasks")
    check_free(args.output)
    settings = pick(SimulationSettings, {name: value for name, value in vars(args).items() if name != "task"})
    with _progress("samples") as show:
        recording = simulate(list(zip(args.task, durations, strict=True)), args.rate, settings, show)
    write(recording, args.output)
    figures = {"output": str(args.output), "samples": len(recording.joint_stamps), "duration": recording.duration}
    print(f"{figures['samples']} joint states and wrenches of {figures['duration']:.1f} s in {args.output}")
    save_figures(args.json, figures)


@contextmanager
def _progress(unit: str) -> Iterator[Callable[[int], None]]:
    """Show a count on a terminal; yields a function to be called with the number made so far."""
    from tqdm import tqdm

    with tqdm(unit=f" {unit}", disable=None) as bar:

        def show(made: int) -> None:
            bar.update(made - bar.n)

        yield show
