"""Packages whose public names are imported when they are first used, so that a command's --help answers at once."""

import ast
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy(package: str) -> Callable[[str], Any]:
    """Return the `__getattr__` (PEP 562) of a package, which finds names by its imports for type checkers."""

    def find(name: str) -> Any:
        if name not in homes(package):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes(package)[name]), name)

    return find


@cache
def homes(package: str) -> Mapping[str, str]:
    """Return the module of each public name of a package, read from the imports in its source."""
    tree = ast.parse(Path(str(import_module(package).__file__)).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.name: str(node.module) for node in imports for name in node.names}
