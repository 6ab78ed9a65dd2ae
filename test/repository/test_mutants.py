"""`make mutants` changes one place at a time, in proportion to lines, and tells killed mutants from survivors."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from tools.mutants import c_source
from tools.mutants.draw import Mutant, draw, rooms, save
from tools.mutants.processor import family, wait

SUMS = '"""1 + 1."""\n\n\ndef total(count: int, start: int = 2) -> int:\n    return count + start\n'
TEST = "from icub_learning.toy.sums import total\n\n\ndef test_total():\n    assert total(3) > 4\n"
FILE = "icub_learning/toy/sums.py"


def test_rooms_get_mutants_in_proportion_to_their_lines() -> None:
    assert rooms(Counter(small=20, large=50, middle=30), 10) == {"small": 2, "large": 5, "middle": 3}


def test_a_seed_gives_the_same_changes_of_what_runs() -> None:
    """The mutants change the default and the sum, but neither annotations nor docstrings."""
    pytest.importorskip("cosmic_ray")
    found = draw({FILE: SUMS}, 5, 3, None)
    assert found == draw({FILE: SUMS}, 5, 3, None) and len(set(found)) == 5
    for mutant in found:
        compile(mutant.apply(SUMS), FILE, "exec")
        assert mutant.line in (4, 5) and "\n" not in mutant.old + mutant.new


def test_one_place_of_c_is_changed() -> None:
    """Comments, strings and directives are not changed."""
    source = '#define N 3 /* 1 + 1 */\nif (a[0] - 1.5f < -x && "1 + 1") i++;\n'
    places = c_source.places(source)
    found = sorted(source[slice(*span)] for span in places)
    assert found == sorted(['(a[0] - 1.5f < -x && "1 + 1")', "0", "-", "1.5f", "<", "-", "&&", "++"])
    changed = {c_source.change(source, places[span], random.Random(0)) for span in places}
    assert len(changed) == len(places) and source not in changed


@pytest.mark.parametrize(("program", "found"), [
    ("import time; time.sleep(1)", ""),
    ("import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])", "processor time"),
    ("import time; time.sleep(3600)", "hung"),
])  # fmt: skip
def test_what_computes_too_long_is_told_from_what_hangs(program: str, found: str) -> None:
    run = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
    try:
        assert wait(run, most=2.0, looks=20, interval=0.1) == found
    finally:
        for pid in family(run.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        run.wait()


def test_a_mutant_is_killed_by_a_test_that_notices_and_survives_otherwise(checkout: Path, tmp_path: Path) -> None:
    """`3 - 2 > 4` fails, and `3 + 3 > 4` is as true as `3 + 2 > 4`."""
    shutil.copytree(checkout / "tools", tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(checkout / "pyproject.toml", tmp_path)
    for name, text in {FILE: SUMS, "test/toy/test_sums.py": TEST, "icub_learning/__init__.py": ""}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    lines, planted = SUMS.splitlines(), [(4, "= 2", "= 3"), (5, "+", "-")]
    texts = [(at, lines[at - 1], lines[at - 1].replace(old, new)) for at, old, new in planted]
    save([Mutant(FILE, *text) for text in texts], tmp_path / "planted.json")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    command = [sys.executable, "-m", "tools.mutants", "--mutants", "planted.json", "--json", "judged.json", "--jobs=1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    judged = [(entry["check"], entry["by"]) for entry in json.loads((tmp_path / "judged.json").read_text())]
    assert judged == [(False, ""), (True, "test/toy/test_sums.py::test_total")]
    assert f"survived 1 tests: {FILE}:4" in done.stdout
