"""Every error this package raises on purpose: each one names the offending value and the bound it broke."""

from typing import Any


class IcubLearningError(Exception):
    """Base of all errors of icub_learning.

    Attributes:
        name: what was wrong (the argument, field, joint or file).
        value: the offending value.
        bound: what would have been accepted, in words.
    """

    def __init__(self, message: str, *, name: str = "", value: Any = None, bound: str = "") -> None:
        super().__init__(message)
        self.name = name
        self.value = value
        self.bound = bound


class ParameterError(IcubLearningError, ValueError):
    """A setting is outside its range."""

    def __init__(self, name: str, value: Any, bound: str) -> None:
        super().__init__(f"{name} is {value!r}, but must be {bound}", name=name, value=value, bound=bound)


class ShapeError(IcubLearningError, ValueError):
    """An array has the wrong shape."""

    def __init__(self, name: str, value: tuple[int, ...], bound: str) -> None:
        super().__init__(f"{name} has shape {value}, but must be {bound}", name=name, value=value, bound=bound)


class NotFiniteError(IcubLearningError, ValueError):
    """An array holds NaN or infinity; `value` maps up to eight flat indices to the values found there."""

    def __init__(self, name: str, value: dict[int, float]) -> None:
        found = ", ".join(f"{name}[{index}] = {number}" for index, number in value.items())
        super().__init__(f"{found}: must be finite", name=name, value=value, bound="finite")


class ModelError(IcubLearningError, ValueError):
    """A robot model does not parse, or lacks the joint, link or sensor that was asked for."""


class StateError(IcubLearningError, ValueError):
    """A saved state does not fit the learner that should take it."""


class SampleError(IcubLearningError, ValueError):
    """One sample of a stream was refused; `reason` is a short fixed code that diagnostics count."""

    def __init__(self, reason: str, message: str, *, name: str = "", value: Any = None, bound: str = "") -> None:
        super().__init__(message, name=name, value=value, bound=bound)
        self.reason = reason


class RecordingError(IcubLearningError, ValueError):
    """A recording cannot be read or written, or lacks what was asked for."""


class SimulationError(IcubLearningError, ValueError):
    """The simulation cannot do what was asked of it."""


class RecognitionError(IcubLearningError, ValueError):
    """What is known about objects cannot be changed as asked at this moment."""


class ObjectError(SimulationError):
    """An object to show is unknown, or its files are missing or broken."""


class RenderingError(SimulationError):
    """This machine cannot render pictures off screen."""


class DataError(IcubLearningError, ValueError):
    """Training or test data do not fit an estimator: not finite, of unequal length, or with nothing to learn."""
