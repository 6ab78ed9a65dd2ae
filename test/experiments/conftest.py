"""How tests run an experiment: as the command does, in this process."""

import json
from pathlib import Path
from typing import Any

import pytest

from icub_learning.cli.main import main


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run an experiment with arguments; return what it printed, and its figures. It draws, and not nothing."""

    def command(name: str, *arguments: object) -> tuple[str, dict[str, Any]]:
        file = tmp_path / "out" / "figures.json"
        line = ["reproduce", name, "--out", str(file.parent), "--json", str(file), *map(str, arguments)]
        code = main(line)
        printed = capsys.readouterr()
        assert code == 0, printed.err
        pictures = [path.stat().st_size for path in file.parent.glob("*.png")]
        assert pictures and min(pictures) > 10_000
        return printed.out, json.loads(file.read_text())

    return command
