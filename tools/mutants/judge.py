"""Judge whether tests notice a mutant: run those that reach it, in a copy, until the first one fails."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

from tools.mutants.draw import Mutant, unchanged
from tools.mutants.in_pytest import SELECTED
from tools.mutants.measure import PYTEST
from tools.mutants.processor import wait
from tools.mutants.reach import Reach
from tools.mutants.tree import PYTHON, Copy, extensions_with

PASSED = (0, 5)  # exit codes of pytest: all passed, or the mutant left nothing to collect
FIRST_BATCH = 10.0  # [s]; each batch of tests takes four times as long as the one before
# Limit, over the processor time of the same tests without the change, under coverage. Without coverage they took 0.7 to
# 1.2 times that, beside other work too (2026-11-25; recursive, nodes/common, cli/teach): five times means more work.
FACTOR = 5.0
START = 60.0  # [s] of processor time on top, for pytest and for fixtures that run in another order
stopped = threading.Event()


def judge(mutant: Mutant, copy: Copy, reach: Reach) -> dict[str, Any]:
    """Return the result for a mutant: "check" and "test" say whether the tests of these targets killed it.

    "by" is the test that failed first, "crash", "processor time" or "hung"; "tests" is how many were run. Where all
    passed, "executed" says whether any executes the line.
    """
    path = copy.root / mutant.file
    source = path.read_text()
    if (at := mutant.place(source)) is None:
        return {"gone": True}
    names = reach.tests_for(mutant.file, source, at + 1)
    extensions = [] if mutant.file.endswith(".py") else extensions_with(mutant.file)
    before = unchanged(copy, tuple(extensions)) if extensions else {}
    run = 0
    try:
        copy.write(mutant.file, mutant.apply(source))
        if extensions and not copy.build(extensions):
            return {"gone": True}  # it does not compile in this tree
        for of_check in (True, False):
            for batch in batches([name for name in names if (name in reach.in_check) == of_check], reach):
                run += len(batch)
                if by := killer(batch, copy, reach):
                    return {"check": of_check, "test": True, "by": by, "tests": run}
        executed = reach.is_executed(mutant.file, source, at + 1)
        return {"check": False, "test": False, "by": "", "tests": run, "executed": executed}
    finally:
        copy.write(mutant.file, source)
        for compiled, content in before.items():
            compiled.write_bytes(content)


def batches(names: list[str], reach: Reach) -> Iterator[list[str]]:
    """Cut tests into batches, short ones first: most mutants die in the first, and few files have to be imported."""
    batch: list[str] = []
    seconds, longest = 0.0, FIRST_BATCH
    for name in names:
        seconds += reach.seconds([name])
        if batch and seconds > longest:
            yield batch
            batch, seconds, longest = [], reach.seconds([name]), 4 * longest
        batch.append(name)
    if batch:
        yield batch


def killer(names: list[str], copy: Copy, reach: Reach) -> str:
    """Run tests until one fails; return it or what else ended them, and "" if all pass.

    Tests that `make check` leaves out, of running nodes and programs, have to fail twice: a busy machine is late once.
    """
    while names:
        by = first_failure(names, copy, reach)
        if by not in names or by in reach.in_check or first_failure([by], copy, reach):
            return by
        names = names[names.index(by) + 1 :]
    return ""


def first_failure(names: list[str], copy: Copy, reach: Reach) -> str:
    """Run tests once: return the first that fails, "crash", "processor time" or "hung", and "" if all pass."""
    if stopped.is_set():
        raise KeyboardInterrupt
    selected, log = copy.root / "out" / "selected.json", copy.root / "out" / "pytest.log"
    selected.parent.mkdir(exist_ok=True)
    selected.write_text(json.dumps({"selected": names, "known": list(reach.tests)}))
    command = [*PYTHON, *PYTEST, "-x", "--timeout=0", *dict.fromkeys(name.split("::")[0] for name in names)]
    environment = {**copy.environment, SELECTED: str(selected)}
    with open(log, "w") as output:
        run = subprocess.Popen(
            command, cwd=copy.root, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        if too_long := wait(run, START + FACTOR * reach.processor(names)):
            return too_long
    finally:
        copy.end_processes()
        code = run.wait()
    failed = re.search(r"^(?:FAILED|ERROR) (test/.*?)(?: - .*)?$", log.read_text(errors="replace"), re.MULTILINE)
    return "" if code in PASSED else failed[1] if failed else "crash"
