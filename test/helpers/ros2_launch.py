"""Run a file as `ros2 launch` does, with launch and launch_ros installed: ros2_launch.py FILE NAME:=VALUE ..."""

import sys

from launch import LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource

if __name__ == "__main__":
    file, *assignments = sys.argv[1:]
    arguments = [tuple(text.split(":=", 1)) for text in assignments]
    service, source = LaunchService(), AnyLaunchDescriptionSource(file)
    service.include_launch_description(IncludeLaunchDescription(source, launch_arguments=arguments))
    sys.exit(service.run())
