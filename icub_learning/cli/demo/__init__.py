"""The command `icub-learning demo`."""

from icub_learning.cli.demo.command import add_parser

__all__ = ["add_parser"]
