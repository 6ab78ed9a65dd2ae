"""A recording that is played back, and the node that learns inverse dynamics from it; see docs/launch.md."""

from launch import LaunchDescription

from icub_learning.launching.description import launch_description
from icub_learning.launching.table import SYSTEMS


def generate_launch_description() -> LaunchDescription:
    """Return the processes of the system that the table in icub_learning.launching names."""
    return launch_description(SYSTEMS["recording"])
