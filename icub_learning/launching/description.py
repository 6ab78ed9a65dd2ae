"""Launch descriptions for `ros2 launch`; needs the ROS 2 packages launch and launch_ros."""

from collections.abc import Mapping
from string import Formatter
from typing import Any

from launch import LaunchContext, LaunchDescription, Substitution
from launch.actions import DeclareLaunchArgument, ExecuteProcess, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.substitutions import ExecutableInPackage, FindPackageShare

from icub_learning.launching.commands import MADE
from icub_learning.launching.table import PACKAGE, Process, System


def launch_description(system: System) -> LaunchDescription:
    arguments = [
        DeclareLaunchArgument(
            argument.name, description=argument.description,
            default_value=None if argument.default is None else _substitutions(argument.default),
            choices=list(argument.choices) or None,
        )
        for argument in system.arguments
    ]  # fmt: skip
    return LaunchDescription([*arguments, *(_action(process) for process in system.processes)])


def _action(process: Process) -> Node | ExecuteProcess:
    def texts(templates: Mapping[str, str]) -> dict[str, Any]:
        return {name: _substitutions(template) for name, template in templates.items()}

    arguments = [_substitutions(argument) for argument in process.arguments]
    at_end = Shutdown(reason="a process ended")
    shared = {"additional_env": texts(process.environment), "output": "screen", "on_exit": at_end}
    if not process.is_node:
        package, executable = process.package, process.executable
        program = ExecutableInPackage(package=package, executable=executable) if package else executable
        return ExecuteProcess(cmd=[program, *arguments], name=process.name, **shared)
    parameters: list[Any] = [_substitutions(file) for file in process.parameter_files]
    if process.parameters:
        parameters.append(texts(process.parameters))
    return Node(
        package=process.package, executable=process.executable, name=process.name, arguments=arguments,
        ros_arguments=["--log-level", LaunchConfiguration("log_level")], parameters=parameters,
        remappings=list(texts(process.remappings).items()), **shared,
    )  # fmt: skip


def _substitutions(template: str) -> list[Any]:
    """Return a template as a list of texts and substitutions, which launch joins."""
    parts: list[Any] = []
    for text, name, *_ in Formatter().parse(template):
        if text:
            parts.append(text)
        if name == "share":
            parts.append(FindPackageShare(PACKAGE))
        elif name is not None:
            parts.append(_Made(name) if name in MADE else LaunchConfiguration(name))
    return parts


class _Made(Substitution):
    """A text that is made at launch from the values of the launch arguments; see MADE."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def describe(self) -> str:
        return f"Made({self._name})"

    def perform(self, context: LaunchContext) -> str:
        made = MADE[self._name]
        return made.make({name: LaunchConfiguration(name).perform(context) for name in made.uses})
