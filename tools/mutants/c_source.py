"""Changes of C source, token by token.

universalmutator, the one kept tool for C, works on lines: it changes digits within names, and much of what it makes
does not compile. It also installs `typing`, a copy of the standard module for Python before 3.5, which breaks builds.
"""

import random
import re

TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|\#(?:[^\n\\]|\\.)*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+'|\s+)
    |(?P<number>0[xX][0-9a-fA-F]+[a-zA-Z]*|\.?\d[\d.]*(?:[eE][-+]?\d+)?[a-zA-Z]*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<operator><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||.)""",
    re.VERBOSE | re.DOTALL,
)
Span = tuple[int, int]
Option = tuple[Span, str]
# Operators that may replace each other; directives of the preprocessor stay as they are.
ORDER = ("==", "!=", "<", "<=", ">", ">=")
ALIKE = [("+", "-", "*", "/"), ("+=", "-=", "*=", "/="), ORDER, ("&&", "||"), ("++", "--"), ("<<", ">>"), ("&", "|")]


def places(source: str) -> dict[Span, list[Option]]:
    """Return the spans of a source text that can be changed, with what may stand there instead."""
    found: dict[Span, list[str]] = {}
    before = ""  # the last token
    for match in TOKEN.finditer(source):
        if match["skip"]:
            continue
        text, span = match[0], match.span()
        is_operand = re.match(r"[\w)\]]", before) and before not in ("return", "case")
        if match["number"]:
            found[span] = number_beside(text)
        elif text == "!" or (text == "-" and not is_operand):
            found[span] = [" "]
        elif text in ("if", "while") and (condition := in_brackets(source, match.end())):
            found[condition] = [f"(!{source[slice(*condition)]})"]
        elif is_operand and (group := next((group for group in ALIKE if text in group), ())):
            found[span] = [other for other in group if other != text]
        before = text
    return {span: [(span, text) for text in texts] for span, texts in found.items()}


def number_beside(text: str) -> list[str]:
    """Return a number plus one and less one, with its suffix."""
    digits, suffix = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[\d.]+(?:[eE][-+]?\d+)?)(.*)", text).groups()
    if re.fullmatch(r"0[xX].*|\d+", digits):
        return [f"{int(digits, 0 if digits[:2] in ('0x', '0X') else 10) + step}{suffix}" for step in (1, -1)]
    return [f"{float(digits) + step}{suffix}" for step in (1, -1)]


def in_brackets(source: str, start: int) -> tuple[int, int] | None:
    """Return the span of the text in round brackets that comes next, these included; None where they do not close."""
    depth, begin = 0, source.find("(", start)
    for match in TOKEN.finditer(source, max(begin, 0)):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return begin, match.end()
    return None


def change(source: str, options: list[Option], generator: random.Random) -> str:
    """Return the source with one random change at a place."""
    (start, end), text = generator.choice(options)
    return source[:start] + text + source[end:]
