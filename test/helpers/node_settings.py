"""The parameters of every node, by its name."""

from importlib import import_module
from pathlib import Path

from icub_learning import nodes

NODES = sorted(file.parent.name for file in Path(nodes.__path__[0]).glob("*/node.py"))
PARAMETERS = {name: import_module(f"icub_learning.nodes.{name}.node").PARAMETERS for name in NODES}
