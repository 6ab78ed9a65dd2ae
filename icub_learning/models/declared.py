"""State that is declared once: names and ranges of numbers, from which saving, checking and restoring follow."""

from collections.abc import Mapping, Sequence
from copy import copy
from math import inf
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import StateError
from icub_learning.models.states import nested, part, reading_state

D = TypeVar("D", bound="Declared")


class Range(NamedTuple):
    """The range of numbers that an entry may hold."""

    low: float = -inf
    low_open: bool = False  # whether `low` itself is excluded
    infinite: bool = False  # whether an entry may be infinite, as an unknown variance is

    def holds(self, values: Array) -> bool:
        """Return whether all values are in the range; NaN is in none."""
        above = values > self.low if self.low_open else values >= self.low
        return bool(np.all(above & (self.infinite | np.isfinite(values))))

    def __str__(self) -> str:
        """Return the range in words."""
        least = "" if self.low == -inf else f" {'above' if self.low_open else 'of at least'} {self.low:g}"
        return f"{'' if self.infinite else 'finite '}numbers{least}"


# Ranges of most entries.
ANY, NOT_NEGATIVE, POSITIVE, VARIANCE = Range(), Range(0.0), Range(0.0, low_open=True), Range(0.0, infinite=True)


def entries(**ranges: Range) -> Mapping[str, Range]:
    """Return the names of the entries of a state with their ranges."""
    return MappingProxyType(ranges)


class Declared:
    """Base of learners whose state is some arrays, named in STATE, and parts, objects with a state, named in PARTS.

    The attribute of an entry has its name, with or without a leading underscore. Shapes of arrays and types of numbers
    are those of a new object. A part has methods `state` and `restored`, as this class has.
    """

    STATE: ClassVar[Mapping[str, Range]] = MappingProxyType({})
    PARTS: ClassVar[Sequence[str]] = ()

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `restored`."""
        state = {name: np.array(getattr(self, self._attribute(name))) for name in self.STATE}
        for name in self.PARTS:
            state |= nested(name, getattr(self, self._attribute(name)).state())
        return state

    @classmethod
    def from_state(cls: type[D], state: Mapping[str, Any], *sizes: Any) -> D:
        """Rebuild from `state`, as an object that is made with `sizes`. Raises StateError that names what is wrong."""
        with reading_state(f"a {cls.__name__}"):
            return cls._new(state, *sizes).restored(state)

    def restored(self: D, state: Mapping[str, Any]) -> D:
        """Return an object of the same sizes with what `state` saved. Raises StateError that names what is wrong."""
        with reading_state(f"a {type(self).__name__}"):
            made = copy(self)
            for name, limits in self.STATE.items():
                attribute = self._attribute(name)
                mine = getattr(self, attribute)
                value = _read(state, name, np.shape(mine), limits)
                setattr(made, attribute, type(mine)(value) if value.ndim == 0 else value)
            for name in self.PARTS:
                attribute = self._attribute(name)
                setattr(made, attribute, getattr(self, attribute).restored(part(state, name)))
        return made

    @classmethod
    def _new(cls: type[D], state: Mapping[str, Any], *sizes: Any) -> D:
        """Return an object that has learned nothing; `state` may determine its sizes."""
        return cls(*sizes)

    def _attribute(self, name: str) -> str:
        return f"_{name}" if f"_{name}" in vars(self) else name


def _read(state: Mapping[str, Any], name: str, shape: tuple[int, ...], limits: Range) -> Array:
    value = np.array(state[name], dtype=np.float64)
    if value.size == 1 and not shape:
        value = value.reshape(())
    if value.shape != shape or not limits.holds(value):
        shown = value if value.size < 20 else f"of shape {value.shape}"
        raise StateError(f"{name} {shown} must be {limits}, of shape {shape}", name=name)
    return value
