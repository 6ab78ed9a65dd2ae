"""The command lines of a system: what `icub-learning launch` starts."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from icub_learning.errors import ParameterError
from icub_learning.launching.installation import find_executable
from icub_learning.launching.table import AtEnd, Process, System
from icub_learning.launching.templates import fill


@dataclass(frozen=True)
class Command:
    """A process, ready to be started; `environment` holds what is set beside the present one."""

    name: str
    line: tuple[str, ...]
    environment: Mapping[str, str]
    at_end: AtEnd

    def __str__(self) -> str:
        """As one would type it into a shell."""
        settings = [f"{name}={shlex.quote(text)}" for name, text in self.environment.items()]
        return " ".join([*settings, shlex.join(self.line)])


def parse(system: System, assignments: Iterable[str]) -> dict[str, str]:
    """Return the values of all launch arguments of a system.

    Args:
        assignments: texts name:=value; what they leave out takes its default.

    Raises:
        ParameterError: an argument is unknown, not of that form, missing, or not among its choices.
    """
    known = {argument.name: argument for argument in system.arguments}
    given: dict[str, str] = {}
    for assignment in assignments:
        name, separator, text = assignment.partition(":=")
        if not separator:
            raise ParameterError("argument", assignment, "of the form name:=value")
        if name not in known:
            raise ParameterError("argument", name, f"one of {', '.join(known)} for the system {system.name}")
        given[name] = text
    values: dict[str, str] = {}
    for argument in system.arguments:
        if argument.name in given:
            values[argument.name] = given[argument.name]
        elif argument.default is not None:
            values[argument.name] = fill(argument.default, values)
        else:
            raise ParameterError(argument.name, None, f"given as {argument.name}:=... ({argument.description})")
        if argument.choices and values[argument.name] not in argument.choices:
            raise ParameterError(argument.name, values[argument.name], f"one of {', '.join(argument.choices)}")
    return values


def commands(
    system: System, arguments: Mapping[str, str], find: Callable[[str, str], str] = find_executable
) -> list[Command]:
    """Return the processes of a system.

    Args:
        arguments: from `parse`.
        find: called with the package and name of an executable; returns its path.

    Raises:
        ParameterError: an executable or a parameter file is not there.
    """
    return [_command(process, arguments, find(process.package, process.executable)) for process in system.processes]


def _command(process: Process, arguments: Mapping[str, str], executable: str) -> Command:
    line = [executable, *(fill(argument, arguments) for argument in process.arguments)]
    if process.is_node:
        line += ["--ros-args", "--log-level", arguments["log_level"], "-r", f"__node:={process.name}"]
        for template in process.parameter_files:
            path = fill(template, arguments)
            if not Path(path).is_file():
                raise ParameterError("parameter file", path, "a file")
            line += ["--params-file", path]
        for name, template in process.parameters.items():
            line += ["-p", f"{name}:={fill(template, arguments)}"]
        for name, template in process.remappings.items():
            line += ["-r", f"{name}:={fill(template, arguments)}"]
    environment = {name: fill(template, arguments) for name, template in process.environment.items()}
    return Command(process.name, tuple(line), environment, process.at_end)
