"""The command `icub-learning evaluate`."""

from icub_learning.cli.evaluate.command import add_parser

__all__ = ["add_parser"]
