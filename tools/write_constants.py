"""Write docs/constants.md: the numbers set by hand in the package, each with its reason.

usage: python tools/write_constants.py

These are numbers and tables of them with a name in capitals at the top level of a module, and #define in compiled
sources, outside of the experiments and the simulated robots. The reason is the comment in their line, or above them.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGE = CHECKOUT / "icub_learning"
LEFT_OUT = ("experiments", "simulation")
VERSION = "VERSION"  # end of the names that are left out: a version of a format grows by one with each change of it
PAGE = CHECKOUT / "docs" / "constants.md"
HEAD = """# Constants

Numbers, and tables of them, that are set by hand in the package, outside of the experiments and the simulated robots:
{count}. What users choose is in [the settings](ros_interface.md), and versions of formats are no choice.
`python tools/write_constants.py` writes this page from the comments beside the numbers.
"""
NAME = re.compile(r"_?[A-Z][A-Z0-9_]*")
DEFINE = re.compile(r"#define +([A-Z][A-Z0-9_]*) +(.*?)\s*(?:/\*\s*(.*?)\s*\*/)?$")
# Start of the further lines of a comment in C, and a comment of whole lines.
CONTINUED = "\n *"
COMMENT_ABOVE = re.compile(r"\n/\*((?:(?!\*/).)*)\*/(?=\n)", re.DOTALL)
TAIL = re.compile(r"\s+#(?!\s*(?:type|fmt|noqa))\s*(.*)$")


class Constant(NamedTuple):
    """One number, or some that belong together, and why it is what it is."""

    names: str
    value: str
    reason: str


def constants_of(file: Path) -> list[Constant]:
    """Return the constants of a source file of Python or C, in their order."""
    text = file.read_text()
    return list(_of_python(text) if file.suffix == ".py" else _of_c(text))


def _of_python(text: str) -> Iterator[Constant]:
    lines, above = text.splitlines(), ("", -1)  # the comment above, and the line after what it covers so far
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None or not _holds_numbers(node.value):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        if not all(map(NAME.fullmatch, names)) or all(name.endswith(VERSION) for name in names):
            continue
        first, last = node.lineno - 1, (node.end_lineno or node.lineno)
        start = first
        while start and lines[start - 1].startswith("#"):
            start -= 1
        if start < first:
            above = " ".join(line.lstrip("# ") for line in lines[start:first]), first
        own = [found.group(1) for line in lines[first:last] if (found := TAIL.search(line))]
        shared = above[0] if above[1] == first else ""
        above = shared, last
        # A comment above covers all that follow it; those with a comment of their own only where it ends in a colon.
        reason = [shared, *own] if start < first or not own or shared.endswith(":") else own
        yield Constant(", ".join(names), " ".join(ast.unparse(node.value).split()), " ".join(reason).strip())


def _holds_numbers(node: ast.expr) -> bool:
    """Return whether an expression is a number or has some, with texts only where it is a literal table."""
    parts = list(ast.walk(node))
    held = {type(one.value) for one in parts if isinstance(one, ast.Constant)}
    return bool(held & {int, float}) and (
        str not in held or not any(isinstance(one, ast.Name | ast.Call) for one in parts)
    )


def _of_c(text: str) -> Iterator[Constant]:
    above = ""  # the comment above the definitions that follow each other
    for line in COMMENT_ABOVE.sub(_on_one_line, f"\n{text}").splitlines():
        found = DEFINE.match(line)
        if not found:
            above = line[2:-2].strip() if line.startswith("/*") and line.endswith("*/") else ""
        elif re.match(r"-?\d", found.group(2)):
            yield Constant(found.group(1), found.group(2), found.group(3) or above)


def _on_one_line(comment: re.Match[str]) -> str:
    return f"\n/*{' '.join(comment[1].replace(CONTINUED, ' ').split())}*/"


def page() -> str:
    """Return the page, folder by folder."""
    folders: dict[str, list[str]] = {}
    count = 0
    for file in sorted(file for kind in ("py", "c", "h") for file in PACKAGE.rglob(f"*.{kind}")):
        place = file.relative_to(PACKAGE)
        if place.parts[0] not in LEFT_OUT:
            for one in constants_of(file):
                count += one.names.count(",") + 1
                cells = (f"`{place}`", f"`{one.names}`", f"`{one.value}`", one.reason)
                folders.setdefault(place.parts[0], []).append("| " + " | ".join(cells).replace("\n", " ") + " |")
    tables = [
        f"\n## {folder}\n\n| file | name | value | reason |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
        for folder, rows in folders.items()
    ]
    return HEAD.format(count=count) + "".join(tables)


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"{PAGE.relative_to(CHECKOUT)} is written")
