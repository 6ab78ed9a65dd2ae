"""How words look on the page: HTML of text from the network, which is never taken for HTML itself."""

from collections.abc import Iterable, Sequence
from html import escape

from icub_learning.reporting.colours import GREEN, INK, YELLOW

DARK_RED, DARK_GREEN = "#a3273a", "#1d7040"  # on white: 7:1 and 6:1, for small text
MUTED = "#5b6168"
LEVELS = {0: (DARK_GREEN, "OK"), 1: ("#8a5a00", "WARN"), 2: (DARK_RED, "ERROR"), 3: (MUTED, "STALE")}


def rgb(colour: str) -> tuple[int, int, int]:
    """Return "#rrggbb" as three numbers."""
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def note(text: str, colour: str = MUTED, bold: bool = False) -> str:
    """Return a paragraph."""
    weight = ";font-weight:600" if bold else ""
    return f'<div style="padding:.1rem .65rem;font-size:.8rem;line-height:1.35;color:{colour}{weight}">{escape(text)}</div>'


def answer(text: str, success: bool | None) -> str:
    """Return what a service said, for the place beside its button; screen readers read it out.

    Args:
        text: the words.
        success: whether it did what was asked; None: no answer yet.
    """
    colour, mark = {None: (MUTED, "…"), True: (DARK_GREEN, "✓"), False: (DARK_RED, "✗")}[success]
    return (
        f'<div role="status" style="padding:.1rem .65rem;font-size:.8rem;color:{colour};overflow-wrap:anywhere">'
        f"{mark} {escape(text)}</div>"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of text: the first column to the left, the others to the right."""

    def line(cells: Sequence[str], tag: str) -> str:
        parts = (
            f'<{tag} style="text-align:{"right" if i else "left"};padding:.05rem .4rem;font-weight:'
            f'{600 if tag == "th" else 400}">{escape(cell)}</{tag}>'
            for i, cell in enumerate(cells)
        )
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    top = line(head, "th") if head else ""
    return (
        f'<div style="overflow-x:auto;padding:0 .3rem"><table style="border-collapse:collapse;font-size:.78rem;'
        f'color:{INK}">{top}{body}</table></div>'
    )


def bars(entries: Sequence[tuple[str, float, str]], best: str = "") -> str:
    """Return horizontal bars: (label, share in [0, 1], text at its end) each; the best one stands out."""
    parts = []
    for label, share, text in entries:
        width = 100.0 * min(max(share, 0.0), 1.0)
        colour, weight = (GREEN, 600) if label == best else ("#9fb4c7", 400)
        parts.append(
            f'<div style="display:flex;align-items:center;gap:.4rem;font-size:.78rem;font-weight:{weight}">'
            f'<span style="width:6.5rem;flex:none;overflow:hidden;text-overflow:ellipsis;white-space:nowrap">{escape(label)}</span>'
            f'<span style="flex:1;background:#eef0f2;height:.7rem"><span style="display:block;height:100%;width:{width:.0f}%;'
            f'background:{colour}"></span></span><span style="width:3rem;text-align:right">{escape(text)}</span></div>'
        )
    return f'<div style="padding:.2rem .65rem">{"".join(parts)}</div>'


def badge(text: str, on: bool) -> str:
    """Return a word in a frame, filled while it holds."""
    ground, ink = (YELLOW, INK) if on else ("#eef0f2", MUTED)
    return f'<span style="background:{ground};color:{ink};padding:.1rem .5rem;border-radius:.6rem;font-size:.8rem">{escape(text)}</span>'


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """Return names beside lines of their colours."""
    parts = (
        f'<span style="white-space:nowrap"><span style="display:inline-block;width:1.1rem;height:.22rem;background:{colour};'
        f'vertical-align:middle;margin-right:.3rem"></span>{escape(name)}</span>'
        for name, colour in entries
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:.2rem .9rem;padding:.2rem .65rem;font-size:.78rem">{"".join(parts)}</div>'




def large(text: str) -> str:
    """Return words that are read from afar."""
    return f'<span style="font-size:1.25rem;font-weight:650;color:{INK}">{escape(text)}</span>'
