"""The look of text on the page, as HTML: text from the network is escaped, and never taken for HTML itself."""

from collections.abc import Iterable, Sequence
from html import escape

from icub_learning.reporting.colours import GREEN, INK, YELLOW

DARK_RED, DARK_GREEN = "#a3273a", "#1d7040"  # contrast with white is 7:1 and 6:1, for small text
MUTED = "#5b6168"
LEVELS = {0: (DARK_GREEN, "OK"), 1: ("#8a5a00", "WARN"), 2: (DARK_RED, "ERROR"), 3: (MUTED, "STALE")}
# Style sheet, which is put into the page once, before anything that uses it.
SHEET = f"""<style>
.il-text {{ padding: .1rem .65rem; font-size: .8rem; line-height: 1.35; overflow-wrap: anywhere; }}
.il-row {{ padding: .2rem .65rem; display: flex; flex-wrap: wrap; gap: .2rem .9rem; font-size: .78rem; }}
.il-table {{ overflow-x: auto; padding: 0 .3rem; }}
.il-table table {{ border-collapse: collapse; font-size: .78rem; color: {INK}; }}
.il-table td, .il-table th {{ text-align: right; padding: .05rem .4rem; font-weight: 400; }}
.il-table th {{ font-weight: 600; }}
.il-table td:first-child, .il-table th:first-child {{ text-align: left; }}
.il-bars {{ padding: .2rem .65rem; font-size: .78rem; }}
.il-bars div {{ display: flex; align-items: center; gap: .4rem; }}
.il-bars .name {{ width: 6.5rem; flex: none; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }}
.il-bars .ground {{ flex: 1; background: #eef0f2; height: .7rem; }}
.il-bars .ground span {{ display: block; height: 100%; background: #9fb4c7; }}
.il-bars .best {{ font-weight: 600; }}
.il-bars .best .ground span {{ background: {GREEN}; }}
.il-bars .value {{ width: 3rem; text-align: right; }}
div:has(> .il-objects) {{ max-height: 22rem; overflow-y: auto; }} /* viser's, which stays when its content changes */
.il-objects {{ padding: 0 .65rem; font-size: .78rem; }}
.il-objects > div {{ display: flex; align-items: center; gap: .4rem; }}
.il-objects .picture {{ width: 48px; height: 36px; flex: none; margin: 1px 0; background: #eef0f2; }}
.il-objects img {{ width: 100%; height: 100%; object-fit: cover; }}
.il-objects .name {{ flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }}
.il-objects .count {{ color: {MUTED}; }}
.il-objects .sure {{ width: 2.6rem; text-align: right; font-weight: 600; white-space: nowrap; }}
.il-badge {{ padding: .1rem .5rem; border-radius: .6rem; background: #eef0f2; color: {MUTED}; }}
.il-badge.on {{ background: {YELLOW}; color: {INK}; }}
.il-large {{ font-size: 1.25rem; font-weight: 650; color: {INK}; }}
.il-line {{ display: inline-block; width: 1.1rem; height: .22rem; vertical-align: middle; margin-right: .3rem; }}
</style>"""


def note(text: str, colour: str = MUTED, bold: bool = False) -> str:
    return f'<div class="il-text" style="color:{colour};font-weight:{600 if bold else 400}">{escape(text)}</div>'


def answer(text: str, success: bool | None) -> str:
    """Return the answer of a service, to show below its button; screen readers read it out. None: no answer yet."""
    colour, mark = {None: (MUTED, "…"), True: (DARK_GREEN, "✓"), False: (DARK_RED, "✗")}[success]
    return f'<div role="status" class="il-text" style="color:{colour}">{mark} {escape(text)}</div>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of text: the first column is aligned to the left, the others to the right."""

    def line(cells: Sequence[str], tag: str = "td") -> str:
        return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

    lines = (line(head, "th") if head else "") + "".join(map(line, rows))
    return f'<div class="il-table"><table>{lines}</table></div>'


def bars(entries: Sequence[tuple[str, float, str]], best: str = "") -> str:
    """Return horizontal bars: (label, share in [0, 1], text at its end) each; the best one stands out."""
    lines = "".join(
        f'<div{" class=best" if label == best else ""}><span class="name">{escape(label)}</span><span class="ground">'
        f'<span style="width:{100.0 * min(max(share, 0.0), 1.0):.0f}%"></span></span>'
        f'<span class="value">{escape(text)}</span></div>' for label, share, text in entries
    )  # fmt: skip
    return f'<div class="il-bars">{lines}</div>'


def badge(text: str, on: bool) -> str:
    return f'<span class="il-badge{" on" if on else ""}">{escape(text)}</span>'


def legend(entries: Sequence[tuple[str, str]]) -> str:
    line = '<span><span class="il-line" style="background:{}"></span>{}</span>'
    return f'<div class="il-row">{"".join(line.format(colour, escape(name)) for name, colour in entries)}</div>'
