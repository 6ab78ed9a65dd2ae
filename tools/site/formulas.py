"""Formulas as MathML: browsers show it without a script, and so without a network.

A hook of MkDocs. `$...$` and fences of `math` are written in LaTeX, as GitHub takes them.
"""

import html
import logging
import re
from typing import Any

from latex2mathml.converter import convert

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.S)
DISPLAYED = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.S)
UNKNOWN = re.compile(r">(\\\w+|&)<")


def on_page_content(content: str, **_: Any) -> str:
    """Replace the formulas of a page."""
    content = INLINE.sub(lambda found: mathml(found[1], "inline"), content)
    # A formula wider than the page is scrolled by itself.
    return DISPLAYED.sub(lambda found: f'<div style="overflow-x: auto">{mathml(found[1], "block")}</div>', content)


def mathml(escaped: str, display: str) -> str:
    """Return a formula, escaped as HTML is, as MathML; a command that is not known, or & left over, is a warning."""
    formula = html.unescape(escaped).strip()
    # Browsers of today align cells by their style alone (MathML Core).
    converted = str(convert(formula, display=display)).replace('columnalign="', 'style="text-align: ')
    if left := UNKNOWN.search(converted):
        logging.getLogger("mkdocs.hooks.formulas").warning("%s in %s is not known to latex2mathml", left[1], formula)
    return converted
