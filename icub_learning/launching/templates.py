"""Replaces the fields of the templates in the table of processes."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import NamedTuple

from icub_learning.launching.installation import share_folder


def fields(template: str) -> Iterator[tuple[str, str | None]]:
    """Yield (text, name) for each field of a template: the text before it, and its name; None after the last one."""
    for text, name, _, _ in Formatter().parse(template):
        yield text, name


def fill(template: str, arguments: Mapping[str, str]) -> str:
    """Return the template with every field replaced. Raises KeyError for an unknown field."""

    def value(name: str) -> str:
        return MADE[name].make(arguments) if name in MADE else arguments[name]

    return "".join(text + ("" if name is None else value(name)) for text, name in fields(template))


def _gazebo_config(arguments: Mapping[str, str]) -> str:
    suffix = "" if arguments["robot"] == "icub_right_arm" else f"_{arguments['robot']}"
    return str(share_folder() / "config" / f"gazebo{suffix}.yaml")


def _gazebo_world(arguments: Mapping[str, str]) -> str:
    from icub_learning.simulation.gazebo_world import world_file

    return str(world_file(arguments["config"], arguments["world"]))


def _gazebo_resources(arguments: Mapping[str, str]) -> str:
    from icub_learning.simulation.gazebo_model import resource_path

    return resource_path(arguments["config"], Path(arguments["world"]).resolve().parent)


class Made(NamedTuple):
    """A field that is made at launch: `make` returns its text from the values of the arguments that it `uses`."""

    make: Callable[[Mapping[str, str]], str]
    uses: tuple[str, ...] = ()


MADE: Mapping[str, Made] = {
    "share": Made(lambda _: str(share_folder())),
    "gazebo_config": Made(_gazebo_config, ("robot",)),
    "gazebo_world": Made(_gazebo_world, ("config", "world")),
    "gazebo_resources": Made(_gazebo_resources, ("config", "world")),
}
