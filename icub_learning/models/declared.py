"""State that is declared once: names and ranges of numbers, from which saving, checking and restoring follow."""

from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import StateError
from icub_learning.models.states import reading_state

D = TypeVar("D", bound="Declared")


class Range(NamedTuple):
    """Which numbers an entry may hold.

    Attributes:
        low: the least one.
        low_open: whether that one is excluded.
        infinite: whether an entry may be infinite, as a variance is of which nothing is known.
    """

    low: float = -inf
    low_open: bool = False
    infinite: bool = False

    def holds(self, values: Array) -> bool:
        """Whether all values are in the range; NaN is in none."""
        above = values > self.low if self.low_open else values >= self.low
        return bool(np.all(above & ((values < inf) if not self.infinite else True)))

    def __str__(self) -> str:
        """The range in words."""
        least = "" if self.low == -inf else f" {'above' if self.low_open else 'of at least'} {self.low:g}"
        return f"{'' if self.infinite else 'finite '}numbers{least}"


# Those that most entries have.
ANY, NOT_NEGATIVE, POSITIVE, VARIANCE = Range(), Range(0.0), Range(0.0, low_open=True), Range(0.0, infinite=True)


def entries(**ranges: Range) -> Mapping[str, Range]:
    """Return the names of the entries of a state with their ranges."""
    return MappingProxyType(ranges)


class Declared:
    """What is learned as some numbers, which STATE names.

    The attribute of an entry has its name, or the same with an underscore before it. Shapes of arrays, and which
    numbers are integers, are those of a new object.
    """

    STATE: ClassVar[Mapping[str, Range]]

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `from_state`."""
        return {name: np.array(getattr(self, self._attribute(name))) for name in self.STATE}

    @classmethod
    def from_state(cls: type[D], state: Mapping[str, Any], *sizes: Any) -> D:
        """Rebuild from `state`, as an object that is made with `sizes`. Raises StateError that names what is wrong."""
        with reading_state(f"a {cls.__name__}"):
            made = cls._new(state, *sizes)
            for name, limits in cls.STATE.items():
                attribute = made._attribute(name)
                value = _read(state, name, np.shape(getattr(made, attribute)), limits)
                setattr(made, attribute, type(getattr(made, attribute))(value) if value.ndim == 0 else value)
        return made

    @classmethod
    def _new(cls: type[D], state: Mapping[str, Any], *sizes: Any) -> D:
        """Return an object that has learned nothing; `state` may tell sizes."""
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
