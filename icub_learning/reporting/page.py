"""Reports as one HTML file that holds its tables and pictures: no other file, no network, small enough to mail.

Demonstration, evaluation, tuning, benchmarks and the reproduced experiments share its style.
"""

import base64
import io
import os
import platform
import textwrap
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from icub_learning.reporting.tables import replacing_for

WIDEST = 130  # characters; longer lines are wrapped
STYLE = """
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: #22262b; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 3rem; border-top: 1px solid #d5d8dc; padding-top: 1rem; }
pre { overflow-x: auto; background: #f6f7f8; padding: .8rem; font-size: 12px; line-height: 1.35; }
table { border-collapse: collapse; font-size: 13px; } td, th { padding: .15rem .7rem; text-align: right; }
th { border-bottom: 1px solid #22262b; } td:first-child, th:first-child { text-align: left; }
tr.worse td { color: #a3273a; font-weight: 600; } img { max-width: 100%; height: auto; }
.note { color: #5b6168; } .problem { color: #a3273a; }
"""
COLOURS = 255  # colours of a picture in a report: with so few it takes a third of the space


def page(title: str, parts: Sequence[str]) -> str:
    """Return a whole page of parts that are HTML already."""
    body = "\n".join([f"<h1>{escape(title)}</h1>", *parts])
    return f"""\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{STYLE}</style></head><body>
{body}
</body></html>
"""


def written() -> str:
    """Return a phrase that says when the page is written."""
    return f"page written {escape(datetime.now().astimezone().isoformat(timespec='minutes'))}"


def section(name: str, place: str = "") -> str:
    """Return the heading of a section; `place` is its anchor for links, by default the name."""
    return f'<h2 id="{escape(place or name)}">{escape(name)}</h2>'


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph; `kind` is "note", "problem" or nothing."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def preformatted(text: str) -> str:
    """Return text as it stands in a terminal; sentences that are longer than the lines of a table are wrapped."""
    lines = [line if len(line) <= WIDEST else textwrap.fill(line, WIDEST) for line in text.strip().split("\n")]
    return f"<pre>{escape(chr(10).join(lines))}</pre>"


def folded(summary: str, text: str) -> str:
    """Return text that unfolds when its summary is clicked."""
    return f"<details><summary>{escape(summary)}</summary>{preformatted(text)}</details>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], marked: Sequence[bool] = ()) -> str:
    """Return a table; marked rows stand out as worse."""
    lines = ["<table><tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>"]
    for place, row in enumerate(rows):
        kind = ' class="worse"' if place < len(marked) and marked[place] else ""
        lines.append(f"<tr{kind}>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>")
    return "\n".join([*lines, "</table>"])


def describe_machine() -> dict[str, str]:
    """Return processor, number of cores, system and versions by name, without identifying a computer or person."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.is_file() else []
    processors = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = [f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn")]
    return {
        "processor": next(iter(processors), platform.processor() or platform.machine()), "cores": str(cores),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": ", ".join([f"Python {platform.python_version()}", *packages])
    }  # fmt: skip


def machine_table(machine: Mapping[str, Any]) -> str:
    """Return a table of the machine that figures were measured on."""
    return table(["measured on", ""], [[name, _words(value)] for name, value in machine.items()])


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_words(one)}" for name, one in value.items())
    if isinstance(value, (tuple, list)):
        return ", ".join(map(_words, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def picture(path: Path) -> str:
    """Return the picture of a PNG file, reduced to COLOURS colours."""
    from PIL import Image

    content = io.BytesIO()
    with Image.open(path) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(content, "PNG", optimize=True)
    data = base64.b64encode(content.getvalue()).decode()
    return f'<p><img alt="{escape(path.stem)}" src="data:image/png;base64,{data}"></p>'


def write_page(path: Path, text: str) -> None:
    """Write a page; the file appears complete or not at all. Raises ParameterError: the file cannot be written."""
    with replacing_for("--report", path) as file:
        file.write(text)
