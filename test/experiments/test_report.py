"""The page with every experiment: what runs, what is kept, what is written."""

import base64
import io
import json
import re
import signal
from dataclasses import replace
from html import escape
from pathlib import Path
from unittest.mock import Mock

import pytest
from helpers import records
from PIL import Image

from icub_learning.cli.main import main
from icub_learning.experiments.figures import KINDS, SAME, STAND_IN, THEORY, TIME, WORSE, Comparison
from icub_learning.experiments.panels import Panel, draw
from icub_learning.experiments.report import running
from icub_learning.experiments.report.page import ABSENT, Section, make_page
from icub_learning.experiments.report.running import DONE, FAILED, FIGURES, NO_DATA, Outcome, kept_outcome
from icub_learning.experiments.thesis import figure_4_2, table_6_2
from icub_learning.reporting.tables import of_draws

OUTCOME = Outcome("falkon", ("--quick",), DONE, "n < 5 & m", "", 12.3, "2026-11-22T12:00:00+00:00", {})


def test_what_is_worse():
    for ours, expected in ((1.2, "less"), (0.8, "more")):
        entries = [Comparison("x", ours, 1.0, better) for better in ("less", "more", "")]
        assert [one.better for one in entries if one.worse] == [expected]
    assert not Comparison("x", 0.46514, 0.4651, "less").worse and Comparison("x", 0.46516, 0.4651, "less").worse
    assert Comparison("x", -0.4999, -0.5, "less", THEORY).worse  # theory is not rounded
    with pytest.raises(AssertionError, match="x: lower"):
        Comparison("x", 1.0, 1.0, "lower")
    assert Comparison("x", 0.04, 0.0, "less").worse and not Comparison("x", -0.04, 0.0, "less").worse  # 0 is exact
    remarks = [Comparison("x", ours, 1.0, "less", SAME, 0.2, "fewer samples").remark for ours in (0.9, 1.1, 1.3)]
    assert remarks == ["", "worse: within the deviation of 0.20", "worse: fewer samples"]
    assert [of_draws("2.0 ± 0.0", n) for n in (1, 2)] == ["2.0", "2.0 ± 0.0"]
    assert [Comparison("x", None, 1.0, better, TIME).remark for better in ("less", "")] == ["worse: not a number", ""]
    # Digits are those of the deviation, and a reason stands only where the figures support it.
    trials = {"SGM C": [[0.3849, 17.0, 1.0]], f"SGM C{table_6_2.MEAN}": [[0.5, 16.7, 1.0]]}
    found = {"published": table_6_2.PUBLISHED, "sets": {"adult": {"hinge, error, seconds": trials}}}
    remarks = "worse", "worse: theirs fits the mean of ten passes, 16.7"
    assert [one.remark for one in table_6_2.comparisons(found)][:2] == [*remarks]


def test_many_lines_that_all_panels_have_share_one_legend(tmp_path):
    few, more, others = ([f"{word} {k}" for k in range(n)] for word, n in (("a", 6), ("a", 7), ("b", 7)))
    with records.drawn() as shown:
        draw(tmp_path / "x.png", "", [Panel("", "", "", {"a": ((1, 2), (90, 99), (5, 5))}, linear_y=True, most=100.0)])
        for pair in ((few, few), (more, more), (more, others)):
            draw(tmp_path / "x.png", "", [Panel("", "", "", dict.fromkeys(some, ((1, 2), (3, 4)))) for some in pair])
    assert max(shown.pop(0)["panels"][0]["filled"][0][1]) == 100.0  # no deviation goes beyond what is possible
    assert [one["legends"] for one in shown] == [few + few, more, more + others]


