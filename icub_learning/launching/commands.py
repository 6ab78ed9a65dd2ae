"""Command lines of nodes and of the processes that `icub-learning launch` starts, and where their files are."""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatch
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

import yaml

import icub_learning
from icub_learning.arrays import real
from icub_learning.errors import IcubLearningError, ParameterError, did_you_mean
from icub_learning.launching.table import PACKAGE, SYSTEMS, Process, System
from icub_learning.robots import ament_prefixes

TOPIC = re.compile(r"(~?/)?[a-z_]\w*(/[a-z_]\w*)*", re.ASCII | re.IGNORECASE)  # names of topics that ROS accepts


def share_folder() -> Path:
    """Return the folder that holds config/, launch/ and urdf/. Raises ParameterError."""
    checkout = Path(icub_learning.__file__).resolve().parents[1]
    if (checkout / "package.xml").is_file():
        return checkout
    for prefix in [*ament_prefixes(), Path(sys.prefix)]:
        if (prefix / "share" / PACKAGE / "package.xml").is_file():
            return prefix / "share" / PACKAGE
    raise ParameterError("AMENT_PREFIX_PATH", os.environ.get("AMENT_PREFIX_PATH", ""), f"a path to share/{PACKAGE}")


def find_executable(package: str, executable: str) -> str:
    """Return the path of an executable of a ROS package or, for package "", of a program. Raises ParameterError."""
    search, needed = os.environ.get("PATH", os.defpath), "a program on the PATH: install it"
    if package:
        folders = [prefix / "lib" / package for prefix in ament_prefixes()]
        if package == PACKAGE:  # colcon puts executables beside icub-learning, pip beside the interpreter
            folders = [Path(sys.argv[0]).resolve().parent, Path(sys.executable).parent, *folders]
        search = os.pathsep.join(map(str, folders))
        needed = f"an executable of package {package}: build and source its workspace, or install the package"
    if (found := shutil.which(executable, path=search)) is None:
        raise ParameterError("executable", executable, needed)
    return found


def fill(template: str, arguments: Mapping[str, str]) -> str:
    """Return the template with every field replaced. Raises KeyError for an unknown field."""

    def value(name: str) -> str:
        return MADE[name].make(arguments) if name in MADE else arguments[name]

    return "".join(text + ("" if name is None else value(name)) for text, name, *_ in Formatter().parse(template))


def _gazebo_config(arguments: Mapping[str, str]) -> str:
    suffix = "" if arguments["robot"] == "icub_right_arm" else f"_{arguments['robot']}"
    return str(share_folder() / "config" / f"gazebo{suffix}.yaml")


def _gazebo_world(arguments: Mapping[str, str]) -> str:
    from icub_learning.simulation.gazebo_model import world_file

    return str(world_file(arguments["config"], arguments["world"]))


def _gazebo_resources(arguments: Mapping[str, str]) -> str:
    from icub_learning.simulation.gazebo_model import resource_path

    return resource_path(arguments["config"], Path(arguments["world"]).resolve().parent)


class Made(NamedTuple):
    """A field that is made at launch: `make` returns its text from the values of the arguments that it `uses`."""

    make: Callable[[Mapping[str, str]], str]
    uses: tuple[str, ...] = ()


MADE: Mapping[str, Made] = {
    "share": Made(lambda _: str(share_folder())), "gazebo_config": Made(_gazebo_config, ("robot",)),
    "gazebo_world": Made(_gazebo_world, ("config", "world")),
    "gazebo_resources": Made(_gazebo_resources, ("config", "world"))
}  # fmt: skip


def ros_arguments(
    name: str = "", parameters: Mapping[str, str] | None = None, *, parameter_files: Sequence[str] = (),
    remappings: Mapping[str, str] | None = None,
) -> list[str]:  # fmt: skip
    """Return the arguments of a command line that ROS reads: the node's name ("": unchanged), parameters, which
    override those of the files, and names of topics in this system by their names in the code."""
    rules = ({"__node": name} if name else {}) | dict(remappings or {})
    return [
        "--ros-args", *(part for old, new in rules.items() for part in ("-r", f"{old}:={new}")),
        *(part for path in parameter_files for part in ("--params-file", path)),
        *(part for key, value in (parameters or {}).items() for part in ("-p", f"{key}:={value}"))
    ]  # fmt: skip


def node_command(module: str, name: str = "", parameters: Mapping[str, Any] | None = None, **options: Any) -> list[str]:
    """Return the command line of a node of icub_learning.nodes.MODULE, run by this interpreter; see `ros_arguments`."""
    texts = {key: json.dumps(value) for key, value in (parameters or {}).items()}  # JSON is YAML, which ROS reads
    return [sys.executable, "-m", f"icub_learning.nodes.{module}.node", *ros_arguments(name, texts, **options)]


@dataclass(frozen=True)
class Command:
    """A process, ready to be started; `environment` holds the variables that are set in addition."""

    name: str
    line: tuple[str, ...]
    environment: Mapping[str, str]
    finishes: bool  # whether its end with exit code 0 completes the system's work, see Process

    def __str__(self) -> str:
        """Return the command as one would type it into a shell."""
        settings = [f"{name}={shlex.quote(text)}" for name, text in self.environment.items()]
        return " ".join([*settings, shlex.join(self.line)])


