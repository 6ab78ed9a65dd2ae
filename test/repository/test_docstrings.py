"""Every public class and function of rings 1 to 3 says what it is or does, in a sentence that stands on its own."""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

RINGS = (
    "recursive", "features", "kernel_methods", "dynamics", "recognition", "detection", "simulation", "recording",
    "evaluation",
)  # fmt: skip
# A sentence or a noun phrase does not begin with these: the reader would have to guess what they belong to.
DANGLING = {"as", "at", "by", "for", "from", "in", "of", "on", "than", "that", "to", "until", "whose", "which", "with"}
ENTRY = re.compile(r"^\s+[\w, ]+: of\b")  # an entry of Args or Attributes

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def is_protocol(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any(ast.unparse(base).startswith("Protocol") for base in node.bases)


def definitions(tree: ast.Module | ast.ClassDef) -> Iterator[Documented]:
    """Yield public classes, functions and methods; not setters, and not the methods of protocols."""
    for node in tree.body:
        if not isinstance(node, Documented) or node.name.startswith("_"):
            continue
        decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
        if not decorators & {"setter", "overload"}:
            yield node
        if isinstance(node, ast.ClassDef) and not is_protocol(node):
            yield from definitions(node)


def interfaces(text: str) -> set[str]:
    """Return the methods that protocols of a module document: implementations need not say the same again."""
    protocols = filter(is_protocol, ast.parse(text).body)
    methods = (method for protocol in protocols for method in protocol.body if isinstance(method, ast.FunctionDef))
    return {method.name for method in methods if ast.get_docstring(method)}


def findings(text: str, documented: Collection[str] = ()) -> Iterator[str]:
    """Yield each fault of the docstrings of a module with its line; `documented` methods may have none."""
    for node in definitions(ast.parse(text)):
        if not (docstring := ast.get_docstring(node)) and isinstance(node, ast.FunctionDef) and node.name in documented:
            continue
        if not docstring:
            yield f"line {node.lineno}: {node.name} has no docstring"
            continue
        summary = docstring.split("\n\n")[0]
        if re.match(r"[A-Za-z]*", summary).group().lower() in DANGLING:
            yield f"line {node.lineno}: {node.name}: {summary.splitlines()[0]!r} does not stand on its own"
        if not summary.endswith((".", ":", "?")):
            yield f"line {node.lineno}: {node.name}: its first paragraph does not end in a period"
        for entry in filter(ENTRY.match, docstring.splitlines()):
            yield f"line {node.lineno}: {node.name}: {entry.strip()!r} does not name the thing"


@pytest.mark.parametrize("ring", RINGS)
def test_public_docstrings_stand_on_their_own(ring: str, checkout: Path) -> None:
    files = sorted((checkout / "icub_learning" / ring).rglob("*.py"))
    assert files
    texts = {file.relative_to(checkout): file.read_text() for file in files}
    documented = set().union(*map(interfaces, texts.values()))
    wrong = [f"{file}, {found}" for file, text in texts.items() for found in findings(text, documented)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("docstring", "finding"), [
    ("", "has no docstring"), ('"""Of W, by power iterations."""', "does not stand on its own"),
    ('"""The norm of W"""', "does not end in a period"),
    ('"""Return the norm.\n\n    Args:\n        seed: of the draw.\n    """', "'seed: of the draw.'"),
])  # fmt: skip
def test_findings_are_found(docstring: str, finding: str) -> None:
    (found,) = findings(f"class A:\n    '''A thing.'''\n    def f(self):\n        {docstring or 'pass'}\n")
    assert finding in found and not list(findings('def f():\n    """Return the norm."""\ndef _g(): pass\n'))


def test_an_implementation_of_a_documented_protocol_needs_no_docstring() -> None:
    protocol = "class P(Protocol):\n    def f(self):\n        'Return the norm.'\n"
    implementation = "class A:\n    'A thing.'\n    def f(self): pass\n"
    assert interfaces(protocol) == {"f"}
    assert list(findings(implementation)) and not list(findings(implementation, {"f"}))
