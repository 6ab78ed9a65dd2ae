"""Formulas as MathML: browsers show it without a script, and so without a network.

A hook of MkDocs. `$...$` and fences of `math` are written in LaTeX, as GitHub takes them.
"""

import html
import re
from typing import Any

from latex2mathml.converter import convert

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.S)
DISPLAYED = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.S)


def on_page_content(content: str, **_: Any) -> str:
    """Replace the formulas of a page."""
    content = INLINE.sub(lambda found: convert(html.unescape(found[1]).strip()), content)
    return DISPLAYED.sub(lambda found: convert(html.unescape(found[1]).strip(), display="block"), content)
