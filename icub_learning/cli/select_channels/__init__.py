"""The command `icub-learning select-channels`."""

from icub_learning.cli.select_channels.command import add_parser

__all__ = ["add_parser"]
