"""Pages of the site that lie outside docs/, links that lead there, and folders that stand for all their pages.

A hook of MkDocs. Documents link each other by their places in the repository, so that they can be read there too.
"""

import ast
import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))  # MkDocs loads hooks by their paths
from reference import PACKAGES

CHECKOUT = Path(__file__).resolve().parents[2]
DOCS = "docs"
DECISIONS = "decisions"  # a folder whose list of pages is a page itself
# Documents outside docs/, and their places in the site.
OUTSIDE = {
    "CHANGELOG.md": "project/CHANGELOG.md",
    "CONTRIBUTING.md": "project/CONTRIBUTING.md",
    "QUALITY_DECLARATION.md": "project/QUALITY_DECLARATION.md",
    "README.md": "index.md",  # the site begins with a page of its own
    "examples/README.md": "examples/README.md",
}
PROGRAMS = {str(path.relative_to(CHECKOUT)): f"examples/{path.stem}.md" for path in CHECKOUT.glob("examples/*.py")}
# Folders and modules of code, and their pages in the reference (reference.py).
CODE = {"icub_learning_msgs": "reference/messages.md", "icub_learning/cli": "reference/commands.md"}
CODE |= {
    f"icub_learning/{path.name}": f"reference/python/{path.stem}.md"
    for path in CHECKOUT.glob("icub_learning/*")
    if path.stem in PACKAGES
}
LINK = re.compile(r"(?<!!)\[([^\]\n]*(?:\n[^\]\n]*)?)\]\(([^)#\s]*)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)


def on_config(config: Any) -> Any:
    """Put the pages of a folder in the place of its name in `nav`."""
    config.nav = _expanded(config.nav)
    return config


def _expanded(nav: Any) -> Any:
    if isinstance(nav, list):
        return [_expanded(entry) for entry in nav]
    if isinstance(nav, dict):
        return {title: _expanded(entry) for title, entry in nav.items()}
    if not nav.endswith("/"):
        return nav
    pages = sorted((CHECKOUT / DOCS / nav).glob("*.md"), reverse=True)
    return [f"{nav}index.md", *(str(path.relative_to(CHECKOUT / DOCS)) for path in pages)] if pages else nav


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that lie outside docs/."""
    for source, uri in OUTSIDE.items():
        if source != "README.md":
            files.append(File.generated(config, uri, content=(CHECKOUT / source).read_text()))
    for source, uri in PROGRAMS.items():
        page = File.generated(config, uri, content=program_page((CHECKOUT / source).read_text(), source))
        page.inclusion = page.inclusion.NOT_IN_NAV  # reached from the list of examples
        files.append(page)
    files.append(File.generated(config, f"{DECISIONS}/index.md", content=decisions_page()))
    return files


def decisions_page() -> str:
    """Return the list of decisions, the newest first."""
    pages = sorted((CHECKOUT / DOCS / DECISIONS).glob("*.md"), reverse=True)
    rows = "".join(
        f"| {page.name[:10]} | [{page.read_text().splitlines()[0].lstrip('# ')}]({page.name}) |\n" for page in pages
    )
    return f"# Decisions\n\nWhat was decided, why, and what else was tried.\n\n| | |\n|---|---|\n{rows}"


def program_page(text: str, source: str) -> str:
    """Return the page of an example: the first paragraph of its docstring, then its code."""
    about = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]
    return f"# {Path(source).name}\n\n{about}\n\n```python\n{text}```\n"


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn links between places in the repository into links between pages of the site."""
    uri = page.file.src_uri
    places = {site: source for source, site in (OUTSIDE | PROGRAMS).items() if source != "README.md"}
    here = Path(places.get(uri, f"{DOCS}/{uri}")).parent

    def follow(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if not target or "://" in target or target.startswith("mailto:"):
            return found[0]
        place = os.path.normpath(here / target)
        if place.startswith(f"{DOCS}/"):
            leads_to = place.removeprefix(f"{DOCS}/")
            leads_to = f"{DECISIONS}/index.md" if leads_to == DECISIONS else leads_to
        elif place in OUTSIDE | PROGRAMS | CODE:
            leads_to = (OUTSIDE | PROGRAMS | CODE)[place]
        elif (CHECKOUT / place).exists():
            return text  # a file of the repository that is no page
        else:
            return found[0]  # MkDocs warns that it leads nowhere
        return f"[{text}]({os.path.relpath(leads_to, Path(uri).parent)}{anchor})"

    return "".join(part if index % 2 else LINK.sub(follow, part) for index, part in enumerate(FENCE.split(markdown)))
