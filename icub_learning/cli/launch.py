"""`icub-learning launch`: start a simulation, a robot's or a recording's nodes together."""

import argparse

from icub_learning.launching.table import SYSTEMS, System

GAZEBO_CONFIG, BRACKETS = "config/gazebo.yaml, of another robot config/gazebo_{robot}.yaml", str.maketrans("{}", "<>")


def _describe(system: System) -> str:
    lines = [f"{system.name} (launch/{system.launch_file}): {system.description}"]
    for argument in system.arguments:
        made = (argument.default or "").replace("{gazebo_config}", GAZEBO_CONFIG).replace("{share}/", "")
        default = (
            "must be given" if argument.default is None else f"default: {made.translate(BRACKETS) or 'the only one'}"
        )
        lines.append(f"  {argument.name:<13} {argument.description} ({default})")
    return "\n".join(lines)


DESCRIPTION = "Start the same processes as the launch files do."
EXAMPLE = "\n\n".join(map(_describe, SYSTEMS.values()))
EXAMPLE += """

example:
  icub-learning launch simulation
  icub-learning launch robot robot:=ur10 joint_states:=/joint_states --show
  icub-learning launch recording recording:=ur10_exciting_trajectory.db3 robot:=ur10

Defaults in config/ and urdf/ are files of this package.
Ctrl-C ends all processes. The exit code is 1 if one of them died or had to be killed, else 0."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", choices=tuple(SYSTEMS), help="one of " + ", ".join(SYSTEMS))
    parser.add_argument("arguments", metavar="NAME:=VALUE", nargs="*", help="launch arguments, see below")
    parser.add_argument("--show", action="store_true", help="print the command lines and start nothing")


def run(args: argparse.Namespace) -> int:
    from icub_learning.launching.commands import commands, parse
    from icub_learning.launching.supervisor import Supervisor

    system = SYSTEMS[args.system]
    values = parse(system, args.arguments)
    if args.show:
        print("\n".join(map(str, commands(system, values, _path_or_name))))
        return 0
    return Supervisor().run(commands(system, values))


def _path_or_name(package: str, executable: str) -> str:
    from icub_learning.errors import ParameterError
    from icub_learning.launching.commands import find_executable

    try:
        return find_executable(package, executable)
    except ParameterError:
        return executable