def test_the_page_stands_alone_and_shows_what_is_worse(tmp_path):
    picture = tmp_path / "falkon.png"
    Image.new("RGB", (1, 1), "olive").save(picture)
    entries = [Comparison("error <1>", 2.0, 1.5, "less"), Comparison("time", 1.0, 3.0, "less", TIME)]
    sections = [
        Section("falkon", "FALKON & rivals", "what <is> done", OUTCOME, "7", entries, [picture]),
        Section("nytro", "NYTRO", "text", replace(OUTCOME, name="nytro", status=NO_DATA, message="no pumadyn <here>")),
        Section("change", "loads", "text", replace(OUTCOME, name="change", status=FAILED, message="exit code 1")),
        Section("detection", "objects", "text"),
    ]
    page = make_page(sections, {"processor": "P & Q", "cores": "2"}, quick=True)
    assert "1 of 4 experiments" in page and "quick form" in page
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page)
    counts = {kind: tuple(map(int, cells[cells.index(kind) + 1 : cells.index(kind) + 3])) for kind in KINDS}
    assert counts == {SAME: (1, 1), STAND_IN: (0, 0), THEORY: (0, 0), TIME: (1, 0)}
    assert all(text in page for name, entry in ABSENT.items() for text in (escape(name), escape(entry[0])))
    assert page.count('<tr class="worse">') == 1 and "+0.500" in page and "-2.00" in page
    for text in ("P &amp; Q", "error &lt;1&gt;", "n &lt; 5 &amp; m", "what &lt;is&gt; done", "no pumadyn &lt;here&gt;",
                 "seed 7", "2026-11-22T12:00:00", "12 s", "not run yet", "failed: exit code 1"):  # fmt: skip
        assert text in page
    (shown,) = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    with Image.open(io.BytesIO(base64.b64decode(shown))) as image:  # its colours are few enough to be kept
        assert image.convert("RGB").getpixel((0, 0)) == (128, 128, 0)
    assert not re.search(r'(src|href)="(?!data:|#)', page) and "http" not in page
    documents = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text()
    absent = [f"| {' | '.join((name, *entry))} |" for name, entry in ABSENT.items()]
    assert [row for row in absent if row not in documents] == []


def test_a_report_goes_on_where_it_was(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(figure_4_2, "QUICK", ("--quick", "--data", "nowhere"), raising=False)
    report, small = tmp_path / "page.html", ["tensor-layout", "figure-4.2"]
    command = ["reproduce", "all", "--quick", "--report", str(report), "--only", *small]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "[1/2] tensor-layout: done" in out and "[2/2] figure-4.2: no data" in out and "nowhere" in out
    page = report.read_text()
    assert "1 of 2 experiments" in page and "packed entries, n 50" in page and "its data were not to be had" in page
    assert str(tmp_path) not in page and "largest n in 8 GiB: 399 packed" in page
    folder = tmp_path / "page-quick" / "tensor-layout"
    assert "largest n in 8 GiB" in (text := json.loads((folder / running.OUTCOME).read_text())["text"])
    assert WORSE not in text and str(folder) not in text and text == text.strip()
    assert json.loads((folder / FIGURES).read_text())["counts"]["10"] == 715
    files = json.loads((folder / running.OUTCOME).read_text())["files"]
    assert {"experiments/tensor/layout.py", "kernel_methods/tensor/symmetric_tensor.py"} <= set(files)
    assert not any("falkon" in name or name.startswith("nodes/") for name in files)
    failed = running.run_experiment(tmp_path / "x", "tensor-layout", ["--nonsense"], False)
    assert failed.status == FAILED and "--nonsense" in failed.message in (tmp_path / "x" / running.ERRORS).read_text()
    process, ran = Mock(), []
    process.poll.return_value, process.wait = None, lambda _: signal.raise_signal(signal.SIGTERM)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):  # a signal ends the experiment too
        patch.setattr(running.subprocess, "Popen", lambda *_, **__: process)
        running.run_experiment(tmp_path / "y", "tensor-layout", [], False)
    process.kill.assert_called_once_with()

    def again(folder, name, arguments, out):
        ran.append(name)
        return replace(OUTCOME, name=name, status=FAILED, message="boom")

    monkeypatch.setattr(running, "run_experiment", again)
    assert main(command) == 1  # the finished one is kept; the one without data runs again, and fails
    assert ran == ["figure-4.2"] and f"{running.ERRORS} in {tmp_path}" in capsys.readouterr().out
    assert "failed: boom" in report.read_text() and str(tmp_path) not in report.read_text()
    assert main([*command, "--again"]) == 1 and ran == ["figure-4.2", *small]


def test_outcomes_of_other_arguments_and_code_are_not_taken(tmp_path, monkeypatch):
    def kept(name="falkon", arguments=("--quick",)):
        return kept_outcome(tmp_path, name, list(arguments))

    monkeypatch.setattr(running, "PACKAGE", tmp_path)
    module, outcome = tmp_path / "module.py", tmp_path / running.OUTCOME
    module.write_text("x = 1")
    assert kept() is None
    given = replace(OUTCOME, files=running.digests(["module.py"]))
    outcome.write_text(json.dumps(vars(given)))
    assert kept() == given
    module.write_text('"""A docstring."""\nx = 1  # a comment')
    assert kept() == given and kept(arguments=()) is None and kept("nytro") is None
    for spoil in (lambda: module.write_text("x = 2"), module.unlink, lambda: outcome.write_text("{")):
        spoil()
        assert kept() is None
