"""The page of all experiments, in the style of all reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from icub_learning.experiments.comparison import KINDS, Comparison, worse
from icub_learning.experiments.report.absent import ABSENT
from icub_learning.experiments.report.running import DONE, FAILED, NO_DATA, Outcome
from icub_learning.reporting import page as html
from icub_learning.reporting.tables import number

STATUS = {DONE: "done", NO_DATA: "its data were not to be had", FAILED: "failed", None: "not run yet"}


@dataclass(frozen=True)
class Section:
    """One experiment on the page."""

    name: str  # as `icub-learning reproduce --help` has it
    summary: str  # likewise
    description: str  # what is done, as text with line breaks
    outcome: Outcome | None = None  # of the run; None: it has not run
    seed: str = ""  # that its random numbers started from, as text; "" where it does not say
    comparisons: Sequence[Comparison] = ()  # published figures beside ours
    pictures: Sequence[Path] = field(default_factory=tuple)  # files


def make_page(sections: Sequence[Section], machine: Mapping[str, str], quick: bool) -> str:
    """Return the HTML text of the page of sections in this order, measured on `machine`, in its quick or full form."""
    done = [one for one in sections if one.outcome is not None and one.outcome.status == DONE]
    everything = [entry for one in done for entry in one.comparisons]
    lacking = [one for one in sections if one.outcome is not None and one.outcome.status != DONE]
    form = "quick form: small sizes and few repetitions, not to be held against the publications" if quick else "full"
    parts = [
        f"<p>{len(done)} of {len(sections)} experiments ({escape(form)}); {html.written()}.</p>",
        html.machine_table(machine),
        "<p>Published figures beside ours; those in which ours are worse, by the digits that are published, are marked"
        ' <span class="problem">in red</span>.</p>',
        html.table(["", "figures", "ours worse"], [_count(kind, everything) for kind in KINDS]),
    ]
    if lacking:
        parts.append("<p>Without figures:</p><ul>")
        parts += [f"<li>{escape(one.name)}: {_reason(one)}</li>" for one in lacking]
        parts.append("</ul>")
    parts.append(html.paragraph("Data of the sources that are not at hand, and what stands in their place:"))
    parts.append(html.table(["data", "in", "found", "here"], [[name, *entry] for name, entry in ABSENT.items()]))
    parts.append("<ul>")
    parts += [
        f'<li><a href="#{escape(one.name)}">{escape(one.name)}</a>: {escape(one.summary)}</li>' for one in sections
    ]
    parts.append("</ul>")
    for one in sections:
        parts += _section(one)
    return html.page("The sources, reproduced", parts)


def _count(kind: str, comparisons: Sequence[Comparison]) -> list[str]:
    some = [one for one in comparisons if one.kind == kind]
    return [kind, str(len(some)), str(len(worse(some)))]


def _section(one: Section) -> list[str]:
    parts = [html.section(one.name), html.paragraph(one.summary)]
    outcome = one.outcome
    if outcome is None or outcome.status != DONE:
        return [*parts, f'<p class="problem">{_reason(one)}</p>', html.preformatted(one.description)]
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
    parts += [html.picture(path) for path in one.pictures]
    parts.append(html.preformatted(outcome.text))
    parts.append(html.folded("What is done", one.description))
    return parts


def _reason(one: Section) -> str:
    status = None if one.outcome is None else one.outcome.status
    text = escape(STATUS[status])
    return f"{text}: {escape(one.outcome.message)}" if one.outcome is not None and one.outcome.message else text


def _comparisons(comparisons: Sequence[Comparison]) -> str:
    rows = [[one.what, number(one.ours), number(one.published), _signed(one.difference),
             "worse" if one.worse else ""] for one in comparisons]  # fmt: skip
    return html.table(["", "ours", "published", "difference", ""], rows, [one.worse for one in comparisons])


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + number(value)
