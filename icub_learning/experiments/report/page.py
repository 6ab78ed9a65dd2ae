"""The page: one HTML file with tables and pictures in it, which needs no network and nothing beside it."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from pathlib import Path

from icub_learning.experiments.report.comparisons import Comparison, worse
from icub_learning.experiments.report.running import DONE, FAILED, NO_DATA, Outcome
from icub_learning.reporting.tables import number

STYLE = """
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: #22262b; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 3rem; border-top: 1px solid #d5d8dc; padding-top: 1rem; }
pre { overflow-x: auto; background: #f6f7f8; padding: .8rem; font-size: 12px; line-height: 1.35; }
table { border-collapse: collapse; font-size: 13px; } td, th { padding: .15rem .7rem; text-align: right; }
th { border-bottom: 1px solid #22262b; } td:first-child, th:first-child { text-align: left; }
tr.worse td { color: #a3273a; font-weight: 600; } img { max-width: 100%; height: auto; }
.note { color: #6b7178; } .problem { color: #a3273a; }
"""
STATUS = {
    DONE: "done",
    NO_DATA: "its data were not to be had",
    FAILED: "failed",
    None: "not run yet",
}


@dataclass(frozen=True)
class Section:
    """One experiment on the page.

    Attributes:
        name, summary: as `icub-learning reproduce --help` has them.
        description: what is done, as text with line breaks.
        outcome: of the run; None: it has not run.
        seed: that its random numbers started from, as text; "" where it does not say.
        comparisons: published figures beside ours.
        pictures: files.
    """

    name: str
    summary: str
    description: str
    outcome: Outcome | None = None
    seed: str = ""
    comparisons: Sequence[Comparison] = ()
    pictures: Sequence[Path] = field(default_factory=tuple)


def make_page(sections: Sequence[Section], machine: Mapping[str, str], quick: bool) -> str:
    """Return the HTML text of the page.

    Args:
        sections: in the order of the page.
        machine: what the figures were measured on, by name.
        quick: whether the quick form ran, whose figures are of small sizes.
    """
    done = [one for one in sections if one.outcome is not None and one.outcome.status == DONE]
    everything = [entry for one in done for entry in one.comparisons]
    lacking = [one for one in sections if one.outcome is not None and one.outcome.status != DONE]
    form = "quick form: small sizes and few repetitions, not to be held against the publications" if quick else "full"
    now = datetime.now().astimezone().isoformat(timespec="minutes")
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>The sources, reproduced</title>',
        f"<style>{STYLE}</style></head><body>",
        "<h1>The sources, reproduced</h1>",
        f"<p>{len(done)} of {len(sections)} experiments ({escape(form)}); page written {escape(now)}.</p>",
        _table(["measured on", ""], [[escape(name), escape(value)] for name, value in machine.items()]),
        f"<p>{len(everything)} published figures stand beside ours; ours are worse in {len(worse(everything))} of them,"
        ' marked <span class="problem">in red</span>, by however little.</p>',
    ]
    if lacking:
        parts.append("<p>Without figures:</p><ul>")
        parts += [f"<li>{escape(one.name)}: {_reason(one)}</li>" for one in lacking]
        parts.append("</ul>")
    parts.append("<ul>")
    parts += [
        f'<li><a href="#{escape(one.name)}">{escape(one.name)}</a>: {escape(one.summary)}</li>' for one in sections
    ]
    parts.append("</ul>")
    for one in sections:
        parts += _section(one)
    return "\n".join([*parts, "</body></html>", ""])


def _section(one: Section) -> list[str]:
    parts = [f'<h2 id="{escape(one.name)}">{escape(one.name)}</h2>', f"<p>{escape(one.summary)}</p>"]
    outcome = one.outcome
    if outcome is None or outcome.status != DONE:
        return [*parts, f'<p class="problem">{_reason(one)}</p>', f"<pre>{escape(one.description)}</pre>"]
    command = " ".join(["icub-learning reproduce", one.name, *outcome.arguments])
    seed = f", seed {one.seed}" if one.seed else ""
    parts.append(
        f'<p class="note"><code>{escape(command)}</code>: {outcome.seconds:.0f} s, {escape(outcome.finished)}'
        f"{escape(seed)}</p>"
    )
    if one.comparisons:
        parts.append(_comparisons(one.comparisons))
    else:
        parts.append('<p class="note">No published figure can be held against ours directly; see the text below.</p>')
    parts += [_picture(path) for path in one.pictures]
    parts.append(f"<pre>{escape(outcome.text)}</pre>")
    parts.append(f"<details><summary>What is done</summary><pre>{escape(one.description)}</pre></details>")
    return parts


def _reason(one: Section) -> str:
    status = None if one.outcome is None else one.outcome.status
    text = escape(STATUS[status])
    return f"{text}: {escape(one.outcome.message)}" if one.outcome is not None and one.outcome.message else text


def _comparisons(comparisons: Sequence[Comparison]) -> str:
    rows = [[escape(one.what), number(one.ours), number(one.published), _signed(one.difference),
             "worse" if one.worse else ""] for one in comparisons]  # fmt: skip
    return _table(["", "ours", "published", "difference", ""], rows, [one.worse for one in comparisons])


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + number(value)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], marked: Sequence[bool] = ()) -> str:
    lines = ["<table><tr>" + "".join(f"<th>{cell}</th>" for cell in head) + "</tr>"]
    for place, row in enumerate(rows):
        kind = ' class="worse"' if place < len(marked) and marked[place] else ""
        lines.append(f"<tr{kind}>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>")
    return "\n".join([*lines, "</table>"])


def _picture(path: Path) -> str:
    content = base64.b64encode(path.read_bytes()).decode()
    return f'<p><img alt="{escape(path.stem)}" src="data:image/png;base64,{content}"></p>'
