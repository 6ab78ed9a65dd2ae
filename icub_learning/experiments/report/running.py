"""Runs an experiment in a process of its own and keeps what came of it, so that an interrupted report goes on."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from icub_learning import __version__
from icub_learning.reporting.tables import write_json

OUTCOME, FIGURES = "outcome.json", "figures.json"
DONE, NO_DATA, FAILED = "done", "no data", "failed"
BAD_INPUT = 2  # exit code of the command where data are missing


@dataclass(frozen=True)
class Outcome:
    """What came of one experiment.

    Attributes:
        name: of the experiment.
        arguments: of its command.
        status: DONE, NO_DATA or FAILED.
        text: what it printed.
        message: the last line on standard error, unless it is done.
        seconds: how long it took [s].
        finished: date and time.
        version: of this package.
    """

    name: str
    arguments: tuple[str, ...]
    status: str
    text: str
    message: str
    seconds: float
    finished: str
    version: str

    def figures(self, folder: Path) -> dict[str, Any]:
        """Return what the experiment wrote with --json, or nothing if it is not done."""
        path = folder / FIGURES
        return dict(json.loads(path.read_text())) if self.status == DONE and path.is_file() else {}


def kept_outcome(folder: Path, name: str, arguments: Sequence[str]) -> Outcome | None:
    """Return the outcome of an earlier run of the same command and version that got to its end, if there is one."""
    try:
        found = json.loads((folder / OUTCOME).read_text())
        outcome = Outcome(**{**found, "arguments": tuple(found["arguments"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    same = (outcome.name, outcome.arguments, outcome.version) == (name, tuple(arguments), __version__)
    return outcome if same and outcome.status == DONE else None


def run_experiment(folder: Path, name: str, arguments: Sequence[str], out: bool) -> Outcome:
    """Run one experiment and keep its outcome, figures and pictures in the folder.

    Args:
        folder: made if there is none.
        name: of the experiment.
        arguments: see `Plan`.
        out: whether it takes --out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for picture in folder.glob("*.png"):
        picture.unlink()
    command = [sys.executable, "-m", "icub_learning.cli", "reproduce", name, *arguments]
    command += ["--json", str(folder / FIGURES), *(["--out", str(folder)] if out else [])]
    start = perf_counter()
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    status = {0: DONE, BAD_INPUT: NO_DATA}.get(ran.returncode, FAILED)
    lines = ran.stderr.strip().splitlines()
    outcome = Outcome(
        name,
        tuple(arguments),
        status,
        _without_paths(ran.stdout, folder),
        "" if status == DONE else (lines[-1] if lines else f"exit code {ran.returncode}"),
        perf_counter() - start,
        datetime.now().astimezone().isoformat(timespec="seconds"),
        __version__,
    )
    write_json(folder / OUTCOME, asdict(outcome))
    return outcome


def _without_paths(text: str, folder: Path) -> str:
    """Leave out the lines that say where files of this run are, which a reader of the page does not have."""
    return "\n".join(line for line in text.splitlines() if str(folder) not in line).strip()