def parse(system: System, assignments: Iterable[str]) -> dict[str, str]:
    """Return the values of all launch arguments of a system, from texts name:=value; other arguments take their
    defaults. Raises ParameterError: an argument is unknown, not of that form, missing, or its value not accepted."""
    known = {argument.name: argument for argument in system.arguments}
    given: dict[str, str] = {}
    for assignment in assignments:
        name, separator, text = assignment.partition(":=")
        if not separator:
            raise ParameterError("argument", assignment, "of the form name:=value")
        if name not in known:
            hint = did_you_mean(name, known)
            raise ParameterError("argument", name, f"one of {', '.join(known)} for the system {system.name}{hint}")
        given[name] = text
    values: dict[str, str] = {}
    for name, argument in known.items():
        if name not in given and argument.default is None:
            raise ParameterError(name, None, f"given as {name}:=... ({argument.description})")
        values[name] = given[name] if name in given else fill(argument.default or "", values)
        if argument.choices and values[name] not in argument.choices:
            raise ParameterError(name, values[name], f"one of {', '.join(argument.choices)}")
        if argument.kind == "factor":
            real(name, values[name], 0.0, low_open=True)
        if argument.kind == "topic" and not TOPIC.fullmatch(values[name]):
            raise ParameterError(name, values[name], "the name of a topic: letters, digits and _ between single /")
    return values


def commands(
    system: System, arguments: Mapping[str, str], find: Callable[[str, str], str] = find_executable
) -> list[Command]:
    """Return the processes of a system, with `arguments` from `parse`; `find` returns the path of an executable of a
    package. Raises IcubLearningError: third-party programs are not installed; the message says how to install them.
    ParameterError: an executable or a parameter file is not there."""
    found: list[tuple[Process, str]] = []
    missing: list[tuple[Process, ParameterError]] = []
    for process in system.processes:
        try:
            found.append((process, find(process.package, process.executable)))
        except ParameterError as error:
            missing.append((process, error))
    if of_others := [process for process, _ in missing if process.installation]:
        names = " and ".join(
            f"{one.executable} of the ROS package {one.package}" if one.package else f"the program {one.executable}"
            for one in of_others
        )
        advice = "; ".join(dict.fromkeys(process.installation for process in of_others))
        raise IcubLearningError(f"the system {system.name} needs {names}, not installed here: {advice}")
    if missing:
        raise missing[0][1]
    files = {
        process.name: list(dict.fromkeys(fill(template, arguments) for template in process.parameter_files))
        for process, _ in found if process.parameter_files
    }  # fmt: skip
    _check_parameter_files(files)
    return [_command(process, arguments, executable, files.get(process.name, ())) for process, executable in found]


def _command(process: Process, arguments: Mapping[str, str], executable: str, files: Sequence[str]) -> Command:
    line = [executable, *(fill(argument, arguments) for argument in process.arguments)]
    if process.is_node:
        parameters, remappings = (_fill_all(one, arguments) for one in (process.parameters, process.remappings))
        line += ros_arguments(process.name, parameters, parameter_files=files, remappings=remappings)
        line += ["--log-level", arguments["log_level"]]
    return Command(process.name, tuple(line), _fill_all(process.environment, arguments), process.finishes)


def _check_parameter_files(files: Mapping[str, Sequence[str]]) -> None:
    """Raise ParameterError, for the files of each node by its name: a node finds no parameters in its files, no node
    finds any in one of them, or what a node does not find there seems to be misspelled."""
    sections = {path: _sections(path) for paths in files.values() for path in paths}
    own = {
        (node, path): [name for name in names if fnmatch(node, str(name).strip("/"))]
        for node in files for path, names in sections.items()
    }  # fmt: skip
    shipped = {one.name for system in SYSTEMS.values() for one in system.processes}
    for node, path in ((node, path) for node, paths in files.items() for path in paths):
        used = [name for other in files for name in own[other, path]]
        strange = [str(name) for name in sections[path] if name not in {*used, *shipped}]
        alike = get_close_matches(node, strange, cutoff=0.8)
        if not own[node, path] and (alike or not used or not any(own[node, one] for one in files[node])):
            bound = f"a file with a section {': or '.join([node] if used else files)}: (it has {list(sections[path])})"
            raise ParameterError("parameter file", path, bound)
        held = [sections[path][name] for name in own[node, path]]
        for key in (key for section in held if isinstance(section, dict) for key in section):
            if str(key).endswith("parameters") and key != "ros__parameters":
                raise ParameterError("parameter file", path, f"a file with ros__parameters:, not {key}:")


def _sections(path: str) -> dict[Any, Any]:
    """Return what a parameter file holds, by the names of its sections. Raises ParameterError: it is no YAML file."""
    try:
        sections = yaml.safe_load(Path(path).read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        hint = "icub-learning check writes one for a robot of your own, named by config:="
        raise ParameterError("parameter file", path, f"a YAML file: {' '.join(str(error).split())}; {hint}") from None
    return sections if isinstance(sections, dict) else {}


def _fill_all(templates: Mapping[str, str], arguments: Mapping[str, str]) -> dict[str, str]:
    return {name: fill(template, arguments) for name, template in templates.items()}
