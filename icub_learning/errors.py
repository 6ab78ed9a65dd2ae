"""The errors that this package raises; each names the offending value and the bound that it violates."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """Return the end of a message that names the known words which resemble a given one; "" if none does."""
    near = get_close_matches(str(word), [str(one) for one in known], cutoff=0.55)
    return f"; did you mean {' or '.join(near)}?" if near else ""


class IcubLearningError(Exception):
    """Base of all errors of icub_learning."""

    def __init__(self, message: str, *, name: str = "", value: Any = None, bound: str = "") -> None:
        super().__init__(message)
        self.name = name  # name of the argument, field, joint or file at fault
        self.value = value  # offending value
        self.bound = bound  # accepted values, in words


class ParameterError(IcubLearningError, ValueError):
    """A setting is outside its range."""

    def __init__(self, name: str, value: Any, bound: str) -> None:
        super().__init__(f"{name} is {value!r}, but must be {bound}", name=name, value=value, bound=bound)


class ShapeError(IcubLearningError, ValueError):
    """An array has the wrong shape."""

    def __init__(self, name: str, value: tuple[int, ...], bound: str) -> None:
        super().__init__(f"{name} has shape {value}, but must be {bound}", name=name, value=value, bound=bound)


class NotFiniteError(IcubLearningError, ValueError):
    """An array holds NaN or infinity; `value` maps up to eight flat indices to the numbers there."""

    def __init__(self, name: str, value: dict[int, float]) -> None:
        found = ", ".join(f"{name}[{index}] = {number}" for index, number in value.items())
        super().__init__(f"{found}: must be finite", name=name, value=value, bound="finite")


class ModelError(IcubLearningError, ValueError):
    """A robot model does not parse, or lacks a requested joint, link or sensor."""


class StateError(IcubLearningError, ValueError):
    """A saved state cannot be read, or does not fit the learner."""


class SampleError(IcubLearningError, ValueError):
    """One sample of a stream was refused; `reason` is a short fixed code, under which diagnostics count refusals."""

    def __init__(self, reason: str, message: str, *, name: str = "", value: Any = None, bound: str = "") -> None:
        super().__init__(message, name=name, value=value, bound=bound)
        self.reason = reason


class RecordingError(IcubLearningError, ValueError):
    """A recording cannot be read or written, or lacks requested data."""


class SimulationError(IcubLearningError, ValueError):
    """The simulation cannot carry out a request."""


class RecognitionError(IcubLearningError, ValueError):
    """A request to the object recognizer cannot be carried out in its present state."""


class ObjectError(SimulationError):
    """An object of the simulation is unknown, or its files are missing or broken."""


class RenderingError(SimulationError):
    """This machine cannot render images off screen."""


class DataError(IcubLearningError, ValueError, TypeError):
    """Data do not fit an estimator: they are sparse, not numeric, not finite, of unequal length, or constant."""
