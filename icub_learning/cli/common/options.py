"""Command-line options that several commands share, and the functions that carry them out."""

import argparse
import contextlib
import io
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from icub_learning.errors import ParameterError
from icub_learning.files import check_replaceable
from icub_learning.reporting.tables import add_json_option, add_value, written_for
from icub_learning.robots import KNOWN_ROBOTS
from icub_learning.settings import Setting, settings_of

if TYPE_CHECKING:  # imported when a command runs, so that help appears at once
    from icub_learning.recording import Recording

RECORDING = "rosbag2 folder, .db3, .mcap, .csv or .npz"
RECORDING_OUTPUT = "X.mcap, X.db3, X.csv, X.npz, or the name of a rosbag2 folder"
PICTURES, REPORTS = (".png", ".pdf", ".svg"), (".html", ".htm")  # suffixes of pictures and reports


def add_recording_argument(parser: argparse.ArgumentParser, text: str = RECORDING, required: bool = True) -> None:
    parser.add_argument("recording", metavar="RECORDING", type=named_path, help=text, nargs=None if required else "?")


def named_path(text: str) -> Path:
    """Return a path that has a name, also that of the working directory."""
    return Path(text) if Path(text).name else Path(text).resolve()


def add_own_option(parser: argparse.ArgumentParser) -> None:
    text = "import path of the class in the files, if it is one of your own: no file makes this program import a class"
    parser.add_argument("--own", default="", metavar="CLASS", help=text)


def add_topic_options(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "--joint-states", "joint_states", "", "TOPIC")
    add_value(parser, "--wrench", "wrench", "", "TOPIC")


def add_urdf_option(parser: argparse.ArgumentParser) -> None:
    known = ", ".join(KNOWN_ROBOTS)
    parser.add_argument("--urdf", help=f"path of a URDF, package://..., or a known robot: {known}")


def add_output_options(parser: argparse.ArgumentParser, drawn: str, report: bool = True) -> None:
    """Add --plot, whose help says what is `drawn`, --json and, with `report`, --report."""
    parser.add_argument("--plot", metavar="FILE", type=Path, help=f"draw {drawn} into FILE ({', '.join(PICTURES)})")
    add_json_option(parser)
    if report:
        text = "write tables and pictures to FILE.html, one file to read or mail"
        parser.add_argument("--report", metavar="FILE", type=Path, help=text)


def check_outputs(args: argparse.Namespace) -> None:
    """Raise ParameterError where an option names a file or folder that cannot be written, or is of another format."""
    for name in ("plot", "report", "json", "parameters", "page", "out"):
        if (path := getattr(args, name, None)) is None:
            continue
        if (suffixes := {"plot": PICTURES, "report": REPORTS}.get(name)) and path.suffix not in suffixes:
            raise ParameterError(f"--{name}", str(path), "a file name ending in " + ", ".join(suffixes))
        with written_for(f"--{name}", path, "folder" if name == "out" else "file"):
            check_replaceable(path / "picture.png" if name == "out" else path)


def add_reading_options(parser: argparse.ArgumentParser, stamp_source: bool = True) -> None:
    source = parser.add_argument_group("reading")
    source.add_argument("--joint-state-topic", metavar="TOPIC", help="in the recording, if it has several")
    source.add_argument("--wrench-topic", metavar="TOPIC", help="in the recording, if it has several")
    if stamp_source:
        add_value(source, "--stamp-source", "header", "time of a message", choices=("header", "arrival"))


def read_recording(args: argparse.Namespace, wrench: bool = True) -> "Recording":
    """Read the recording that the arguments name, with a progress bar on a terminal; wrenches only if `wrench`."""
    from icub_learning.recording import read

    topics = args.joint_state_topic or None, (args.wrench_topic or None) if wrench else ""
    stamp_source: Any = getattr(args, "stamp_source", "header")
    return read(args.recording, *topics, stamp_source=stamp_source, progress=sys.stderr.isatty())


