"""The few parts of the ROS 2 packages launch and launch_ros that the launch files use, for machines without them."""

import sys
from types import ModuleType
from typing import Any

LaunchContext = dict


class Given:
    """Base of all that the launch files make: it keeps its arguments as attributes."""

    def __init__(self, *positional: Any, **given: Any) -> None:
        vars(self).update(given, positional=positional)


DeclareLaunchArgument, Shutdown = (type(name, (Given,), {}) for name in ("DeclareLaunchArgument", "Shutdown"))


class Substitution(Given):
    """A text that is known only at launch."""

    def perform(self, context: dict[str, str]) -> str:
        raise NotImplementedError


class LaunchConfiguration(Substitution):
    def perform(self, context: dict[str, str]) -> str:
        return context[self.positional[0]]


class FindPackageShare(Substitution):
    share: dict[str, str] = {}  # share folders by package, set by the test  # noqa: RUF012

    def perform(self, context: dict[str, str]) -> str:
        return self.share[self.positional[0]]


class ExecutableInPackage(Substitution):
    def perform(self, context: dict[str, str]) -> str:
        return f"{self.package}/{self.executable}"


class ExecuteProcess(Given):
    def line(self, context: dict[str, str]) -> list[str]:
        return [text(part, context) for part in self.cmd]

    def environment(self, context: dict[str, str]) -> dict[str, str]:
        return {name: text(part, context) for name, part in self.additional_env.items()}


class Node(ExecuteProcess):
    def line(self, context: dict[str, str]) -> list[str]:
        parts = [f"{self.package}/{self.executable}", *self.arguments]
        parts += ["--ros-args", *self.ros_arguments, "--ros-args", "-r", f"__node:={self.name}"]
        for entry in self.parameters:
            given = entry.items() if isinstance(entry, dict) else ()
            parts += [word for key, part in given for word in ("-p", [f"{key}:=", *part])] or ["--params-file", entry]
        for source, target in self.remappings:
            parts += ["-r", [f"{source}:=", *target]]
        return [text(part, context) for part in parts]


class LaunchDescription:
    def __init__(self, entities: list) -> None:
        self.entities = entities

    def processes(self, given: dict[str, str]) -> tuple[list[ExecuteProcess], dict[str, str]]:
        """Return what would be started, and the values of all launch arguments."""
        context = dict(given)
        for entity in self.entities:
            if isinstance(entity, DeclareLaunchArgument) and (name := entity.positional[0]) not in given:
                context[name] = text(entity.default_value, context)
        return [entity for entity in self.entities if isinstance(entity, ExecuteProcess)], context


def text(part: Any, context: dict[str, str]) -> str:
    """Return a text as it is, a substitution performed, or the joined text of a list of both."""
    if isinstance(part, Substitution):
        return part.perform(context)
    return part if isinstance(part, str) else "".join(text(entry, context) for entry in part)


def modules() -> dict[str, ModuleType]:
    """Return this module under the names of the modules that it replaces, as entries of sys.modules."""
    packages = ("launch", "launch.actions", "launch.substitutions")
    packages += ("launch_ros", "launch_ros.actions", "launch_ros.substitutions")
    return dict.fromkeys(packages, sys.modules[__name__])
