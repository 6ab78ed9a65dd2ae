"""Running an experiment in a process of its own and keeping its outcome, so that an interrupted report can resume."""

import ast
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from tqdm import tqdm

import icub_learning
from icub_learning.errors import ObjectError, RecordingError, RenderingError
from icub_learning.experiments.figures import WORSE
from icub_learning.reporting.tables import write_json
from icub_learning.signals import stop_signals

OUTCOME, FIGURES = "outcome.json", "figures.json"
DONE, NO_DATA, FAILED = "done", "no data", "failed"
PRINTED, ERRORS = "printed.txt", "errors.txt"  # what the experiment wrote on standard output and standard error
MISSING = RecordingError, ObjectError, RenderingError  # errors where data, or a renderer, are not to be had
MISSING_DATA = 3  # exit code after one of them; 2 is that of bad arguments
PACKAGE = Path(icub_learning.__file__).parent
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Program that runs a command, then writes the list of the package's files that it loaded.
TRACED = """
import sys
from icub_learning.cli.main import make_parser
from icub_learning.experiments.report.running import MISSING, MISSING_DATA, note_files
args = make_parser().parse_args(sys.argv[2:])
try:
    code = args.run(args)
except MISSING as error:
    print(error, file=sys.stderr)
    code = MISSING_DATA
note_files(sys.argv[1])
sys.exit(code)
"""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one experiment."""

    name: str  # name of the experiment
    arguments: tuple[str, ...]  # arguments of its command
    status: str  # DONE, NO_DATA or FAILED
    text: str  # its printed output, without the comparisons at the end
    message: str  # last line on standard error; "" if it is done
    seconds: float  # how long it took [s]
    finished: str  # date and time
    files: dict[str, str]  # digests of the files of this package that it depends on, see `digests`

    def figures(self, folder: Path) -> dict[str, Any]:
        """Return the figures that the experiment wrote with --json; {} if it is not done."""
        path = folder / FIGURES
        return dict(json.loads(path.read_text())) if self.status == DONE and path.is_file() else {}


def kept_outcome(folder: Path, name: str, arguments: Sequence[str], any_files: bool = False) -> Outcome | None:
    """Return the outcome of an earlier completed run of the same command on files with the same digests; else None.
    With `any_files` those may have changed since."""
    try:
        found = json.loads((folder / OUTCOME).read_text())
        outcome = Outcome(**{**found, "arguments": tuple(found["arguments"])})
        same = (outcome.name, outcome.arguments) == (name, tuple(arguments))
        same &= any_files or outcome.files == digests(outcome.files)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return outcome if same and outcome.status == DONE else None


def digests(names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of files of the package, by their paths below it; comments and docstrings of Python files do
    not count. Raises OSError if a file is missing."""
    return {name: _digest((PACKAGE / name).read_bytes(), name.endswith(".py")) for name in names}


@cache  # experiments share most of their files
def _digest(content: bytes, python: bool) -> str:
    if python:
        tree = ast.parse(content)
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                del node.body[0]
        content = ast.dump(tree).encode()
    return hashlib.sha256(content).hexdigest()


def note_files(path: str) -> None:
    """Write a list of the package's modules that this process has loaded, and of the .npz files beside them."""
    loaded = (Path(getattr(one, "__file__", None) or "") for one in list(sys.modules.values()))
    own = {one for one in loaded if one.is_relative_to(PACKAGE)}
    beside = {data for one in own for data in one.parent.glob("*.npz")}
    write_json(Path(path), {"files": sorted(str(one.relative_to(PACKAGE)) for one in own | beside)})


def run_experiment(folder: Path, name: str, arguments: Sequence[str], out: bool) -> Outcome:
    """Run one experiment and keep its outcome, output, figures and pictures in the folder; a bar shows the time. `out`
    says whether the experiment takes --out."""
    folder.mkdir(parents=True, exist_ok=True)
    last = kept_outcome(folder, name, arguments, any_files=True)
    noted = folder / "files.json"
    for old in (*folder.glob("*.png"), noted, folder / FIGURES):
        old.unlink(missing_ok=True)
    command = [sys.executable, "-c", TRACED, str(noted), "reproduce", name, *arguments]
    command += ["--json", str(folder / FIGURES), *(["--out", str(folder)] if out else [])]
    start = perf_counter()
    code = _run(command, folder, name, None if last is None else round(last.seconds))
    status = {0: DONE, MISSING_DATA: NO_DATA}.get(code, FAILED)
    lines = (folder / ERRORS).read_text().strip().splitlines()
    message = "" if status == DONE else (lines[-1] if lines else f"exit code {code}")
    # Lines that name files of this run are left out, as the page lacks these; for comparisons it has a table.
    printed = "\n".join(line for line in (folder / PRINTED).read_text().splitlines() if str(folder) not in line)
    text = printed.partition(f"\n{WORSE}")[0].strip()
    took, now = perf_counter() - start, datetime.now().astimezone().isoformat(timespec="seconds")
    files = digests(json.loads(noted.read_text())["files"] if noted.is_file() else [])
    outcome = Outcome(name, tuple(arguments), status, text, message, took, now, files)
    write_json(folder / OUTCOME, asdict(outcome))
    return outcome


def _run(command: Sequence[str], folder: Path, name: str, seconds: int | None) -> int:
    """Run a command, which took so many seconds the last time, with its output in the folder; return its exit code.
    Raises KeyboardInterrupt after SIGINT, SIGTERM and SIGHUP, which end the command too."""
    with stop_signals() as stopped, open(folder / PRINTED, "w") as printed, open(folder / ERRORS, "w") as errors:
        process = subprocess.Popen(command, stdout=printed, stderr=errors)
        try:
            with tqdm(desc=name, total=seconds, unit="s", disable=None, leave=False) as bar:
                while process.poll() is None:
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(1.0)
                    bar.update()
                    if stopped():
                        raise KeyboardInterrupt
        finally:
            process.kill()
    return process.returncode
