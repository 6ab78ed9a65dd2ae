"""How tests run an experiment: as the command does, in this process."""

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from matplotlib.layout_engine import ConstrainedLayoutEngine

from icub_learning.cli.main import main


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function that runs an experiment and returns its output and figures; its pictures must not be empty."""

    def command(name: str, *arguments: object, folder: Path | None = None) -> tuple[str, dict[str, Any]]:
        file, printed = (folder or tmp_path_factory.mktemp(name)) / "out" / "figures.json", io.StringIO()
        line = ["reproduce", name, "--out", str(file.parent), "--json", str(file), *map(str, arguments)]
        with redirect_stdout(printed), pytest.MonkeyPatch.context() as patch:
            patch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)  # saves nearly half of the drawing time
            assert main(line) == 0
        pictures = [path.stat().st_size for path in file.parent.glob("*.png")]
        assert pictures and min(pictures) > 10_000
        return printed.getvalue(), json.loads(file.read_text())

    return command


@pytest.fixture(scope="session")
def cells() -> Any:
    """Return a function that finds the printed row whose first cell is `start` and returns the words after it."""

    def of_row(out: str, start: str) -> list[str]:
        line = next(line for line in out.splitlines() if line.startswith(start + " "))
        return line[len(start) :].split()

    return of_row
