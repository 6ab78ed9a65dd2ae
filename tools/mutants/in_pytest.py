"""A plugin of pytest: it names the test to coverage, notes times and outcomes, and selects tests."""

import json
import os
import resource
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import coverage
import pytest

from tools.mutants.processor import family, processor_seconds

NOTES = "MUTANTS_NOTES"  # environment variable: the file for what is noted of each test
SELECTED = "MUTANTS_SELECTED"  # environment variable: the file of tests to run, and of all that are known
_notes: dict[str, dict[str, Any]] = defaultdict(lambda: {"seconds": 0.0, "processor": 0.0, "outcome": "passed"})
_began = 0.0  # processor time when the phase of a test began [s]

# A mutant that allocates without end is to fail, not the machine.
_half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
_most = resource.getrlimit(resource.RLIMIT_DATA)[1]
resource.setrlimit(resource.RLIMIT_DATA, (_half if _most == resource.RLIM_INFINITY else min(_half, _most), _most))


def _begin(item: pytest.Item, phase: str) -> None:
    global _began
    _began = processor_seconds(family(os.getpid()))
    if measured := coverage.Coverage.current():
        measured.switch_context(f"{item.nodeid} ({phase})")  # as pytest tells child processes in PYTEST_CURRENT_TEST


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Name the context before fixtures are made."""
    _begin(item, "setup")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Name the context before the test runs."""
    _begin(item, "call")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Name the context before fixtures end."""
    _begin(item, "teardown")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the selected tests, and variants of them that only the mutant has: its constants may be parameters."""
    if not os.environ.get(SELECTED):
        return
    tests = json.loads(Path(os.environ[SELECTED]).read_text())
    selected, known = set(tests["selected"]), set(tests["known"])
    functions = {name.split("[")[0] for name in selected}
    others = [
        item
        for item in items
        if item.nodeid not in selected and (item.nodeid in known or item.nodeid.split("[")[0] not in functions)
    ]
    if others:
        config.hook.pytest_deselected(items=others)
        left_out = set(others)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the processor time of a test into its report, which workers send."""
    report = yield
    report.processor = processor_seconds(family(os.getpid())) - _began
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note times and outcome of a test."""
    note = _notes[report.nodeid]
    note["seconds"] += report.duration
    note["processor"] += report.processor
    if note["outcome"] == "passed":
        note["outcome"] = report.outcome


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what was noted; in parallel runs the process that gave out the tests knows it all."""
    if os.environ.get(NOTES) and not hasattr(session.config, "workerinput"):
        Path(os.environ[NOTES]).write_text(json.dumps(_notes))
