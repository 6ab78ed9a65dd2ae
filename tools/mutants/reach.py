"""Which tests reach a line: one run of the whole suite under coverage.py, with the test as context."""

import ast
import hashlib
import json
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from coverage import CoverageData
from coverage.data import combine_parallel_data
from tqdm import tqdm

from tools.mutants.in_pytest import NOTES, SELECTED
from tools.mutants.tree import CHECKOUT, PACKAGE, PYTHON, Copy, extensions_with, files_of, importers, is_of_suite

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
SHARED = ("test/conftest.py", "test/helpers/")  # what all tests may use
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
    common += [(suite, name) for name in names if not name.startswith("test/") or name.startswith(SHARED)]
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
        subprocess.run(command, cwd=copy.root, env=environment, stdout=log, stderr=log, check=False)
    copy.end_processes()
    if not raw.exists():
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


class Reach:
    """Which tests of a suite can notice a change of a line, most likely and quickest files of tests first."""

    def __init__(self, suite: Path, notes: list[Path]) -> None:
        self.key = hashlib.sha256(" ".join(path.name for path in notes).encode()).hexdigest()[:16]
        self.tests: dict[str, dict[str, Any]] = {}
        self._parts: list[tuple[Path, CoverageData]] = []
        for path in notes:
            found = json.loads(path.read_text())
            self.tests |= found["tests"]
            data = CoverageData(str(path.with_suffix(".coverage")))
            data.read()
            self._parts.append((Path(found["root"]), data))
        self.failing = [name for name, note in self.tests.items() if note["outcome"] == "failed"]
        expression = re.search(r'-m "([^"]+)"', (suite / "tools" / "check").read_text()).group(1)
        self._in_check = compile(expression, "tools/check", "eval")

    def in_check(self, name: str) -> bool:
        """Return whether `make check` runs a test."""
        markers = self.tests[name]["markers"]
        return eval(self._in_check, {"__builtins__": {}}, {word: word in markers for word in self._in_check.co_names})

    def seconds(self, names: Iterable[str]) -> float:
        """Return how long tests took under coverage."""
        return sum(self.tests[name]["seconds"] for name in names)

    def tests_for(self, file: str, source: str, line: int) -> list[str]:
        """Return the tests that can notice a change of a line.

        In a function these are the tests that execute the statement; all tests of a file of which one does in a
        fixture, which they may share. What runs on import is noticed by any test that executes a function of the
        module, or of those that import it, and by the tests that lie where the module does. So is C.
        """
        if file.endswith(".py"):
            lines, runs_later = statement(source, line)
            contexts = set().union(*(self._contexts(file).get(number, ()) for number in lines))
            if runs_later and contexts and "" not in contexts:
                return self._ordered(file, self._named(contexts))
            module = Path(file).parent.name if file.endswith("/__init__.py") else Path(file).stem
            modules = [file] if self._functions(file) else importers(module)
        else:
            modules = [path for name in extensions_with(file) for path in importers(name.split(".")[-1])]
        contexts = set().union(*map(self._functions, modules))
        return self._ordered(file, self._named(contexts) | self._beside(file))

    def _beside(self, file: str) -> set[str]:
        """Return the tests in the folder that mirrors the module's, or in the nearest above it that has tests."""
        for folder in list(Path(file).parents)[:-2]:
            mirror = str(folder).replace(PACKAGE, "test", 1) + "/"
            if found := {name for name in self.tests if name.startswith(mirror)}:
                return found
        return {name for name in self.tests if name.startswith(f"test/test_{Path(file).stem}.py")}

    @cache  # noqa: B019  there is one of these for as long as the program runs
    def _contexts(self, file: str) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {}
        for root, data in self._parts:
            for line, contexts in data.contexts_by_lineno(str(root / file)).items():
                found.setdefault(line, set()).update(contexts)
        return found

    @cache  # noqa: B019
    def _functions(self, file: str) -> set[str]:
        """Return the contexts in which any function of a module was executed."""
        source = (CHECKOUT / file).read_text()
        found = [contexts for line, contexts in self._contexts(file).items() if statement(source, line)[1]]
        return set().union(*found) - {""}

    def _named(self, contexts: set[str]) -> set[str]:
        tests = dict(context.rsplit(" (", 1) for context in contexts if context)
        shared = {context.split("::")[0] for context in contexts if context.endswith((" (setup)", " (teardown)"))}
        return {name for name in self.tests if name in tests or name.split("::")[0] in shared}

    def _ordered(self, file: str, names: set[str]) -> list[str]:
        """Return tests that pass, in the order of their files: short ones first, and those that mirror the module."""
        by_file: dict[str, list[str]] = {}
        for name in self.tests:
            if name in names and self.tests[name]["outcome"] == "passed":
                by_file.setdefault(name.split("::")[0], []).append(name)
        own = Path(file).parent / f"test_{Path(file).stem}.py"
        mirror = str(own).replace(PACKAGE, "test", 1)

        def cost(path: str) -> float:
            distance = (path != mirror) + (Path(path).parent != Path(mirror).parent)
            return (1.0 + self.seconds(by_file[path])) * 4**distance

        return [name for path in sorted(by_file, key=cost) for name in by_file[path]]


@cache
def _statements(source: str) -> list[ast.stmt]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]


@cache
def statement(source: str, line: int) -> tuple[range, bool]:
    """Return the lines of the innermost statement at a line, without its body, and whether a function runs it later."""
    found = [node for node in _statements(source) if node.lineno <= line <= (node.end_lineno or 0)]
    functions = [node for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    runs_later = any(node.body[0].lineno <= line for node in functions)
    inner = max(found, key=lambda node: node.lineno, default=None)
    if inner is None or isinstance(inner, ast.Match):
        return range(line, line + 1), runs_later
    end = inner.body[0].lineno if hasattr(inner, "body") else (inner.end_lineno or 0) + 1
    return range(inner.lineno, end) if line < end else range(line, line + 1), runs_later
