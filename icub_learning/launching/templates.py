"""Replaces the fields of the templates in the table of processes."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from string import Formatter

from icub_learning.launching.installation import share_folder


def fields(template: str) -> Iterator[tuple[str, str | None]]:
    """Yield (text, name) for each field of a template: the text before it, and its name; None after the last one."""
    for text, name, _, _ in Formatter().parse(template):
        yield text, name


def fill(template: str, arguments: Mapping[str, str]) -> str:
    """Return the template with every field replaced. Raises KeyError for an unknown field."""
    return "".join(text + ("" if name is None else value(name, arguments)) for text, name in fields(template))


def value(name: str, arguments: Mapping[str, str]) -> str:
    """Return the value of one field. Raises KeyError for an unknown one."""
    return MADE[name](arguments) if name in MADE else arguments[name]


def _gazebo_config(arguments: Mapping[str, str]) -> str:
    suffix = "" if arguments["robot"] == "icub_right_arm" else f"_{arguments['robot']}"
    return str(share_folder() / "config" / f"gazebo{suffix}.yaml")


def _gazebo_world(arguments: Mapping[str, str]) -> str:
    from icub_learning.simulation.gazebo_world import world_file

    return str(world_file(arguments["config"], arguments["world"]))


def _gazebo_resources(arguments: Mapping[str, str]) -> str:
    from icub_learning.simulation.gazebo_model import resource_path

    return resource_path(arguments["config"], Path(arguments["world"]).resolve().parent)


# Fields that are made at launch from the values of the launch arguments.
MADE: Mapping[str, Callable[[Mapping[str, str]], str]] = {
    "share": lambda _: str(share_folder()),
    "gazebo_config": _gazebo_config,
    "gazebo_world": _gazebo_world,
    "gazebo_resources": _gazebo_resources,
}