def add_learning_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for what is learned and how its recording is read, and the settings of learning."""
    from icub_learning.dynamics.settings import Settings

    add_urdf_option(parser)
    parser.add_argument("--joints", nargs="+", metavar="JOINT", type=_joints, help="learned joints: a b c, or a,b,c")
    parser.add_argument("--output", choices=("wrench", "joint_torque"), help="what is learned: wrenches, or efforts")
    add_reading_options(parser)
    group = parser.add_argument_group("learning", "the settings of the inverse dynamics node")
    own = ("urdf", "joints", "output", "estimator", "stamp_source")  # added elsewhere, or set by the command
    add_settings(group, Settings, leave_out=own, given=True)


def add_settings(
    parser: argparse._ActionsContainer, settings: type, leave_out: Collection[str] = (), given: bool = False
) -> None:
    """Add an option for each setting of a dataclass but those of `leave_out`; with `given`, its default is None."""
    for setting in settings_of(settings):
        if setting.name not in leave_out:
            parser.add_argument("--" + setting.name.replace("_", "-"), **_option(setting, given))


def _option(setting: Setting, given: bool) -> dict[str, Any]:
    default = setting.default
    shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
    text = setting.meaning + (f" (default: {shown})" if shown != "" else "")
    option: dict[str, Any] = {"default": None if given else default, "help": text}
    if isinstance(default, bool):
        return option | {"action": argparse.BooleanOptionalAction}
    if setting.or_number:
        return option | {"type": _word_or_number, "metavar": "|".join((*setting.choices, "X"))}
    if setting.methods:
        return option | {"metavar": "|".join((*setting.choices, "CLASS"))}
    if setting.choices:
        return option | {"choices": tuple(setting.choices)}
    if isinstance(default, tuple):
        return option | {"nargs": "+", "metavar": "NAME", "type": type(default[0]) if default else str}
    return option | {"type": type(default), "metavar": "NAME" if isinstance(default, str) else "X"}


def _joints(text: str) -> str:
    if (Path(text).is_file() and Path(text).suffix) or Path(text, "metadata.yaml").is_file():
        raise argparse.ArgumentTypeError(f"{text} is a file: put the recording first, --joints takes all that follows")
    return text


def _word_or_number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def show_status(text: str, end: str = "") -> None:
    """Show a line in place of the one before, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end=end, file=sys.stderr, flush=True)


def progress_bar(
    text: str, unit: str, total: int | None = None, delay: float = 1.0
) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """Return a function that passes items on and shows a progress bar after `delay` seconds, on a terminal only."""
    from tqdm import tqdm

    # disable=None: no bar where standard error is no terminal
    return lambda items: tqdm(items, text, total, disable=None, delay=delay, leave=False, unit=unit)


def watch(path: Path, recording: "Recording", mode: str = "") -> Callable[[Iterable[Any], str], Iterable[Any]]:
    """Return a function of events and an estimator's short name, which passes the events on and shows the progress."""
    total = recording.n_joint_states + len(recording.wrench_stamps)
    return lambda events, short: progress_bar(f"{path.name} {short} {mode}".rstrip(), "msg", total)(events)


def write_report(path: Path, title: str, blocks: Iterable[tuple[str, str, Sequence[Path]]]) -> None:
    """Write a page of blocks, each of title, text and pictures (PNG files). Raises ParameterError if that fails."""
    from icub_learning.reporting import page

    command = shlex.join(["icub-learning", *sys.argv[1:]])
    parts = [page.paragraph(f"{command}; {page.written()}", "note"), page.machine_table(page.describe_machine())]
    for heading, text, pictures in blocks:
        parts += [page.section(heading), *map(page.picture, pictures), page.preformatted(text)]
    page.write_page(path, page.page(title, parts))
    print(f"report: {path}")


def write_drawn(args: argparse.Namespace, draw: Callable[[Path], None], title: str, heading: str, text: str) -> None:
    """Draw into the file of --plot, and write the page of --report with the picture and `text`, if these are given."""
    if args.plot is not None:
        draw(args.plot)
    if args.report is not None:
        with TemporaryDirectory() as folder:
            drawn = args.plot is not None and args.plot.suffix == ".png"
            picture = args.plot if drawn else Path(folder, "picture.png")
            if not drawn:
                with contextlib.redirect_stdout(io.StringIO()):  # which names a file that the page replaces
                    draw(picture)
            write_report(args.report, title, [(heading, text, [picture])])
