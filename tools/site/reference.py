"""Pages of the reference that are made from code: messages and services, commands, Python packages.

A hook of MkDocs. Topics, services and parameters of nodes are written into docs/ by tools/write_interface.py and
tools/write_settings.py.
"""

import ast
import contextlib
import io
import os
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from icub_learning.cli.main import COMMANDS, main

CHECKOUT = Path(__file__).resolve().parents[2]
MESSAGES = "reference/messages.md"
COMMAND_LINE = "reference/commands.md"
PYTHON = "reference/python/"
# Packages whose `__all__` is the public interface, and modules that have one.
PACKAGES = (
    "recursive",
    "features",
    "kernel_methods",
    "dynamics",
    "recognition",
    "detection",
    "streaming",
    "simulation",
    "recording",
    "models",
    "testing",
    "errors",
)
WIDTH = "100"  # characters of a line of help


def on_config(config: Any) -> Any:
    """Put the Python packages into `nav`."""
    pages = [{f"icub_learning.{name}": f"{PYTHON}{name}.md"} for name in PACKAGES]
    config.nav = _replaced(config.nav, pages)
    return config


def _replaced(nav: Any, pages: list[dict[str, str]]) -> Any:
    if isinstance(nav, list):
        return [_replaced(entry, pages) for entry in nav]
    if isinstance(nav, dict):
        return {title: _replaced(entry, pages) for title, entry in nav.items()}
    return pages if nav == PYTHON else nav


def on_files(files: Files, config: Any) -> Files:
    """Add the pages."""
    contents = {MESSAGES: messages_page(), COMMAND_LINE: commands_page()}
    contents |= {f"{PYTHON}{name}.md": python_page(name) for name in PACKAGES}
    for uri, content in contents.items():
        files.append(File.generated(config, uri, content=content))
    return files


def messages_page() -> str:
    """Return the page of the types of icub_learning_msgs, as their files define them."""
    parts = ["# Messages and services\n\nThe interfaces of `icub_learning_msgs`, as defined. Units are in brackets.\n"]
    for kind, title in (("msg", "Messages"), ("srv", "Services")):
        parts.append(f"\n## {title}\n")
        for path in sorted((CHECKOUT / "icub_learning_msgs" / kind).glob(f"*.{kind}")):
            parts.append(f"\n### icub_learning_msgs/{kind}/{path.stem}\n\n```text\n{path.read_text().strip()}\n```\n")
    return "".join(parts)


def commands_page() -> str:
    """Return the page of the commands, as `--help` explains them."""
    parts = ["# Commands\n\nWhat `icub-learning COMMAND --help` prints.\n"]
    width = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = WIDTH
    try:
        for name in COMMANDS:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                main([name, "--help"])
            parts.append(f"\n## icub-learning {name}\n\n```text\n{printed.getvalue().strip()}\n```\n")
    finally:
        os.environ.pop("COLUMNS")
        if width is not None:
            os.environ["COLUMNS"] = width
    return "".join(parts)


def python_page(name: str) -> str:
    """Return the page of a package: its docstring, then what it names in `__all__`."""
    folder = CHECKOUT / "icub_learning" / name
    tree = ast.parse((folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")).read_text())
    members = "".join(f"\n::: icub_learning.{name}.{public}\n" for public in public_names(tree))
    return f"# icub_learning.{name}\n\n{ast.get_docstring(tree)}\n{members}"


def public_names(tree: ast.Module) -> list[str]:
    """Return `__all__` of a module, or its public classes and functions where it has none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return sorted(ast.literal_eval(node.value))
    kinds = (ast.ClassDef, ast.FunctionDef)
    return [node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]
