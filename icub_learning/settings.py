"""Settings declared once: a dataclass field with description, unit and range.

Validation, ROS parameters, command-line options, comments in parameter files and the tables of docs/ros_interface.md
are all derived from these fields.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any, TypeVar

from icub_learning.errors import ParameterError
from icub_learning.own_class import find_class

KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}  # types in words
KEY = "setting"  # key of a dataclass field's metadata under which its setting is described


@dataclass(frozen=True)
class Setting:
    """One setting; the type of its values is the type of `default`."""

    name: str  # name of the field, the ROS parameter and, with dashes, the command-line option
    default: Any  # bool, int, float, str, or a tuple of one of them
    description: str  # what the setting means, as a phrase without a final period
    unit: str = ""  # unit of the values
    low: float | None = None  # smallest accepted value
    high: float | None = None  # largest accepted value
    choices: Sequence[str] = ()  # the only accepted strings; () for any
    methods: Sequence[str] = ()  # methods of a class whose import path is accepted too, see `find_class`
    or_number: bool = False  # whether a number from low to high is accepted beside `choices`
    live: bool = False  # whether a running node accepts a change
    check: Callable[[Any], str | None] | None = None  # last check: None, or in words what is accepted

    @property
    def meaning(self) -> str:
        """The description, with the unit where there is one."""
        return f"{self.description} [{self.unit}]" if self.unit else self.description

    @property
    def kind(self) -> str:
        """The type of its values, in words."""
        if isinstance(self.default, tuple):
            return f"a list of {KINDS[type((*self.default, '')[0])].removeprefix('a ')}s"
        return KINDS[type(self.default)]

    @property
    def bound(self) -> str:
        """The accepted values, in words; empty if every value of the right type is accepted."""
        if self.or_number:
            return f"{' or '.join(self.choices)}, or within [{self.low:g}, {self.high:g}]"
        if self.choices:
            own = f", or the import path of a class with {', '.join(self.methods)}" if self.methods else ""
            return "one of " + ", ".join(self.choices) + own
        if self.high is None:
            return "" if self.low is None else f"at least {self.low:g}"
        return f"at most {self.high:g}" if self.low is None else f"within [{self.low:g}, {self.high:g}]"

    def names_class(self, value: Any) -> bool:
        """Return whether a value is meant as the import path of a class."""
        return bool(self.methods) and isinstance(value, str) and "." in value

    def validate(self, value: Any) -> None:
        """Check a value, and import the class that it may name. Raises ParameterError if it is not accepted."""
        if self.names_class(value):
            find_class(self.name, value, self.methods)
            return
        if value is None or (self.or_number and (isinstance(value, bool) or not isinstance(value, (str, int, float)))):
            raise ParameterError(self.name, value, self.bound or "set")
        for entry in [value] if isinstance(value, (bool, int, float, str)) else list(value):
            inside = not self.choices or entry in self.choices
            inside = inside or (self.or_number and isinstance(entry, (int, float)))
            if isinstance(entry, (int, float)) and not isinstance(entry, bool):
                low = -math.inf if self.low is None else self.low
                high = math.inf if self.high is None else self.high
                inside = low <= entry <= high  # NaN is never inside
            if not inside:
                text = " as a number, not as text" if self.or_number and isinstance(value, str) else ""
                raise ParameterError(self.name, value, (self.bound or "a number") + text)
        if accepted := self.check(value) if self.check else None:
            raise ParameterError(self.name, value, accepted)


def setting(default: Any, description: str, **limits: Any) -> Any:
    """Return a dataclass field with a default and a description; `limits` are further attributes of Setting."""
    return field(default=default, metadata={KEY: {"description": description, **limits}})


def settings_of(*groups: type) -> tuple[Setting, ...]:
    """Return all settings that dataclasses declare, in their order; fields without a description are left out."""
    return tuple(
        Setting(entry.name, entry.default, **entry.metadata[KEY]) for group in groups for entry in fields(group)
        if KEY in entry.metadata
    )  # fmt: skip


class Validated:
    """Base of dataclasses of settings, which checks each value when an object is made. Raises ParameterError."""

    def __post_init__(self) -> None:
        for declared in settings_of(type(self)):
            value = getattr(self, declared.name)
            number = declared.or_number and isinstance(value, Real) and not isinstance(value, bool)
            if not number and not _has_type_of(declared.default, value):
                raise ParameterError(declared.name, value, declared.kind)
            declared.validate(value)


def _has_type_of(default: Any, value: Any) -> bool:
    if isinstance(value, bool) or isinstance(default, (bool, str)):
        return isinstance(value, type(default))
    if isinstance(default, tuple):
        return isinstance(value, Sequence) and not isinstance(value, str)
    return isinstance(value, Integral if isinstance(default, int) else Real)


GroupT = TypeVar("GroupT")


def pick(group: type[GroupT], values: dict[str, Any], **others: Any) -> GroupT:
    """Return a dataclass of settings filled from values by name; unknown names are ignored, `others` override."""
    names = {entry.name for entry in fields(group)}  # type: ignore[arg-type]
    return group(**{name: value for name, value in values.items() if name in names} | others)
