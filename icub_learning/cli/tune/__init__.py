"""The command `icub-learning tune`."""

from icub_learning.cli.tune.command import add_parser

__all__ = ["add_parser"]
