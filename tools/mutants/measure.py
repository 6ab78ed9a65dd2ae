"""Measure what each test executes: one run of the whole suite under coverage.py, with the test as context."""

import hashlib
import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coverage import CoverageData
from coverage.data import combine_parallel_data
from tqdm import tqdm

from tools.mutants.in_pytest import NOTES, SELECTED
from tools.mutants.tree import CHECKOUT, PACKAGE, PYTHON, Copy, files_of, is_of_suite

# Child processes read this file too, and take the test that started them for their context. Those that a fork made
# begin anew (patch = fork); the functions of the package run in threads, commands and nodes.
SETTINGS = """[run]
source = {package}
data_file = {data}
parallel = true
sigterm = true
core = ctrace
patch = fork, _exit
context = ${{PYTEST_CURRENT_TEST-}}
disable_warnings = no-data-collected, module-not-measured, module-not-imported
"""
SHARED = ("pyproject.toml", "test/conftest.py", "test/helpers/")  # files that all tests may use
PYTEST = ["-m", "pytest", "-q", "-p", "tools.mutants.in_pytest", "-p", "no:cacheprovider", "--hypothesis-seed=0"]


def digest(roots: Iterable[tuple[Path, str]]) -> str:
    """Return a digest of the names and contents of files, given as folder and path below it."""
    found = hashlib.sha256()
    for root, name in roots:
        found.update(name.encode() + b"\0" + (root / name).read_bytes())
    return found.hexdigest()[:16]


def parts_of(suite: Path) -> dict[str, str]:
    """Return the folders and files of tests directly below test/, with digests of all that their reach depends on."""
    names = [name for name in files_of(suite) if is_of_suite(name)]
    common = [(CHECKOUT, name) for name in files_of(CHECKOUT) if name.startswith(f"{PACKAGE}/")]
    common += [(suite, name) for name in names if name.startswith(SHARED)]
    common += [(CHECKOUT, f"tools/mutants/{name}.py") for name in ("in_pytest", "processor")]
    parts = sorted({"/".join(name.split("/")[:2]) for name in names if re.search(r"/test_[^/]*\.py$", name)})
    return {
        part: digest(common + [(suite, name) for name in names if f"{name}/".startswith(f"{part}/")]) for part in parts
    }


def measure(suite: Path, work: Path, jobs: int) -> list[Path]:
    """Run all tests under coverage, one part of the suite after the other; what was measured before stays.

    Returns the files of notes, each beside its file of coverage.
    """
    folder = work / "reach"
    folder.mkdir(parents=True, exist_ok=True)
    parts = {part: folder / f"{Path(part).stem}-{key}.json" for part, key in parts_of(suite).items()}
    if missing := {part: notes for part, notes in parts.items() if not notes.exists()}:
        copy = Copy(work / "measured", suite)
        for part, notes in tqdm(missing.items(), "tests under coverage", unit="part"):
            measure_part(copy, part, notes, jobs)
    return list(parts.values())


def in_check(suite: Path, work: Path) -> set[str]:
    """Return the tests that `make check` runs, as pytest collects them."""
    expression = re.search(r'-m "([^"]+)"', (suite / "tools" / "check").read_text()).group(1)
    copy = Copy(work / "measured", suite)
    command = [*PYTHON, *PYTEST, "--collect-only", "-m", expression]
    found = subprocess.run(command, cwd=copy.root, env=copy.environment, capture_output=True, text=True, check=False)
    return {line for line in found.stdout.splitlines() if "::" in line}


def measure_part(copy: Copy, part: str, notes: Path, jobs: int) -> None:
    """Run one folder of tests under coverage, and write notes on each test and the lines that each executes."""
    data, raw, settings = notes.with_suffix(".coverage"), notes.with_suffix(".raw"), notes.with_suffix(".rc")
    for stale in [*notes.parent.glob(f"{data.name}*"), *notes.parent.glob(raw.name)]:
        stale.unlink()
    settings.write_text(SETTINGS.format(package=copy.root / PACKAGE, data=data))
    environment = {**copy.environment, "COVERAGE_PROCESS_START": str(settings), NOTES: str(raw)}
    workers = ["-n", str(jobs), "--dist", "worksteal"] if jobs > 1 else []
    with open(notes.with_suffix(".log"), "w") as log:
        command = [*PYTHON, *PYTEST, "--timeout=600", *workers, part]
        outcome = subprocess.run(command, cwd=copy.root, env=environment, stdout=log, stderr=log, check=False)
    copy.end_processes()
    if not raw.exists() or outcome.returncode not in (0, 1, 5):  # passed, failed, nothing collected
        raise SystemExit(f"the tests in {part} could not be run: {log.name}")
    combine_parallel_data(CoverageData(str(data)), data_paths=[str(data.parent)])
    found = again(copy, json.loads(raw.read_text()), raw)
    notes.write_text(json.dumps({"root": str(copy.root), "tests": found}))


def again(copy: Copy, notes: dict[str, Any], raw: Path) -> dict[str, Any]:
    """Run the tests that failed once more, without coverage, which slows them; return the notes with what came out."""
    if failed := [name for name, note in notes.items() if note["outcome"] == "failed"]:
        selected = raw.with_suffix(".selected")
        selected.write_text(json.dumps({"selected": failed, "known": list(notes)}))
        environment = {**copy.environment, NOTES: str(raw), SELECTED: str(selected)}
        files = sorted({name.split("::")[0] for name in failed})
        subprocess.run([*PYTHON, *PYTEST, *files], cwd=copy.root, env=environment, capture_output=True, check=False)
        copy.end_processes()
        notes |= json.loads(raw.read_text())
    return notes
