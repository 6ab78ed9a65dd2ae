"""Find which tests can notice a change of a line, by what each test executes and by where it lies."""

import ast
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from coverage import CoverageData

from tools.mutants.tree import CHECKOUT, PACKAGE, extensions_with, importers


class Reach:
    """Which tests of a suite can notice a change of a line, most likely and quickest files of tests first."""

    def __init__(self, notes: list[Path], in_check: set[str]) -> None:
        self.in_check = in_check
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

    def seconds(self, names: Iterable[str]) -> float:
        """Return how long tests took under coverage."""
        return sum(self.tests[name]["seconds"] for name in names)

    def processor(self, names: Iterable[str]) -> float:
        """Return the processor time that tests took under coverage, with the processes that they started [s]."""
        return sum(self.tests[name]["processor"] for name in names)

    def tests_for(self, file: str, source: str, line: int) -> list[str]:
        """Return the tests that can notice a change of a line.

        In a function these are the tests that execute the statement; all tests of a file if one of them does so in a
        fixture, which they may share; and those that read the numbers in sources. What runs on import is noticed by any
        test that executes a function of the module, or of those that import it, by the tests that lie where the module
        does, and by those that compare the whole with its documents. So is C.
        """
        if file.endswith(".py"):
            contexts = self._at(file, source, line)
            if statement(source, line)[1] and contexts and "" not in contexts:
                return self._ordered(file, self._named(contexts) | self._reading_sources())
            module = Path(file).parent.name if file.endswith("/__init__.py") else Path(file).stem
            modules = [file] if self._functions(file) else importers(module)
        else:
            modules = [path for name in extensions_with(file) for path in importers(name.split(".")[-1])]
        contexts = set().union(*map(self._functions, modules))
        return self._ordered(file, self._named(contexts) | self._beside(file) | self._of_the_whole())

    def is_executed(self, file: str, source: str, line: int) -> bool:
        """Return whether any test executes a line; True for C, where that is not known."""
        return not file.endswith(".py") or bool(self._at(file, source, line))

    def _at(self, file: str, source: str, line: int) -> set[str]:
        return set().union(*(self._contexts(file).get(number, ()) for number in statement(source, line)[0]))

    def _beside(self, file: str) -> set[str]:
        """Return the tests in the folder that mirrors the module's, or in the nearest above it that has tests."""
        for folder in list(Path(file).parents)[:-2]:
            mirror = str(folder).replace(PACKAGE, "test", 1) + "/"
            if found := {name for name in self.tests if name.startswith(mirror)}:
                return found
        return {name for name in self.tests if name.startswith(f"test/test_{Path(file).stem}.py")}

    def _reading_sources(self) -> set[str]:
        return {name for name in self._of_the_whole() & self.in_check if "test_written_pages.py" in name}

    def _of_the_whole(self) -> set[str]:
        return {name for name in self.tests if name.startswith("test/repository/")}

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
