"""The examples in the documents run as they are written: lines after >>>, and blocks of Python."""

from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

CHECKOUT = Path(__file__).resolve().parents[2]
# test/test_testing.py runs add_a_learner.md; the others show parts of programs.
PAGES = sorted(
    page for page in (CHECKOUT / "docs").rglob("*.md")
    if "```python" in page.read_text() and page.name not in ("add_a_learner.md", "evaluate.md", "recordings.md")
)  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT / "docs")))
def test_examples_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some examples write files
    examples = list(Sybil(parsers=[PythonCodeBlockParser()]).parse(page).examples())
    assert examples
    for example in examples:
        example.evaluate()
