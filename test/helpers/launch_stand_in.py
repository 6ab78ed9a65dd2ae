"""The few parts of the ROS 2 packages launch and launch_ros that the launch files use, for machines without them."""

from types import ModuleType
from typing import Any


class Substitution:
    """A text that is known at launch only."""

    def perform(self, context: dict[str, str]) -> str:
        raise NotImplementedError


class LaunchConfiguration(Substitution):
    def __init__(self, name: str) -> None:
        self._name = name

    def perform(self, context: dict[str, str]) -> str:
        return context[self._name]


class FindPackageShare(Substitution):
    share: dict[str, str] = {}  # of packages, set by the test  # noqa: RUF012

    def __init__(self, package: str) -> None:
        self._package = package

    def perform(self, context: dict[str, str]) -> str:
        return self.share[self._package]


class ExecutableInPackage(Substitution):
    def __init__(self, *, package: str, executable: str) -> None:
        self._package, self._executable = package, executable

    def perform(self, context: dict[str, str]) -> str:
        return f"{self._package}/{self._executable}"


class DeclareLaunchArgument:
    def __init__(self, name: str, *, description: str, default_value: Any, choices: Any) -> None:
        self.name, self.default = name, default_value


class Shutdown:
    def __init__(self, *, reason: str) -> None:
        self.reason = reason


class ExecuteProcess:
    def __init__(self, *, cmd: list, name: str, additional_env: dict, output: str, on_exit: Any) -> None:
        self._cmd, self._environment = cmd, additional_env
        self.name, self.on_exit = name, on_exit

    def line(self, context: dict[str, str]) -> list[str]:
        return [text(part, context) for part in self._cmd]

    def environment(self, context: dict[str, str]) -> dict[str, str]:
        return {name: text(part, context) for name, part in self._environment.items()}


class Node(ExecuteProcess):
    def __init__(
        self,
        *,
        package: str,
        executable: str,
        name: str,
        arguments: list,
        ros_arguments: list,
        parameters: list,
        remappings: list,
        **shared: Any,
    ) -> None:
        super().__init__(
            cmd=[ExecutableInPackage(package=package, executable=executable), *arguments], name=name, **shared
        )
        self._ros_arguments, self._parameters, self._remappings = ros_arguments, parameters, remappings

    def line(self, context: dict[str, str]) -> list[str]:
        line = [*super().line(context), "--ros-args", *(text(part, context) for part in self._ros_arguments)]
        line += ["--ros-args", "-r", f"__node:={self.name}"]
        for entry in self._parameters:
            if isinstance(entry, dict):
                for key, part in entry.items():
                    line += ["-p", f"{key}:={text(part, context)}"]
            else:
                line += ["--params-file", text(entry, context)]
        for source, target in self._remappings:
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
                if entity.name not in given and entity.default is None:
                    raise RuntimeError(f"{entity.name} must be given")
                context[entity.name] = given[entity.name] if entity.name in given else text(entity.default, context)
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
