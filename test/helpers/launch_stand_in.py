"""The few parts of the ROS 2 packages launch and launch_ros that the launch files use, for machines without them."""

from types import ModuleType
from typing import Any


class Given:
    """What the launch files make, with all that they give to it as attributes."""

    def __init__(self, *positional: Any, **given: Any) -> None:
        vars(self).update(given, positional=positional)


class Substitution(Given):
    """A text that is known at launch only."""

    def perform(self, context: dict[str, str]) -> str:
        raise NotImplementedError


class LaunchConfiguration(Substitution):
    def perform(self, context: dict[str, str]) -> str:
        return context[self.positional[0]]


class FindPackageShare(Substitution):
    share: dict[str, str] = {}  # of packages, set by the test  # noqa: RUF012

    def perform(self, context: dict[str, str]) -> str:
        return self.share[self.positional[0]]


class ExecutableInPackage(Substitution):
    def perform(self, context: dict[str, str]) -> str:
        return f"{self.package}/{self.executable}"


class DeclareLaunchArgument(Given):
    @property
    def name(self) -> str:
        return self.positional[0]


class Shutdown(Given):
    pass


class ExecuteProcess(Given):
    def line(self, context: dict[str, str]) -> list[str]:
        return [text(part, context) for part in self.cmd]

    def environment(self, context: dict[str, str]) -> dict[str, str]:
        return {name: text(part, context) for name, part in self.additional_env.items()}


class Node(ExecuteProcess):
    def line(self, context: dict[str, str]) -> list[str]:
        program = ExecutableInPackage(package=self.package, executable=self.executable)
        line = [text(part, context) for part in (program, *self.arguments)]
        line += ["--ros-args", *(text(part, context) for part in self.ros_arguments)]
        line += ["--ros-args", "-r", f"__node:={self.name}"]
        for entry in self.parameters:
            if isinstance(entry, dict):
                for key, part in entry.items():
                    line += ["-p", f"{key}:={text(part, context)}"]
            else:
                line += ["--params-file", text(entry, context)]
        for source, target in self.remappings:
            line += ["-r", f"{source}:={text(target, context)}"]
        return line


class LaunchDescription:
    def __init__(self, entities: list) -> None:
        self.entities = entities

    def processes(self, given: dict[str, str]) -> tuple[list[ExecuteProcess], dict[str, str]]:
        """Return what would be started, and the values of all launch arguments."""
        context = {}
        for entity in self.entities:
            if isinstance(entity, DeclareLaunchArgument):
                if entity.name not in given and entity.default_value is None:
                    raise RuntimeError(f"{entity.name} must be given")
                context[entity.name] = (
                    given[entity.name] if entity.name in given else text(entity.default_value, context)
                )
        return [entity for entity in self.entities if isinstance(entity, ExecuteProcess)], context


def text(part: Any, context: dict[str, str]) -> str:
    """Perform a text, a substitution, or a list of them to be joined."""
    if isinstance(part, str):
        return part
    if isinstance(part, Substitution):
        return part.perform(context)
    return "".join(text(entry, context) for entry in part)


def modules() -> dict[str, ModuleType]:
    """Return the modules, by name, for sys.modules."""
    table = {
        "launch": {"LaunchContext": dict, "LaunchDescription": LaunchDescription, "Substitution": Substitution},
        "launch.actions": {
            "DeclareLaunchArgument": DeclareLaunchArgument,
            "ExecuteProcess": ExecuteProcess,
            "Shutdown": Shutdown,
        },
        "launch.substitutions": {"LaunchConfiguration": LaunchConfiguration},
        "launch_ros": {},
        "launch_ros.actions": {"Node": Node},
        "launch_ros.substitutions": {"ExecutableInPackage": ExecutableInPackage, "FindPackageShare": FindPackageShare},
    }
    made = {}
    for name, contents in table.items():
        made[name] = ModuleType(name)
        vars(made[name]).update(contents)
    return made
