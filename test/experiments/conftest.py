"""How tests run an experiment: as the command does, in this process, and beside a record of its results."""

import io
import json
import sys
from contextlib import redirect_stdout
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from helpers import records
from matplotlib.layout_engine import ConstrainedLayoutEngine

from icub_learning.cli.main import main
from icub_learning.cli.reproduce import EXPERIMENTS


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function that runs an experiment, compares it with its record, and returns its output and figures.
    Clocks of experiments are simulated, so that a record holds what is made of times too."""

    def command(name: str, *arguments: object, folder: Path | None = None) -> tuple[str, dict[str, Any]]:
        file, printed = (folder or tmp_path_factory.mktemp(name)) / "out" / "figures.json", io.StringIO()
        out = [] if name in ("change", "detection") else ["--out", str(file.parent)]  # these draw nothing
        line = ["reproduce", name, *out, "--json", str(file), *map(str, arguments)]
        experiment, readings = import_module(EXPERIMENTS[name][0]), count()
        with redirect_stdout(printed), records.drawn() as shown, pytest.MonkeyPatch.context() as patch:
            patch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)  # saves nearly half of the drawing time
            for module in [sys.modules[one] for one in sys.modules if one.startswith("icub_learning.experiments")]:
                for clock in {"perf_counter", "process_time"} & vars(module).keys():
                    patch.setattr(module, clock, lambda: 1e-3 * next(readings) ** 1.5)
            assert main(line) == 0
        key = " ".join([name, *(str(one) for one in arguments if not isinstance(one, Path))])
        words, figures = printed.getvalue(), json.loads(file.read_text())
        found = {"figures": figures, "printed": words.splitlines(), "drawn": shown}
        if comparisons := getattr(experiment, "comparisons", None):
            found["comparisons"] = [[*[*vars(one).values()][:-1], one.worse] for one in comparisons(figures)]
        records.check(__file__, key, found)
        return words, figures

    return command
