"""Import of programs that are in no package: tools, launch files, hooks of the documentation."""

import importlib.util
from pathlib import Path
from types import ModuleType


def module_at(path: Path) -> ModuleType:
    """Return the file at `path` as a new module, run once."""
    spec = importlib.util.spec_from_file_location(path.name.removesuffix(".py").replace(".", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
