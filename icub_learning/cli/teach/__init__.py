"""The command `icub-learning teach`."""

from icub_learning.cli.teach.command import add_parser

__all__ = ["add_parser"]
